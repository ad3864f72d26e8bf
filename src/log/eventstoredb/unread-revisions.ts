import { BoundedMap } from '../../domain/bounded-map.ts'
import { storeStreamsRememberedMax } from '../../limits.ts'
import type { ReadOptions } from '../event-log.ts'

/**
 * Keeps the revisions that EventStoreDB has named, but no read has shown yet. Reads show an event some milliseconds
 * after its append. A caller that reads too early after a conflict would decide again on old state.
 */
export class UnreadRevisions {
  readonly #unread = new BoundedMap<string, number>(storeStreamsRememberedMax)

  /**
   * Keeps the higher revision, because a stream only grows while the same leader of EventStoreDB is connected. `null`
   * means that the stream does not exist, and changes nothing.
   */
  add(stream: string, revision: number | null): void {
    if (revision === null || revision <= (this.of(stream) ?? -1)) return
    this.#unread.set(stream, revision)
  }

  /**
   * Call this when reads have not shown the revision for too long. A dead leader of EventStoreDB can have named a
   * revision that no other server has. Without `forget`, every later read of the stream would fail.
   */
  forget(stream: string): void {
    this.#unread.delete(stream)
  }

  forgetAll(): void {
    this.#unread.clear()
  }

  of(stream: string): number | null {
    return this.#unread.get(stream) ?? null
  }

  markRead(stream: string, revision: number): void {
    const unread = this.#unread.get(stream)
    if (unread !== undefined && unread <= revision) this.#unread.delete(stream)
  }

  /**
   * True if EventStoreDB has named a revision that this read should show, but the read returned only lower `revisions`.
   * The caller must read again, because the read has shown an old state.
   */
  isMissing(stream: string, { from, direction, limit }: ReadOptions, revisions: readonly number[]): boolean {
    const unread = this.#unread.get(stream)
    if (unread === undefined) return false
    if (direction === 'backwards') return (from ?? unread) >= unread && (revisions[0] ?? -1) < unread
    return revisions.length < limit && (from ?? 0) <= unread && (revisions.at(-1) ?? -1) < unread
  }
}

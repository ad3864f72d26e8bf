import { BoundedMap } from '../../domain/bounded-map.ts'
import { storeStreamsRememberedMax } from '../../limits.ts'
import type { ReadOptions } from '../event-log.ts'

/**
 * An event appears some milliseconds after its append. A caller that reads earlier, after a conflict, would decide again on
 * old state.
 */
export class UnreadRevisions {
  readonly #unread = new BoundedMap<string, number>(storeStreamsRememberedMax)

  /** Keeps the highest revision: a stream only grows while the same leader is connected. */
  add(stream: string, revision: number | null): void {
    if (revision === null || revision <= (this.of(stream) ?? -1)) return
    this.#unread.set(stream, revision)
  }

  /**
   * Call this when reads lack the revision for too long: a dead leader can have named one that no other server has. Every
   * later read would fail.
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

  /** True: the read lacks a revision that it should show, so the caller must read again. */
  isMissing(stream: string, { from, direction, limit }: ReadOptions, revisions: readonly number[]): boolean {
    const unread = this.#unread.get(stream)
    if (unread === undefined) return false
    if (direction === 'backwards') return (from ?? unread) >= unread && (revisions[0] ?? -1) < unread
    return revisions.length < limit && (from ?? 0) <= unread && (revisions.at(-1) ?? -1) < unread
  }
}

import { BoundedMap } from '../../domain/bounded-map.ts'
import { storeStreamsRememberedMax } from '../../limits.ts'
import type { ReadOptions } from '../event-log.ts'

/**
 * The last revisions that conflicts have named and that no read has shown yet. The server judges an append by what it has
 * taken in, and shows in a read what it has indexed, some milliseconds later: a read right behind a conflict may lack the
 * very event that the conflict was about. Whoever asks would decide again on the same old view.
 */
export class NamedRevisions {
  readonly #named = new BoundedMap<string, number>(storeStreamsRememberedMax)

  /** Of two that were named the later one is waited for: a stream only grows, as long as one connection lasts. */
  name(stream: string, revision: number | null): void {
    if (revision === null || revision <= (this.of(stream) ?? -1)) return
    this.#named.set(stream, revision)
  }

  /** It is not waited for any longer: a leader that died may have named what no other node has. */
  forget(stream: string): void {
    this.#named.delete(stream)
  }

  forgetAll(): void {
    this.#named.clear()
  }

  of(stream: string): number | null {
    return this.#named.get(stream) ?? null
  }

  /** That revision is there for every later read. */
  see(stream: string, revision: number): void {
    const named = this.#named.get(stream)
    if (named !== undefined && named <= revision) this.#named.delete(stream)
  }

  /** Whether a read that showed these revisions, in its own direction, should have shown a named one too. */
  isMissing(stream: string, { from, direction, limit }: ReadOptions, revisions: readonly number[]): boolean {
    const named = this.#named.get(stream)
    if (named === undefined) return false
    if (direction === 'backwards') return (from ?? named) >= named && (revisions[0] ?? -1) < named
    return revisions.length < limit && (from ?? 0) <= named && (revisions.at(-1) ?? -1) < named
  }
}

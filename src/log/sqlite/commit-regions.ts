import { groupsUnderWayMax } from '../../limits.ts'

/**
 * Holds eight full batches with names of 32 characters. More would cause more collections of the whole heap
 * (docs/decisions/008-commits-in-groups-on-a-thread.md).
 */
export const commitRegionBytes = 512 * 1024

/** The messages that name a region order its reads and writes, so no `Atomics` are needed. */
export class CommitRegions {
  readonly memory = new SharedArrayBuffer(groupsUnderWayMax * commitRegionBytes)
  /** Last in, first out: the caches still hold that region. */
  readonly #unused = Array.from({ length: groupsUnderWayMax }, (_, index) => index * commitRegionBytes).reverse()

  /** `null`: the group is too large, or all regions are in use. */
  take(byteLength: number): number | null {
    if (byteLength > commitRegionBytes) return null
    return this.#unused.pop() ?? null
  }

  /** Call this only after the verdict: the thread may read the region for a second try. */
  giveBack(at: number): void {
    this.#unused.push(at)
  }
}

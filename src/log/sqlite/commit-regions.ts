import { commitRegionBytes, groupsUnderWayMax } from '../../limits.ts'

/**
 * Memory that the event loop and the commit thread share, as one region for each commit group under way. The event loop
 * writes rows into a region, and then posts a message that names the region. The thread reads the rows, and then posts
 * the verdict. These messages order the reads and writes, so no `Atomics` are needed.
 */
export class CommitRegions {
  readonly memory = new SharedArrayBuffer(groupsUnderWayMax * commitRegionBytes)
  /** First bytes of the unused regions. The region that was used last is taken first, because the caches still hold it. */
  readonly #unused = Array.from({ length: groupsUnderWayMax }, (_, index) => index * commitRegionBytes).reverse()

  /** Returns the first byte of a region. `null`: the group is too large, or all regions are in use. */
  take(byteLength: number): number | null {
    if (byteLength > commitRegionBytes) return null
    return this.#unused.pop() ?? null
  }

  /** Call this only after the verdict. Until then, the thread reads the region, and may read it again for a second try. */
  giveBack(at: number): void {
    this.#unused.push(at)
  }
}

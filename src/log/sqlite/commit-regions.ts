import { groupsUnderWayMax } from '../../limits.ts'

/**
 * Shared memory for each commit group under way. It holds eight full batches with names of 32 characters. JavaScriptCore counts
 * it as part of the heap, so more would cause more collections of the whole heap. A larger group gets memory of its own, up to
 * `logQueueBytesMax` and 48 bytes for each row.
 */
export const commitRegionBytes = 512 * 1024

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

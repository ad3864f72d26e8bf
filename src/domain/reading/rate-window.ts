import { rateWindowSlots } from '../../limits.ts'

/**
 * docs/protocol.md, "The window". A reading at time `t` counts at `now` while `t > now - windowMs`. A slot is `windowMs /
 * 127` long, and a window touches at most 128. Slots are numbered from 1970 on, so all nodes have the same. A slot leaves
 * with its last reading. So no reading leaves early, which would admit more than the limit. The window never moves back,
 * and only `record`, `reserve` and `leaveUntil` move it. So a call of `used` while the clock is ahead does no harm.
 */
export class RateWindow {
  /** Two numbers for each slot: how many readings it counts, and when the last one came, in ms from its beginning. */
  #slots: Uint32Array = noSlots
  #oldest = 0
  #newest = 0
  #recorded = 0
  #reserved = 0
  #latestMs = 0
  #reservedAtMs = 0

  constructor(readonly windowMs: number) {}

  /** In ms. Readings that had left the window at this time are no longer counted. */
  get latestMs(): number {
    return this.#latestMs
  }

  /** The time of the last `reserve` (ms), or 0. If the clock was set back to before it, the actor loads the key again. */
  get reservedAtMs(): number {
    return this.#reservedAtMs
  }

  /** The beginning of the oldest slot that can count at `now`, in ms. A node that loads a key counts from here on. */
  firstCountedMs(now: number): number {
    return this.#beginOf(this.#slotOf(now - this.windowMs))
  }

  /**
   * `atMs` never decreases from call to call, but can be earlier than `latestMs`: the window can move before the store
   * confirms an append.
   */
  record(atMs: number, readings: number): void {
    this.leaveUntil(atMs)
    if (atMs + this.windowMs <= this.#latestMs) return
    const slot = this.#slotOf(atMs)
    if (this.#recorded === 0) this.#oldest = slot
    else if (slot < this.#newest) throw new Error(`Cannot count a reading at ${atMs} ms: a later slot was counted`)
    this.#newest = slot
    if (slot - this.#oldest >= this.#slots.length / 2) this.#makeRoom(slot - this.#oldest + 1)
    const index = this.#indexOf(slot)
    this.#slots[index] = (this.#slots[index] ?? 0) + readings
    this.#slots[index + 1] = atMs - this.#beginOf(slot)
    this.#recorded += readings
  }

  /**
   * Counts admitted readings before they are stored. `giveBack` must follow, even if the append failed. Otherwise these
   * readings would count for ever.
   */
  reserve(readings: number, now: number): void {
    this.leaveUntil(now)
    this.#reserved += readings
    this.#reservedAtMs = now
  }

  giveBack(readings: number): void {
    if (readings > this.#reserved) {
      throw new Error(`Cannot give back ${readings} reserved readings of a window: ${this.#reserved} are reserved`)
    }
    this.#reserved -= readings
  }

  leaveUntil(now: number): void {
    if (now <= this.#latestMs) return
    this.#latestMs = now
    if (this.#nothingLeaves(now)) return
    for (const first = this.#firstAt(now); this.#oldest < first; this.#oldest += 1) {
      this.#recorded -= this.#countOf(this.#oldest)
      this.#slots[this.#indexOf(this.#oldest)] = 0
    }
  }

  used(now: number): number {
    if (this.#nothingLeaves(now)) return this.#recorded + this.#reserved
    let left = 0
    for (let slot = this.#oldest, first = this.#firstAt(now); slot < first; slot += 1) left += this.#countOf(slot)
    return this.#recorded - left + this.#reserved
  }

  /** In ms. 0 if the window is empty, and `windowMs` if all readings in it are only reserved. */
  resetMs(now: number): number {
    const first = this.#firstAt(now)
    if (first <= this.#newest) return this.#leavesAt(first) - Math.max(now, this.#latestMs)
    return this.#reserved > 0 ? this.windowMs : 0
  }

  retryAfterMs(now: number, limit: number, readings = 1): number {
    let excess = this.used(now) + readings - limit
    if (excess <= 0) return 0
    for (let slot = this.#firstAt(now); slot <= this.#newest; slot += 1) {
      excess -= this.#countOf(slot)
      if (excess <= 0) return this.#leavesAt(slot) - Math.max(now, this.#latestMs)
    }
    return this.windowMs
  }

  #firstAt(now: number): number {
    if (this.#recorded === 0) return this.#newest + 1
    if (this.#nothingLeaves(now)) return this.#oldest
    if (this.#leavesAt(this.#newest) <= now) return this.#newest + 1
    let slot = this.#oldest
    while (this.#countOf(slot) === 0 || this.#leavesAt(slot) <= now) slot += 1
    return slot
  }

  /** If true, only the oldest slot must be looked at. */
  #nothingLeaves(now: number): boolean {
    return this.#recorded === 0 || now < this.#leavesAt(this.#oldest)
  }

  #countOf(slot: number): number {
    return this.#slots[this.#indexOf(slot)] ?? 0
  }

  #leavesAt(slot: number): number {
    return this.#beginOf(slot) + (this.#slots[this.#indexOf(slot) + 1] ?? 0) + this.windowMs
  }

  /** Slots are made only when needed, because most of 10,000 keys post rarely. */
  #makeRoom(slots: number): void {
    const before = this.#slots
    this.#slots = new Uint32Array(2 * Math.min(rateWindowSlots, 2 ** Math.ceil(Math.log2(slots))))
    for (let slot = this.#oldest; slot < this.#oldest + before.length / 2; slot += 1) {
      const from = 2 * (slot & (before.length / 2 - 1))
      this.#slots.set(before.subarray(from, from + 2), this.#indexOf(slot))
    }
  }

  /** The number of slots is a power of two. `%` of such a large number would take longer. */
  #indexOf(slot: number): number {
    return 2 * (slot & (this.#slots.length / 2 - 1))
  }

  #beginOf(slot: number): number {
    return Math.ceil((slot * this.windowMs) / (rateWindowSlots - 1))
  }

  /** The product is far below 2^53, so it is exact. */
  #slotOf(atMs: number): number {
    return Math.floor((atMs * (rateWindowSlots - 1)) / this.windowMs)
  }
}

const noSlots = new Uint32Array(0)

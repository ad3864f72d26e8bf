import { rateWindowSlots } from '../../limits.ts'

/**
 * How many readings a key may still have accepted: a sliding window in 64 slots (docs/protocol.md, "The window").
 *
 * A reading at `t` is in the window at `now` while `t > now - windowMs`. Readings share slots of windowMs/63, aligned to
 * 1970 so that every node and every reload cuts them alike, and a slot leaves when its last reading does. So a reading is
 * never counted too short, which would admit more than the limit; and at most one slot too long, which costs at most
 * 1 - 63/64 = 1/64 of the limit. At any instant 63 whole slots and two parts of one can touch the window: 64 slots.
 *
 * Only what is recorded or reserved lets earlier readings go, and time never goes back behind that: a look at an earlier
 * time is a look at the latest of those. A look by itself changes nothing, so that a clock which is ahead while somebody
 * looks has changed nothing when it is back.
 */
export class RateWindow {
  /** Two numbers for each slot: its readings, and how far into it the last of them lies, ms. */
  #slots: Uint32Array = noSlots
  /** Numbers of the oldest and newest slot that may hold something, counted from 1970. */
  #oldest = 0
  #newest = 0
  #recorded = 0
  #reserved = 0
  #latestMs = 0
  #reservedAtMs = 0

  constructor(readonly windowMs: number) {}

  /** The latest time of a reading or a place, ms. What had left by then is gone, and no look at an earlier time can count it. */
  get latestMs(): number {
    return this.#latestMs
  }

  /** When places were taken last, ms, whether or not their readings came to be recorded; 0 if none ever were. */
  get reservedAtMs(): number {
    return this.#reservedAtMs
  }

  /** The earliest instant, ms, whose readings may share a slot that still counts at `now`: where a reload begins. */
  firstCountedMs(now: number): number {
    return this.#beginOf(this.#slotOf(now - this.windowMs))
  }

  /** Whether both instants fall into one slot, so that a run of readings between them needs no look at each. */
  sameSlot(aMs: number, bMs: number): boolean {
    return this.#slotOf(aMs) === this.#slotOf(bMs)
  }

  /**
   * Readings that were recorded at that instant, never earlier than the ones before. It may lie before the latest time
   * known here: an append is given its time when it is made, and known to be written a round trip later.
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
   * Takes places for readings that were admitted at `now` and will be recorded then or later, ms; `giveBack` ends it,
   * whatever became of them.
   */
  reserve(readings: number, now: number): void {
    this.leaveUntil(now)
    this.#reserved += readings
    this.#reservedAtMs = now
  }

  giveBack(readings: number): void {
    if (readings > this.#reserved) {
      throw new Error(`Cannot give back ${readings} places of a window: ${this.#reserved} are reserved`)
    }
    this.#reserved -= readings
  }

  /** Lets go what is in no window that ends at `now` or later: no earlier time is looked at from then on. */
  leaveUntil(now: number): void {
    if (now <= this.#latestMs) return
    for (const first = this.#firstAt(now); this.#oldest < first; this.#oldest += 1) {
      this.#recorded -= this.#countOf(this.#oldest)
      this.#slots[this.#indexOf(this.#oldest)] = 0
    }
    this.#latestMs = now
  }

  /** Readings recorded in the window that ends now, and places reserved. */
  used(now: number): number {
    let left = 0
    for (let slot = this.#oldest, first = this.#firstAt(now); slot < first; slot += 1) left += this.#countOf(slot)
    return this.#recorded - left + this.#reserved
  }

  /** Ms until the oldest counted reading leaves; 0 if none is counted. A reserved one can't leave before a whole window. */
  resetMs(now: number): number {
    const first = this.#firstAt(now)
    if (first <= this.#newest) return this.#leavesAt(first) - Math.max(now, this.#latestMs)
    return this.#reserved > 0 ? this.windowMs : 0
  }

  /**
   * Ms until so many more readings could be admitted under `limit`, if nothing else comes: more than one slot may have to
   * go. At most the window.
   */
  retryAfterMs(now: number, limit: number, readings = 1): number {
    let excess = this.used(now) + readings - limit
    if (excess <= 0) return 0
    for (let slot = this.#firstAt(now); slot <= this.#newest; slot += 1) {
      excess -= this.#countOf(slot)
      if (excess <= 0) return this.#leavesAt(slot) - Math.max(now, this.#latestMs)
    }
    return this.windowMs
  }

  /** The first slot that counts at `now`; the one after the newest if none does. At most 64 steps. */
  #firstAt(now: number): number {
    if (this.#recorded === 0 || this.#leavesAt(this.#newest) <= now) return this.#newest + 1
    let slot = this.#oldest
    while (this.#countOf(slot) === 0 || this.#leavesAt(slot) <= now) slot += 1
    return slot
  }

  #countOf(slot: number): number {
    return this.#slots[this.#indexOf(slot)] ?? 0
  }

  #leavesAt(slot: number): number {
    return this.#beginOf(slot) + (this.#slots[this.#indexOf(slot) + 1] ?? 0) + this.windowMs
  }

  /** Most keys post now and then, and 10,000 of them may be in memory: slots are made when they are needed. */
  #makeRoom(slots: number): void {
    const before = this.#slots
    this.#slots = new Uint32Array(2 * Math.min(rateWindowSlots, 2 ** Math.ceil(Math.log2(slots))))
    for (let slot = this.#oldest; slot < this.#oldest + before.length / 2; slot += 1) {
      const from = 2 * (slot % (before.length / 2))
      this.#slots.set(before.subarray(from, from + 2), this.#indexOf(slot))
    }
  }

  #indexOf(slot: number): number {
    return 2 * (slot % (this.#slots.length / 2))
  }

  /** The first ms that falls into it. */
  #beginOf(slot: number): number {
    return Math.ceil((slot * this.windowMs) / (rateWindowSlots - 1))
  }

  /** Exact: 63 times a time of this century stays far below 2^53. */
  #slotOf(atMs: number): number {
    return Math.floor((atMs * (rateWindowSlots - 1)) / this.windowMs)
  }
}

const noSlots = new Uint32Array(0)

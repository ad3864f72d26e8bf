import { liveRenderMsPerTick } from '../../limits.ts'

/** A stopwatch for the time that live pages take from readings: at most `liveRenderMsPerTick` in each tick, and one piece. */
export class RenderingTime {
  readonly #passedMs: () => number
  /** In this tick, without the piece under way. */
  #spentMs = 0
  /** Of all pieces so far, without the piece under way. */
  #totalMs = 0
  #pieceFromMs = 0

  constructor(passedMs: () => number) {
    this.#passedMs = passedMs
  }

  get isSpent(): boolean {
    return this.#spentMs >= liveRenderMsPerTick
  }

  /** Of all pieces so far, with the piece under way. */
  get totalMs(): number {
    return this.#totalMs + this.#passedMs() - this.#pieceFromMs
  }

  beginTick(): void {
    this.#spentMs = 0
  }

  beginPiece(): void {
    this.#pieceFromMs = this.#passedMs()
  }

  endPiece(): void {
    const tookMs = this.#passedMs() - this.#pieceFromMs
    this.#spentMs += tookMs
    this.#totalMs += tookMs
  }
}

import type { Schedule } from '../../../actors/schedule.ts'
import { liveRenderMsPerTick } from '../../../limits.ts'
import type { Pause } from '../show/pause.ts'

/** One rendering under way. `inPiece`: it works now. `inLine`: its next piece waits. `aside`: it waits for the store. */
type Rendering = { state: 'inPiece' | 'inLine' | 'aside' | 'ended'; tookMs: number }

type Piece = { readonly rendering: Rendering; readonly run: () => void }

/** What a rendering may ask about itself. */
export type RenderingTurns = {
  /** Ends a piece. The next one begins in another turn of the event loop, or with the next tick. */
  readonly pause: Pause
  /** Of all its pieces so far. */
  readonly tookMs: () => number
}

/** The next rendering to begin; `null` if there is none. It never rejects. */
export type NextRendering = () => ((turns: RenderingTurns) => Promise<void>) | null

/**
 * Does the renderings of live pages in pieces: one piece in each turn of the event loop, at most `liveRenderMsPerTick` and one
 * piece in each tick. A piece that has not ended with its turn waits for the store. Its rendering is set aside, so that others
 * go on, and the time of the wait is not counted. Its next piece comes in line when the store has answered.
 */
export class LiveRenderings {
  readonly #schedule: Schedule
  readonly #passedMs: () => number
  readonly #next: NextRendering
  /** Next pieces of renderings under way. They come before new renderings, so that few are under way at once. */
  readonly #line: Piece[] = []
  #aside = 0
  #spentMs = 0
  #pieceFromMs = 0
  #isWorking = false
  #resume: () => void = () => {}

  constructor({ schedule, passedMs }: { schedule: Schedule; passedMs: () => number }, next: NextRendering) {
    this.#schedule = schedule
    this.#passedMs = passedMs
    this.#next = next
  }

  /** How many wait for the store. */
  get aside(): number {
    return this.#aside
  }

  get isIdle(): boolean {
    return !this.#isWorking && this.#aside === 0
  }

  /** Begins a tick: there is time again. */
  beginTick(): void {
    this.#spentMs = 0
    this.#resume()
    this.#wake()
  }

  #wake(): void {
    if (!this.#isWorking) void this.#work()
  }

  async #work(): Promise<void> {
    this.#isWorking = true
    for (;;) {
      if (this.#spentMs >= liveRenderMsPerTick) await this.#untilNextTick()
      const piece = this.#line.shift() ?? this.#begun()
      if (piece === null) break
      await this.#do(piece)
    }
    this.#isWorking = false
  }

  #untilNextTick(): Promise<void> {
    return new Promise((resolve) => {
      this.#resume = resolve
    })
  }

  #begun(): Piece | null {
    const render = this.#next()
    if (render === null) return null
    const rendering: Rendering = { state: 'inLine', tookMs: 0 }
    const pause = (): Promise<void> => this.#pause(rendering)
    const run = async (): Promise<void> => {
      await render({ pause, tookMs: () => rendering.tookMs + this.#pieceMs(rendering) })
      this.#leave(rendering, 'ended')
    }
    return { rendering, run: () => void run() }
  }

  async #do({ rendering, run }: Piece): Promise<void> {
    rendering.state = 'inPiece'
    this.#pieceFromMs = this.#passedMs()
    run()
    await new Promise<void>((resolve) => this.#schedule.soon(resolve))
    if (rendering.state === 'inPiece') this.#leave(rendering, 'aside')
  }

  #pause(rendering: Rendering): Promise<void> {
    this.#leave(rendering, 'inLine')
    return new Promise((resolve) => {
      this.#line.push({ rendering, run: resolve })
      this.#wake()
    })
  }

  #pieceMs({ state }: Rendering): number {
    return state === 'inPiece' ? this.#passedMs() - this.#pieceFromMs : 0
  }

  #leave(rendering: Rendering, state: Rendering['state']): void {
    const tookMs = this.#pieceMs(rendering)
    this.#spentMs += tookMs
    rendering.tookMs += tookMs
    if (rendering.state === 'aside') this.#aside -= 1
    if (state === 'aside') this.#aside += 1
    rendering.state = state
  }
}

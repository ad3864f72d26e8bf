/**
 * A rendering makes the HTML of one live page, in pieces. One piece runs in each turn of the event loop, until the time of
 * the tick is spent (docs/decisions/024-live-pages-have-a-budget.md). A rendering that neither calls `pause` nor ends in
 * its turn is waiting for the store. Others run meanwhile, and the waiting time is not counted. It then calls `pause` to
 * join the queue again.
 */
import type { Schedule } from '../../../schedule.ts'
import type { Pause } from '../show/pauses.ts'

/** In each `livePushMs`. A piece of work that has begun may take longer. */
export const liveRenderMsPerTick = 100

type Rendering = { state: 'running' | 'queued' | 'waitingForStore' | 'ended'; tookMs: number }

type Piece = { readonly rendering: Rendering; readonly run: () => void }

export type RenderingTurns = {
  readonly pause: Pause
  /** Without the waits for the store. */
  readonly tookMs: () => number
}

/** `null`: no page waits. The function's promise must never reject, because nobody catches the error. */
export type NextRendering = () => ((turns: RenderingTurns) => Promise<void>) | null

export class LiveRenderQueue {
  readonly #schedule: Schedule
  readonly #passedMs: () => number
  readonly #next: NextRendering
  /** Before new renderings start, so that few are unfinished at the same time. */
  readonly #queue: Piece[] = []
  #waitingForStore = 0
  #spentMs = 0
  #pieceFromMs = 0
  #isWorking = false
  #resume: () => void = () => {}

  constructor({ schedule, passedMs }: { schedule: Schedule; passedMs: () => number }, next: NextRendering) {
    this.#schedule = schedule
    this.#passedMs = passedMs
    this.#next = next
  }

  get waitingForStore(): number {
    return this.#waitingForStore
  }

  get isIdle(): boolean {
    return !this.#isWorking && this.#waitingForStore === 0
  }

  beginTick(): void {
    this.#spentMs = 0
    this.#resume()
    this.wake()
  }

  wake(): void {
    if (!this.#isWorking) void this.#work()
  }

  async #work(): Promise<void> {
    this.#isWorking = true
    for (;;) {
      if (this.#spentMs >= liveRenderMsPerTick) await this.#untilNextTick()
      const piece = this.#queue.shift() ?? this.#firstPiece()
      if (piece === null) break
      await this.#runPiece(piece)
    }
    this.#isWorking = false
  }

  #untilNextTick(): Promise<void> {
    return new Promise((resolve) => {
      this.#resume = resolve
    })
  }

  #firstPiece(): Piece | null {
    const render = this.#next()
    if (render === null) return null
    const rendering: Rendering = { state: 'queued', tookMs: 0 }
    const pause = (): Promise<void> => this.#pause(rendering)
    const run = async (): Promise<void> => {
      await render({ pause, tookMs: () => rendering.tookMs + this.#pieceMs(rendering) })
      this.#become(rendering, 'ended')
    }
    return { rendering, run: () => void run() }
  }

  async #runPiece({ rendering, run }: Piece): Promise<void> {
    rendering.state = 'running'
    this.#pieceFromMs = this.#passedMs()
    run()
    await new Promise<void>((resolve) => this.#schedule.soon(resolve))
    if (rendering.state === 'running') this.#become(rendering, 'waitingForStore')
  }

  #pause(rendering: Rendering): Promise<void> {
    this.#become(rendering, 'queued')
    return new Promise((resolve) => {
      this.#queue.push({ rendering, run: resolve })
      this.wake()
    })
  }

  #pieceMs({ state }: Rendering): number {
    return state === 'running' ? this.#passedMs() - this.#pieceFromMs : 0
  }

  #become(rendering: Rendering, state: Rendering['state']): void {
    const tookMs = this.#pieceMs(rendering)
    this.#spentMs += tookMs
    rendering.tookMs += tookMs
    if (rendering.state === 'waitingForStore') this.#waitingForStore -= 1
    if (state === 'waitingForStore') this.#waitingForStore += 1
    rendering.state = state
  }
}

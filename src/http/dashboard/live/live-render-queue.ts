/**
 * A rendering makes the HTML of one live page, in pieces. This queue runs one piece in each turn of the event loop, so that
 * readings do not wait for pages. When the pieces of a tick have taken `liveRenderMsPerTick`, the queue waits for the next
 * tick.
 *
 * A rendering that neither calls `pause` nor ends in its turn is waiting for the store. Other renderings run meanwhile, and the
 * waiting time is not counted. When the store has answered, the rendering calls `pause` to join the queue again.
 */
import type { Schedule } from '../../../schedule.ts'
import type { Pause } from '../show/pauses.ts'

/**
 * Time for rendering live pages in each `livePushMs`, so that readings are not delayed. A piece of work that has begun may take
 * longer.
 */
export const liveRenderMsPerTick = 100

type Rendering = { state: 'running' | 'queued' | 'waitingForStore' | 'ended'; tookMs: number }

type Piece = { readonly rendering: Rendering; readonly run: () => void }

export type RenderingTurns = {
  /** Ends this piece of work. Resolves when the next piece of the rendering can begin. */
  readonly pause: Pause
  /** The time of all pieces of this rendering so far, without its waits for the store. */
  readonly tookMs: () => number
}

/**
 * Returns a function that starts the next rendering; `null` if no page waits. The function's promise must never reject, because
 * nobody catches the error.
 */
export type NextRendering = () => ((turns: RenderingTurns) => Promise<void>) | null

export class LiveRenderQueue {
  readonly #schedule: Schedule
  readonly #passedMs: () => number
  readonly #next: NextRendering
  /**
   * The next pieces of renderings that have begun. These pieces run before new renderings start, so that few renderings are
   * unfinished at the same time.
   */
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

  /** Starts further renderings, as far as this tick has time left. */
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

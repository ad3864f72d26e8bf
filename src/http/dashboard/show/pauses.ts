import { ownTurns } from '../../own-turns.ts'

/** Long work calls this between two pieces, so that readings and other requests are answered meanwhile. */
export type Pause = () => Promise<void>

/** For pages that a visitor waits for. All requests share one queue: one piece of one page in each turn of the event loop. */
export const waitForTurn: Pause = ownTurns()

/** Runs the generator to its end, with a pause after each piece. */
export const runWithPauses = async <T>(work: Generator<void, T>, pause: Pause): Promise<T> => {
  for (;;) {
    const piece = work.next()
    if (piece.done === true) return piece.value
    await pause()
  }
}

/** Pauses at every `count`th call; the other calls return `null`, and the caller does not wait. */
export const pauseEvery = (count: number, pause: Pause): (() => Promise<void> | null) => {
  let calls = 0
  return () => {
    calls += 1
    return calls % count === 0 ? pause() : null
  }
}

import { ownTurns } from '../../own-turns.ts'

/** Long work waits for a pause between its pieces, so that the service answers readings in between. */
export type Pause = () => Promise<void>

/** The pages of all visitors share this queue (`own-turns.ts`). */
export const waitForTurn: Pause = ownTurns()

export const runWithPauses = async <T>(work: Generator<void, T>, pause: Pause): Promise<T> => {
  for (;;) {
    const piece = work.next()
    if (piece.done === true) return piece.value
    await pause()
  }
}

/** Returns a function that pauses at every `count`-th call. At the other calls it returns `null`. */
export const pauseEvery = (count: number, pause: Pause): (() => Promise<void> | null) => {
  let calls = 0
  return () => {
    calls += 1
    return calls % count === 0 ? pause() : null
  }
}

import { ownTurns } from '../../own-turns.ts'

/** Long work waits for this between pieces, so that readings are answered meanwhile. */
export type Pause = () => Promise<void>

/** One queue for the pages of all visitors (`own-turns.ts`). */
export const waitForTurn: Pause = ownTurns()

export const runWithPauses = async <T>(work: Generator<void, T>, pause: Pause): Promise<T> => {
  for (;;) {
    const piece = work.next()
    if (piece.done === true) return piece.value
    await pause()
  }
}

/** `null`: no pause this time. */
export const pauseEvery = (count: number, pause: Pause): (() => Promise<void> | null) => {
  let calls = 0
  return () => {
    calls += 1
    return calls % count === 0 ? pause() : null
  }
}

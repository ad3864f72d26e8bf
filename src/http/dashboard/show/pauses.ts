import { ownTurns } from '../../own-turns.ts'

/** Long work calls this function between its pieces, so that the service answers readings in between. */
export type Pause = () => Promise<void>

/**
 * The pages of all visitors wait in this one queue. It runs one piece of work in each turn of the event loop (`own-turns.ts`).
 */
export const waitForTurn: Pause = ownTurns()

/**
 * Returns a function that pauses at every `count`-th call. At other calls it returns `null`, and the caller continues at once.
 */
export const pauseEvery = (count: number, pause: Pause): (() => Promise<void> | null) => {
  let calls = 0
  return () => {
    calls += 1
    return calls % count === 0 ? pause() : null
  }
}

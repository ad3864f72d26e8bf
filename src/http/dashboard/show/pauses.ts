import { ownTurns } from '../../own-turns.ts'

/** Long work calls it between its pieces, so that the service answers readings in between. */
export type Pause = () => Promise<void>

/** All visitors' pages wait in this one queue, one piece of work in each turn (`own-turns.ts`). */
export const waitForTurn: Pause = ownTurns()

/** Pauses at every `count`-th call; at others, `null`: the caller continues at once. */
export const pauseEvery = (count: number, pause: Pause): (() => Promise<void> | null) => {
  let calls = 0
  return () => {
    calls += 1
    return calls % count === 0 ? pause() : null
  }
}

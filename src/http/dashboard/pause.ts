import { systemSchedule } from '../../actors/schedule.ts'

/** Long work waits for this between two pieces, so that requests are answered meanwhile. */
export type Pause = () => Promise<void>

/** For work that a visitor waits for: goes on in the next turn of the event loop. */
export const takeTurn: Pause = () => new Promise((resolve) => systemSchedule.soon(resolve))

/** Runs work that yields after each piece. */
export const runInPieces = async <T>(work: Generator<void, T>, pause: Pause): Promise<T> => {
  for (;;) {
    const piece = work.next()
    if (piece.done === true) return piece.value
    await pause()
  }
}

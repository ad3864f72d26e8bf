import { systemSchedule } from '../../actors/schedule.ts'

/** Waited for between two pieces of a long piece of work, so that requests are answered in between. */
export type Pause = () => Promise<void>

/** For work that a visitor waits for: the event loop takes a turn. */
export const takeTurn: Pause = () => new Promise((resolve) => systemSchedule.soon(resolve))

/** Runs work that yields after each piece. */
export const runInPieces = async <T>(work: Generator<void, T>, pause: Pause): Promise<T> => {
  for (;;) {
    const piece = work.next()
    if (piece.done === true) return piece.value
    await pause()
  }
}

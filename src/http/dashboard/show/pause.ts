import { ownTurns } from '../../own-turns.ts'

/** Long work waits for this between two pieces, so that requests are answered meanwhile. */
export type Pause = () => Promise<void>

/** For pages that a visitor waits for: all requests share one line, so that readings are answered between two pieces. */
export const takeTurn: Pause = ownTurns()

/** Runs work that yields after each piece. */
export const runInPieces = async <T>(work: Generator<void, T>, pause: Pause): Promise<T> => {
  for (;;) {
    const piece = work.next()
    if (piece.done === true) return piece.value
    await pause()
  }
}

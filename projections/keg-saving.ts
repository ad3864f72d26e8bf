import type { Keg } from './keg.ts'
import { entryKinds, type PieceWriter } from './saved-pieces.ts'

/**
 * Kegs change while a checkpoint is written in pieces. A keg that is about to change is therefore written first, if the checkpoint
 * does not have it yet. So each keg is in the checkpoint once, as it was at the beginning.
 */
export class KegSaving {
  /** Number of the checkpoint. A keg with another `savedIn` is not in it yet. */
  checkpoint = 0
  /** Kegs that were written early. `null`: no checkpoint is under way. */
  #changing: PieceWriter | null = null

  /** @throws Error if a checkpoint is under way. */
  begin(to: PieceWriter): void {
    if (this.#changing !== null) throw new Error('Cannot save the kegs: they are being saved')
    this.#changing = to.sameSize()
    this.checkpoint += 1
  }

  end(): void {
    this.#changing = null
  }

  /** The next piece of kegs that were written early. `null`: none, or the piece is still short. */
  cutChanging({ isLast }: { readonly isLast: boolean }): Uint8Array | null {
    const changing = this.#changing
    if (changing === null || changing.isEmpty || !(isLast || changing.isFull)) return null
    // A copy, because more kegs may be written before the piece is read.
    return changing.cut()
  }

  /** Call before the change of a keg with another `savedIn`. */
  saveFirst(cellar: number, keg: Keg): void {
    if (this.#changing !== null) this.write(this.#changing, cellar, keg)
    keg.savedIn = this.checkpoint
  }

  write(to: PieceWriter, cellar: number, keg: Keg): void {
    to.byte(entryKinds.keg)
    to.whole(cellar)
    keg.save(to)
    keg.savedIn = this.checkpoint
  }
}

import type { Keg } from './keg.ts'
import { entryKinds, type PieceWriter } from './saved-pieces.ts'

/**
 * Kegs may change while a checkpoint is written. A keg that the checkpoint does not have is written before its change. So each keg
 * is in the checkpoint once, as it was at the beginning.
 */
export class KegSaving {
  /** A keg with another `savedIn` is not in this checkpoint yet. */
  checkpoint = 0
  /** Kegs written before a change. `null`: no checkpoint is under way. */
  #changing: PieceWriter | null = null

  begin(to: PieceWriter): void {
    if (this.#changing !== null) throw new Error('Cannot save the kegs: another save is under way')
    this.#changing = to.sameSize()
    this.checkpoint += 1
  }

  end(): void {
    this.#changing = null
  }

  cutChanging({ isLast }: { readonly isLast: boolean }): Uint8Array | null {
    const changing = this.#changing
    if (changing === null || changing.isEmpty || !(isLast || changing.isFull)) return null
    // A copy, because more kegs may follow before the piece is read.
    return changing.cut()
  }

  /** For a keg with another `savedIn`. */
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

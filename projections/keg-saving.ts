import type { Keg } from './keg.ts'
import { entryKinds, type PieceWriter } from './saved-pieces.ts'

/**
 * Kegs may change while a checkpoint is written. A keg that is not yet in the checkpoint is written just before it
 * changes. So each keg is in the checkpoint once, as it was at the beginning.
 */
export class KegSaving {
  /** The number of the last checkpoint. A keg with another `savedIn` is not in it yet. */
  checkpoint = 0
  /** Kegs that were written because they were about to change. */
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
    // A copy, because more kegs may be written before the piece is read.
    return changing.cut()
  }

  /** Call it before a keg changes or is forgotten, if its `savedIn` is not `checkpoint`. */
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

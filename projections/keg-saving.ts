import type { Keg } from './keg.ts'
import { entryKinds, type PieceWriter } from './saved-pieces.ts'

/**
 * Kegs can change while a checkpoint is written. A keg that the checkpoint lacks is written just before that keg
 * changes. So each keg is in the checkpoint once, as it was at the beginning.
 */
export class KegSaving {
  /**
   * The number of the checkpoint that began last. A keg with another number in `savedIn` is not in that checkpoint yet. The
   * number has 16 bits and begins again with 0. Only after 65,536 unfinished checkpoints in a row, an old number would be equal.
   */
  checkpoint = 0
  /**
   * Kegs that were written early, because they were about to change. `null` means that no checkpoint is being written.
   */
  #changing: PieceWriter | null = null

  begin(to: PieceWriter): void {
    if (this.#changing !== null) throw new Error('Cannot save the kegs: another save is under way')
    this.#changing = to.sameSize()
    this.checkpoint = (this.checkpoint + 1) % 2 ** 16
  }

  end(): void {
    this.#changing = null
  }

  cutChanging({ isLast }: { readonly isLast: boolean }): Uint8Array | null {
    const changing = this.#changing
    if (changing === null || changing.isEmpty || !(isLast || changing.isFull)) return null
    // Returns a copy, because more kegs can be written into the buffer before the piece is read.
    return changing.cut()
  }

  /**
   * Call this before a keg changes or is removed from memory, if its `savedIn` differs from `checkpoint`. Otherwise the
   * running checkpoint would contain the changed keg, or lack the removed keg.
   */
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

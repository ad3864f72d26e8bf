import type { Keg } from './keg.ts'
import { entryKinds, type PieceWriter } from './saved-pieces.ts'

/**
 * A checkpoint is written in steps, and kegs can change between two steps. A keg that the checkpoint does not contain
 * yet is written just before that keg changes. So the checkpoint contains each keg once, as the keg was at the
 * beginning.
 */
export class KegSaving {
  /**
   * The number of the running or last checkpoint. A keg with another number in `savedIn` is not in that checkpoint yet.
   */
  checkpoint = 0
  /**
   * Kegs that were written early, because they were about to change. `null` means that no checkpoint is being written.
   */
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
    // Returns a copy, because more kegs can be written into the same buffer before the caller reads the piece.
    return changing.cut()
  }

  /**
   * Call this before a keg changes or is forgotten, if its `savedIn` differs from `checkpoint`. Otherwise the
   * checkpoint would mix older and newer kegs.
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

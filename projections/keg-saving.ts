import type { Keg } from './keg.ts'
import { kinds, type RecordWriter } from './records.ts'

/**
 * One checkpoint after the other, of kegs that go on changing while they are written: whoever is about to change one that
 * the checkpoint under way does not have has it written first, as it is. So every keg is in it once, as it was when it began.
 */
export class KegSaving {
  /** Goes up with each checkpoint: a keg that says another number is not in it yet. */
  checkpoint = 0
  /** The kegs that were about to change, until they are fetched; `null` while no checkpoint is under way. */
  #changing: RecordWriter | null = null

  /** @throws Error if one is under way. */
  begin(to: RecordWriter): void {
    if (this.#changing !== null) throw new Error('Cannot save the kegs: they are being saved')
    this.#changing = to.another()
    this.checkpoint += 1
  }

  end(): void {
    this.#changing = null
  }

  /** What has been written aside, if it is long enough or the last; `null` if not. */
  cutChanging({ isLast }: { readonly isLast: boolean }): Uint8Array | null {
    const aside = this.#changing
    if (aside === null || aside.isEmpty || !(isLast || aside.isFull)) return null
    // A copy: more may be written aside before anybody has read it.
    return aside.cut()
  }

  /** Before a keg is changed that says another number. */
  saveFirst(cellar: number, keg: Keg): void {
    if (this.#changing !== null) this.write(this.#changing, cellar, keg)
    keg.savedIn = this.checkpoint
  }

  write(to: RecordWriter, cellar: number, keg: Keg): void {
    to.byte(kinds.keg)
    to.whole(cellar)
    keg.save(to)
    keg.savedIn = this.checkpoint
  }
}

import type { Database, Statement } from 'bun:sqlite'
import { askSeenEvictedAtOnce, askSeenRacksMax } from '../../limits.ts'
import { AskUnusable, type SeenRack } from '../ask-index.ts'
import { type SeenRow, seenChecksum } from './ask-rows.ts'
import type { NameNumbers } from './name-numbers.ts'
import type { TableTotals } from './table-totals.ts'

type Deleted = Pick<SeenRow, 'checksum'>

/** Writes when each rack was last seen: the table `seen`. */
export class SeenRows {
  readonly #names: NameNumbers
  readonly #find: Statement<SeenRow, [number, string]>
  readonly #write: Statement<unknown, [number, string, number, number]>
  readonly #deleteBefore: Statement<Deleted, [number, number]>
  readonly #evict: Statement<Deleted, [number]>

  constructor(database: Database, names: NameNumbers) {
    this.#names = names
    this.#find = database.prepare('SELECT * FROM seen WHERE key = ? AND rack = ?')
    this.#write = database.prepare(`
      INSERT INTO seen (key, rack, minute, checksum) VALUES (?, ?, ?, ?)
        ON CONFLICT (key, rack) DO UPDATE SET minute = excluded.minute, checksum = excluded.checksum
    `)
    this.#deleteBefore = database.prepare('DELETE FROM seen WHERE key = ? AND minute < ? RETURNING checksum')
    // Two indexes can number their names differently, so the names decide between equal minutes.
    this.#evict = database.prepare(`
      DELETE FROM seen WHERE (key, rack) IN
        (SELECT key, rack FROM seen JOIN names ON names.id = seen.key ORDER BY minute, name, rack LIMIT ?)
        RETURNING checksum
    `)
  }

  /** @throws AskUnusable if the stored row is damaged */
  add({ key, rack, minute }: SeenRack, totals: TableTotals): void {
    const number = this.#names.findOrAdd(key, totals)
    const stored = this.#find.get(number, rack)
    if (stored !== null) {
      if (seenChecksum(stored) !== stored.checksum) throw new AskUnusable('a row of "seen" is damaged')
      if (stored.minute >= minute) return
      totals.remove('seen', stored.checksum)
    }
    const checksum = seenChecksum({ key: number, rack, minute })
    this.#write.run(number, rack, minute, checksum)
    totals.add('seen', checksum)
  }

  forgetBefore(key: number, minute: number, totals: TableTotals): void {
    for (const { checksum } of this.#deleteBefore.all(key, minute)) totals.remove('seen', checksum)
  }

  /** Deletes the pairs that were seen longest ago, if there are too many. Equal minutes are deleted in the order of key and rack. */
  evict(totals: TableTotals): void {
    const tooMany = totals.count('seen') - askSeenRacksMax
    if (tooMany <= 0) return
    for (const { checksum } of this.#evict.all(Math.max(tooMany, askSeenEvictedAtOnce))) totals.remove('seen', checksum)
  }

  close(): void {
    for (const statement of [this.#find, this.#write, this.#deleteBefore, this.#evict]) statement.finalize()
  }
}

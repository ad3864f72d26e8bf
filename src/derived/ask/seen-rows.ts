import type { Database, Statement } from 'bun:sqlite'
import type { SeenRack } from '../../log/ask-index.ts'
import type { NameNumbers } from './name-numbers.ts'

/** Pairs of a key and a rack. Beyond this number, the pairs that were seen longest ago are deleted. */
export const askSeenRacksMax = 100_000
/** Pairs are deleted in groups, because finding the oldest ones reads the whole table: 40 ms. */
const askSeenEvictedAtOnce = 5_000

export class SeenRows {
  readonly #names: NameNumbers
  readonly #count: Statement<{ readonly count: number }, []>
  readonly #write: Statement<unknown, [number, string, number]>
  readonly #deleteBefore: Statement<unknown, [number, number]>
  readonly #evict: Statement<{ readonly minute: number }, [number]>
  readonly #seenFrom: Statement<unknown, [number]>

  constructor(database: Database, names: NameNumbers) {
    this.#names = names
    this.#count = database.prepare('SELECT count(*) AS count FROM seen')
    this.#write = database.prepare(`
      INSERT INTO seen (key, rack, minute) VALUES (?, ?, ?)
        ON CONFLICT (key, rack) DO UPDATE SET minute = max(minute, excluded.minute)
    `)
    this.#deleteBefore = database.prepare('DELETE FROM seen WHERE key = ? AND minute < ?')
    // In the `ask.db` of another node the same name can have another number. So the names decide which pairs all delete.
    this.#evict = database.prepare(`
      DELETE FROM seen WHERE (key, rack) IN
        (SELECT key, rack FROM seen JOIN names ON names.id = seen.key ORDER BY minute, name, rack LIMIT ?)
        RETURNING minute
    `)
    this.#seenFrom = database.prepare(`
      INSERT INTO seen_from VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET minute = max(minute, excluded.minute)
    `)
  }

  add({ key, rack, minute }: SeenRack): void {
    this.#write.run(this.#names.findOrAdd(key), rack, minute)
  }

  forgetBefore(key: number, minute: number): void {
    this.#deleteBefore.run(key, minute)
  }

  /**
   * Equal minutes are deleted in the order of key and rack. Other pairs of the last deleted minute can still be there, so
   * all pairs are known only from the minute after it.
   */
  evict(): void {
    const tooMany = (this.#count.get()?.count ?? 0) - askSeenRacksMax
    if (tooMany <= 0) return
    const evicted = this.#evict.all(Math.max(tooMany, askSeenEvictedAtOnce))
    this.#seenFrom.run(1 + evicted.reduce((last, { minute }) => Math.max(last, minute), 0))
  }
}

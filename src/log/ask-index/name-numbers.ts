import type { Database, Statement } from 'bun:sqlite'
import { BoundedMap } from '../../domain/bounded-map.ts'
import { askNamesCachedMax } from '../../limits.ts'
import { AskUnusable } from '../ask-index.ts'
import { type NameRow, nameChecksum } from './ask-rows.ts'
import type { TableTotals } from './table-totals.ts'

/** Gives each name the next number. Names are never deleted. */
export class NameNumbers {
  readonly #find: Statement<NameRow, [string]>
  readonly #insert: Statement<unknown, [number, string, number]>
  readonly #cache = new BoundedMap<string, number>(askNamesCachedMax)

  constructor(database: Database) {
    this.#find = database.prepare('SELECT id, name, checksum FROM names WHERE name = ?')
    this.#insert = database.prepare('INSERT INTO names (id, name, checksum) VALUES (?, ?, ?)')
  }

  /** @throws AskUnusable if the row of the name is damaged */
  find(name: string): number | null {
    const cached = this.#cache.get(name)
    if (cached !== undefined) return cached
    const row = this.#find.get(name)
    if (row === null) return null
    if (nameChecksum(row) !== row.checksum) throw new AskUnusable(`the row of the name "${name}" is damaged`)
    this.#cache.set(name, row.id)
    return row.id
  }

  /** @throws AskUnusable if the row of the name is damaged */
  findOrAdd(name: string, totals: TableTotals): number {
    return this.find(name) ?? this.#add(name, totals)
  }

  /** A change that was undone has added its names in vain. */
  forgetCached(): void {
    this.#cache.clear()
  }

  close(): void {
    this.#find.finalize()
    this.#insert.finalize()
  }

  #add(name: string, totals: TableTotals): number {
    const id = totals.count('names') + 1
    const checksum = nameChecksum({ id, name })
    this.#insert.run(id, name, checksum)
    totals.add('names', checksum)
    this.#cache.set(name, id)
    return id
  }
}

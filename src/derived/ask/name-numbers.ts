import type { Database, Statement } from 'bun:sqlite'
import { BoundedMap } from '../../domain/bounded-map.ts'

/** Names of keys, streams and so on whose numbers the follower keeps in memory: about 100 bytes each. */
const askNamesCachedMax = 16_384

type Numbered = { readonly id: number }

/** Names are never deleted. */
export class NameNumbers {
  readonly #find: Statement<Numbered, [string]>
  readonly #insert: Statement<unknown, [string]>
  readonly #cache = new BoundedMap<string, number>(askNamesCachedMax)

  constructor(database: Database) {
    this.#find = database.prepare('SELECT id FROM names WHERE name = ?')
    this.#insert = database.prepare('INSERT INTO names (name) VALUES (?)')
  }

  find(name: string): number | null {
    const cached = this.#cache.get(name)
    if (cached !== undefined) return cached
    const row = this.#find.get(name)
    if (row !== null) this.#cache.set(name, row.id)
    return row?.id ?? null
  }

  findOrAdd(name: string): number {
    return this.find(name) ?? this.#add(name)
  }

  #add(name: string): number {
    const id = Number(this.#insert.run(name).lastInsertRowid)
    this.#cache.set(name, id)
    return id
  }
}

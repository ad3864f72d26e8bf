import { Database } from 'bun:sqlite'
import type { AskContents } from './memory-ask-index.ts'

type Row = Readonly<Record<string, string | number | null>>
type Contents = Readonly<Record<keyof AskContents, readonly Row[]>>

/** All that `ask.db` says, as rows of names, in a fixed order. Leaves out ids, because the file has only hashes of them. */
export const fileContents = (path: string): Contents => {
  const database = new Database(path, { readonly: true })
  try {
    return contentsOf(database)
  } finally {
    database.close()
  }
}

export const contentsOf = (database: Database): Contents => {
  const rows = (query: string): readonly Row[] => inOrder(database.query<Row, []>(query).all())
  const name = (column: string): string => `(SELECT name FROM names WHERE names.id = ${column}) AS ${column}`
  return {
    places: rows(`SELECT position, ${name('stream')}, revision, recorded_at AS recordedAt, ${name('kind')},
        ${name('type')}, ${name('actor')}, ${name('key')}, ${name('cellar')}, first_at AS firstAt, last_at AS lastAt FROM places`),
    minutes: rows('SELECT minute, position FROM minutes'),
    minuteCounts: rows(`SELECT ${name('cellar')}, minute, ${name('code')}, count FROM minute_counts`),
    hourCounts: rows(
      `SELECT ${name('cellar')}, ${name('key')}, hour, ${name('code')}, count, busiest FROM hour_counts`,
    ),
    seen: rows(`SELECT ${name('key')}, rack, minute FROM seen`),
  }
}

export const withoutIds = ({ places, ...rest }: AskContents): Contents => ({
  ...rest,
  places: inOrder(
    places.map(({ id: _, requestId: __, firstAt = null, lastAt = null, ...place }) => ({ ...place, firstAt, lastAt })),
  ),
})

const inOrder = (rows: readonly Row[]): readonly Row[] =>
  rows.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))

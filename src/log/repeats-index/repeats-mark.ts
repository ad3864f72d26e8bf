import { Database, SQLiteError } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import type { Mark } from '../tail/missing-end.ts'
import { repeatsPathIn } from './repeats-file.ts'

type Folded = { logId: string; position: number; stream: string; revision: number }

/**
 * Returns the last event that the index of idempotency keys includes. `null` if there is no index, or if it cannot be
 * read: then the service builds a new one.
 */
export const repeatsMark = (dataDir: string): Mark | null => {
  const path = repeatsPathIn(dataDir)
  if (!existsSync(path)) return null
  try {
    using database = new Database(path, { readonly: true })
    const folded = database.query<Folded, []>(foldedQuery).get()
    if (folded === null) return null
    const { logId, position, stream, revision } = folded
    return { source: 'the index of idempotency keys', logId, position, event: `revision ${revision} of "${stream}"` }
  } catch (cause) {
    if (!(cause instanceof SQLiteError)) throw cause
    return null
  }
}

const foldedQuery = `
  SELECT log_id AS logId, position, stream, revision FROM folded
    WHERE typeof(log_id) = 'text' AND typeof(position) = 'integer'
`

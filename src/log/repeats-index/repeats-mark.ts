import { Database, SQLiteError } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import type { Mark } from '../tail/missing-end.ts'
import { type HeadRow, headChecksum } from './index-head.ts'
import { repeatsPathIn } from './repeats-file.ts'

/** Files of formats 1 to 3 have no checksum here. */
type Folded = Extract<HeadRow, { readonly position: number }> & { readonly checksum?: number }

/**
 * Returns the last event that the index of idempotency keys includes. `null` if there is no index, or if it is damaged
 * or cannot be read: then the service builds a new one.
 */
export const repeatsMark = (dataDir: string): Mark | null => {
  const path = repeatsPathIn(dataDir)
  if (!existsSync(path)) return null
  try {
    using database = new Database(path, { readonly: true })
    const folded = database.query<Folded, []>(foldedQuery).get()
    if (folded === null || (folded.checksum !== undefined && headChecksum(folded) !== folded.checksum)) return null
    const { log_id: logId, position, stream, revision } = folded
    return { source: 'the index of idempotency keys', logId, position, event: `revision ${revision} of "${stream}"` }
  } catch (cause) {
    if (!(cause instanceof SQLiteError)) throw cause
    return null
  }
}

const foldedQuery = `
  SELECT * FROM folded WHERE typeof(log_id) = 'text' AND typeof(position) = 'integer'
`

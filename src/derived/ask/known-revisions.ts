import { Database, SQLiteError } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import type { FoldedTo } from '../../domain/log-reference.ts'
import { isOfLog, ModelUnusable, modelPath, readHead } from '../model-file.ts'
import { askModel } from './ask-model.ts'

/** What `ask.db` says of the log before the follower opens it, and perhaps deletes it. */
export type KnownRevisions = {
  readonly head: FoldedTo
  lastRevision(stream: string): number | null
  close(): void
}

/** Returns `null` if the file is missing, empty, damaged or of another log. */
export const openKnownRevisions = (dataDir: string, logId: string): KnownRevisions | null => {
  const path = modelPath(dataDir, askModel.name)
  if (!existsSync(path)) return null
  const database = orNull(() => new Database(path, { readwrite: true, create: false }))
  if (database === null) return null
  const head = orNull(() => (isOfLog(database, logId) ? readHead(database) : null))
  if (head === null) {
    database.close()
    return null
  }
  const query = `SELECT max(revision) AS last FROM places WHERE stream = (SELECT id FROM names WHERE name = ?)`
  return {
    head,
    lastRevision: (stream) =>
      orNull(() => database.query<{ last: number | null }, [string]>(query).get(stream)?.last ?? null),
    close: () => database.close(),
  }
}

/** The follower meets the same fault, and reports it. */
const orNull = <T>(use: () => T): T | null => {
  try {
    return use()
  } catch (cause) {
    if (!(cause instanceof SQLiteError || cause instanceof ModelUnusable)) throw cause
    return null
  }
}

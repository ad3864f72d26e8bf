import { Database, SQLiteError } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import type { Mark } from '../../log/tail/missing-end.ts'
import { ModelUnusable, modelPath, readHead } from '../model-file.ts'
import { repeatsModel, totalIn } from './repeats-model.ts'

/**
 * Returns the last event that `idempotency.db` includes. `null` if there is no such file, or if it is damaged or cannot be read: then
 * the follower builds a new one.
 */
export const repeatsMark = (dataDir: string): Mark | null => {
  const path = modelPath(dataDir, repeatsModel.name)
  if (!existsSync(path)) return null
  try {
    using database = new Database(path, { readonly: true })
    const logId = database.query<{ id: string }, []>('SELECT id FROM of_log').get()?.id
    const head = readHead(database)
    if (head === null || typeof logId !== 'string') return null
    // Throws if the head was changed.
    totalIn(database)
    const event = `revision ${head.revision} of "${head.stream}"`
    return { source: 'the index of idempotency keys', logId, position: head.position, event }
  } catch (cause) {
    if (!(cause instanceof SQLiteError || cause instanceof ModelUnusable)) throw cause
    return null
  }
}

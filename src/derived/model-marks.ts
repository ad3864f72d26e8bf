import { Database, SQLiteError } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import type { Mark } from '../log/tail/missing-end.ts'
import { ModelUnusable, modelPath, readHead } from './model-file.ts'
import { modelKinds } from './model-kinds.ts'

/** Leaves out a damaged model, which the follower builds again. */
export const modelMarks = (dataDir: string): readonly Mark[] => modelKinds.flatMap(({ name }) => markOf(dataDir, name))

const markOf = (dataDir: string, name: string): readonly Mark[] => {
  const path = modelPath(dataDir, name)
  if (!existsSync(path)) return []
  try {
    using database = new Database(path, { readonly: true })
    const logId = database.query<{ id: string }, []>('SELECT id FROM of_log').get()?.id
    const head = readHead(database)
    if (head === null || typeof logId !== 'string') return []
    const event = `revision ${head.revision} of "${head.stream}"`
    return [{ source: `${name}.db`, logId, position: head.position, event }]
  } catch (cause) {
    if (!(cause instanceof SQLiteError || cause instanceof ModelUnusable)) throw cause
    return []
  }
}

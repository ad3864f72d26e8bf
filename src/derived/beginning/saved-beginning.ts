import { Database, SQLiteError } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import type { RecordedEvent } from '../../domain/events.ts'
import type { FoldedTo } from '../../domain/log-reference.ts'
import { type Beginning, Outage, UndecodableEvent } from '../../log/event-log.ts'
import type { InLog } from '../follower-messages.ts'
import { isOfLog, ModelUnusable, modelPath, readHead } from '../model-file.ts'
import { beginningModel, readBeginning } from './beginning-model.ts'

export type SavedBeginningParts = {
  readonly dataDir: string
  readonly logId: string
  readonly isInLog: (head: FoldedTo) => Promise<InLog>
}

/** Returns `null` if there is no file of this log. The follower begins one. @throws Outage if the file cannot be used */
export const readSavedBeginning = async (
  { dataDir, logId, isInLog }: SavedBeginningParts,
  onEvent: (event: RecordedEvent) => void,
): Promise<Beginning | null> => {
  const path = modelPath(dataDir, beginningModel.name)
  if (!existsSync(path)) return null
  try {
    using database = new Database(path, { readonly: true })
    const format = database.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version
    const head = format === beginningModel.format && isOfLog(database, logId) ? readHead(database) : null
    if (head === null) return null
    if ((await isInLog(head)) !== true) throw new ModelUnusable('the log does not have its last event')
    const steps = readBeginning(database, onEvent)
    let step = steps.next()
    while (step.done !== true) step = steps.next()
    return { ends: step.value, position: head.position }
  } catch (cause) {
    if (!(cause instanceof SQLiteError || cause instanceof ModelUnusable || cause instanceof UndecodableEvent))
      throw cause
    throw new Outage(`Cannot use ${path}: ${cause.message}`, 'not_written', 'unavailable', { cause })
  }
}

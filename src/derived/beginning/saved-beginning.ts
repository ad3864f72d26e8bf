import { Database, SQLiteError } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import type { RecordedEvent } from '../../domain/events.ts'
import type { FoldedTo } from '../../domain/log-reference.ts'
import { type Beginning, BeginningUnusable } from '../../log/event-log.ts'
import { nextTurn } from '../../log/pages-of-log.ts'
import { assertModelOf, ModelUnusable, modelPath, readHead } from '../model-file.ts'
import { beginningModel, readBeginning } from './beginning-model.ts'

export type SavedBeginningParts = {
  readonly dataDir: string
  readonly logId: string
  readonly find: (head: FoldedTo) => Promise<RecordedEvent | 'purged' | null>
}

/** `null`: there is no file yet. @throws BeginningUnusable, and the errors of `find` */
export const readSavedBeginning = async (
  { dataDir, logId, find }: SavedBeginningParts,
  onEvent: (event: RecordedEvent) => void,
): Promise<Beginning | null> => {
  const path = modelPath(dataDir, beginningModel.name)
  if (!existsSync(path)) return null
  try {
    using database = new Database(path, { readonly: true })
    assertModelOf(database, beginningModel, logId)
    const head = readHead(database)
    if (head === null) throw new ModelUnusable('it is empty')
    const found = await find(head)
    if (found === null) throw new ModelUnusable('the log does not have its last event')
    if (found === 'purged') throw new ModelUnusable('its last event was purged, so the log cannot confirm it')
    const steps = readBeginning(database, onEvent)
    for (;;) {
      const step = steps.next()
      if (step.done === true) return { ends: step.value, position: head.position }
      // A client of EventStoreDB must answer pings.
      await nextTurn()
    }
  } catch (cause) {
    if (!(cause instanceof SQLiteError || cause instanceof ModelUnusable)) throw cause
    throw new BeginningUnusable(`Cannot use ${path}: ${cause.message}`, { cause })
  }
}

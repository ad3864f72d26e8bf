/** Adds events of a type that this version does not know, as a newer version could leave them. */
import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import type { LogState } from '../log-server/state.ts'
import { appendPlainRow } from './plain-rows.ts'

export const unknownType = 'WrittenByANewerVersion'

const metadata = { by: { kind: 'system' }, requestId: 'r', correlationId: 'r', causationId: 'r' }

/** Appends to the file of the embedded log. No process may have it open. */
export const addUnknownToFile = (dataDir: string, stream: string, recordedAt: number): void => {
  using database = new Database(join(dataDir, 'log.db'), { readwrite: true })
  const event = { id: crypto.randomUUID(), type: unknownType, schemaVersion: 1, recordedAt, data: { new: 1 }, metadata }
  appendPlainRow(database, stream, { count: 1, recordedAt, body: JSON.stringify([event]) })
}

/**
 * Appends one event of an unknown type to the test log server, which stands in for EventStoreDB. `name` is the stream's name
 * there, with the prefix of the log.
 */
export const addUnknownToServer = (state: LogState, name: string, recordedAt: number): void => {
  const bytes = (value: object): Uint8Array => new TextEncoder().encode(JSON.stringify(value))
  const event = {
    id: crypto.randomUUID(),
    type: unknownType,
    contentType: 'application/json',
    data: bytes({ new: 1 }),
    metadata: bytes({ schemaVersion: 1, recordedAt, ...metadata }),
  }
  const judged = state.append({ stream: name, expected: 'any', events: [event] })
  if (judged.outcome !== 'success') throw new Error(`Cannot add to "${name}": ${judged.outcome}`)
}

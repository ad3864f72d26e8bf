/** The head says how far the log is folded into the file. */
import { Database, type SQLQueryBindings } from 'bun:sqlite'
import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { checksumOf } from '../bytes/checksum.ts'
import type { FoldedTo } from '../domain/log-reference.ts'
import { makeFolderFile } from '../log/folder-file.ts'
import type { ModelKind } from './model.ts'

/** Pages of a model's file that the follower keeps in memory, in KiB. */
const modelCacheKib = 1_024
/** How long the follower waits for another program that has locked the file of a model. */
const modelBusyMsMax = 1_000

/** The file is deleted and built again, like a damaged one. */
export class ModelUnusable extends Error {
  override readonly name = 'ModelUnusable'
}

export const modelPath = (dataDir: string, name: string): string => join(dataDir, `${name}.db`)

export const headTable = `
  CREATE TABLE head (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    position INTEGER NOT NULL,
    stream TEXT NOT NULL,
    revision INTEGER NOT NULL,
    event_id TEXT NOT NULL,
    checksum INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE of_log (id TEXT NOT NULL) STRICT;
`

/** Ends the statements of the model with the file, so that a model needs no `close`. */
export class ModelDatabase extends Database {
  readonly #statements: { finalize(): void }[] = []

  override prepare<Row, Values extends SQLQueryBindings | SQLQueryBindings[]>(sql: string, values?: Values) {
    const statement = super.prepare<Row, Values>(sql, values)
    this.#statements.push(statement)
    return statement
  }

  end(): void {
    for (const statement of this.#statements) statement.finalize()
    this.close(true)
  }
}

type HeadRow = Omit<FoldedTo, 'id'> & { readonly event_id: string; readonly checksum: number }

/** Positions of another log mean other events. @throws SQLiteError */
export const isOfLog = (database: Database, logId: string): boolean =>
  database.query<{ id: string }, []>('SELECT id FROM of_log').get()?.id === logId

export const readHead = (database: Database): FoldedTo | null => {
  const row = database.query<HeadRow, []>('SELECT position, stream, revision, event_id, checksum FROM head').get()
  if (row === null) return null
  const head = { position: row.position, stream: row.stream, revision: row.revision, id: row.event_id }
  // A damaged head could say that the log has lost its end.
  if (row.checksum !== headChecksum(head)) throw new ModelUnusable('its head does not match its checksum')
  return head
}

export const writeHead = (database: Database, head: FoldedTo): void => {
  const { position, stream, revision, id } = head
  database.query('REPLACE INTO head VALUES (1, ?, ?, ?, ?, ?)').run(position, stream, revision, id, headChecksum(head))
}

const headChecksum = ({ position, stream, revision, id }: FoldedTo): number =>
  checksumOf(`${position} ${stream} ${revision} ${id}`)

/**
 * With `synchronous = NORMAL`, a power failure can lose the last flushes. The head is written in the same transaction as
 * the rows, so the file then names an older event. @throws ModelUnusable, SQLiteError, or a system error
 */
export const openModelFile = (path: string, kind: ModelKind, logId: string): ModelDatabase => {
  makeFolderFile(path)
  const database = new ModelDatabase(path)
  try {
    database.run(`PRAGMA busy_timeout = ${modelBusyMsMax}`)
    database.run('PRAGMA synchronous = NORMAL')
    database.run('PRAGMA journal_mode = WAL')
    database.run(`PRAGMA cache_size = -${modelCacheKib}`)
    if (formatOf(database) === 0) createTables(database, kind, logId)
    assertModelOf(database, kind, logId)
    return database
  } catch (cause) {
    database.end()
    throw cause
  }
}

const formatOf = (database: Database): number | undefined =>
  database.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version

/** @throws ModelUnusable, SQLiteError */
export const assertModelOf = (database: Database, kind: ModelKind, logId: string): void => {
  const format = formatOf(database)
  if (format !== kind.format) throw new ModelUnusable(`it has format ${format}`)
  if (!isOfLog(database, logId)) throw new ModelUnusable('it was folded from another log')
}

const createTables = (database: Database, { tables, format }: ModelKind, logId: string): void => {
  database.run('BEGIN IMMEDIATE')
  database.run(headTable)
  database.run(tables)
  database.query('INSERT INTO of_log VALUES (?)').run(logId)
  database.run(`PRAGMA user_version = ${format}`)
  database.run('COMMIT')
}

/** Changes when another file takes its place. */
export const inodeOf = (path: string): number | null => statSync(path, { throwIfNoEntry: false })?.ino ?? null

export const deleteModelFile = (path: string): void => {
  for (const each of [path, `${path}-wal`, `${path}-shm`]) rmSync(each, { force: true })
}

import { Database, SQLiteError } from 'bun:sqlite'
import { storeBusyMsMax } from '../../limits.ts'
import { ChangedSchema, DataFolderUnwritable, NotACellarbookLog, UnsupportedLogFormat } from '../data-folder.ts'
import { Outage } from '../event-log.ts'
import { formatVersion, schema, schemaDifferences, statisticsTables } from './schema.ts'
import { faultOf } from './sqlite-faults.ts'

/** Small, because the operating system caches the file, too. */
const storeWriteCacheBytes = 4 * 1024 * 1024
/** Small: only searches for the ends of streams use a page more than once. */
const storeReadCacheBytes = 1 * 1024 * 1024

/** "Clrb" in ASCII. The Unix command `file` shows it. */
const applicationId = 0x436c7262
/** A commit writes whole pages. With 64 keys, commits are a fifth faster than with SQLite's 4,096 bytes. */
export const pageBytes = 2_048

export type OpenOptions = {
  /** Called for a changed SQL schema. If it returns, the file is opened. Default: throws `ChangedSchema`. */
  readonly acceptSchema?: ((differences: readonly string[]) => void) | undefined
}

/** The other program often ends soon, so a start tries again. */
export class LogFileBusy extends Outage {}

/**
 * Creates a missing file. @throws NotACellarbookLog, UnsupportedLogFormat, ChangedSchema, DataFolderUnwritable,
 * LogFileBusy, Outage
 */
export const openForReading = (path: string, { acceptSchema }: OpenOptions = {}): Database =>
  open(path, (database) => {
    const isFresh = assertOurs(database, path)
    const differences = isFresh ? [] : schemaDifferences(database)
    if (differences.length > 0) (acceptSchema ?? refuseSchema(path))(differences)
    configure(database, storeReadCacheBytes)
    clearStatistics(database)
    if (isFresh) createSchema(database)
    settleWriteAheadLog(database, path)
    database.run('PRAGMA query_only = ON')
  })

/** `openForReading` must have checked and created the file. @throws Outage */
export const openForWriting = (path: string): Database =>
  open(path, (database) => configure(database, storeWriteCacheBytes))

/**
 * Changes nothing: closing it copies no write-ahead log. @throws NotACellarbookLog, UnsupportedLogFormat,
 * DataFolderUnwritable, LogFileBusy, Outage
 */
export const openReadOnly = (path: string): Database =>
  open(
    path,
    (database) => {
      database.run(`PRAGMA busy_timeout = ${storeBusyMsMax}`)
      database.run(`PRAGMA cache_size = ${-storeReadCacheBytes / 1024}`)
      assertOurs(database, path)
    },
    { readonly: true },
  )

const open = (
  path: string,
  prepare: (database: Database) => void,
  options?: { readonly readonly: boolean },
): Database => {
  let database: Database | null = null
  try {
    database = new Database(path, options)
    prepare(database)
    return database
  } catch (cause) {
    database?.close(true)
    throw cause instanceof SQLiteError ? openFault(path, cause) : cause
  }
}

const openFault = (path: string, cause: SQLiteError): Error => {
  const { code = '', message } = cause
  if (code.startsWith('SQLITE_BUSY')) return busy(path, cause)
  if (/^SQLITE_(CANTOPEN|READONLY|PERM)/.test(code)) {
    const remedy = 'Check that the disk is not read-only, and that this user can write the folder and its files'
    return new DataFolderUnwritable(`Cannot open "${path}": ${message}. ${remedy}`, { cause })
  }
  return faultOf(`open "${path}"`, cause)
}

const busy = (path: string, cause?: unknown): LogFileBusy => {
  const why = 'another program reads or writes it, such as sqlite3 or a backup'
  const text = `Cannot open "${path}": ${why}. Wait for that program, or end it, and start again`
  return new LogFileBusy(text, 'not_written', 'unavailable', { cause })
}

const formOf = (database: Database) => {
  const form = database.query<Form, []>(formQuery).get()
  if (form === null) throw new Error('Cannot happen: SQLite does not describe the file')
  return { applicationId: form.application_id, version: form.user_version, isEmpty: form.tables === 0 }
}

type Form = { application_id: number; user_version: number; tables: number }
const formQuery = `
  SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema) AS tables
    FROM pragma_application_id, pragma_user_version
`

/** True: new, without tables. @throws NotACellarbookLog, UnsupportedLogFormat */
const assertOurs = (database: Database, path: string): boolean => {
  let form: ReturnType<typeof formOf>
  try {
    form = formOf(database)
  } catch (cause) {
    if (!(cause instanceof SQLiteError) || cause.code !== 'SQLITE_NOTADB') throw cause
    const remedy = 'If it was a log, it is damaged: check the disk, and restore a backup into an empty data folder'
    throw new NotACellarbookLog(`Cannot open "${path}" as a log: it is not a database. ${remedy}`, { cause })
  }
  const isFresh = form.isEmpty && form.applicationId === 0 && form.version === 0
  if (!isFresh && form.applicationId !== applicationId) {
    throw new NotACellarbookLog(`Cannot open "${path}" as a log: it is a database of another program`)
  }
  if (!isFresh && form.version !== formatVersion) {
    const formats = `it has format ${form.version}, and this version supports only format ${formatVersion}`
    const remedy = 'Run the version that wrote it, or set DATA_DIR to another folder'
    throw new UnsupportedLogFormat(`Cannot open "${path}": ${formats}. ${remedy}`)
  }
  return isFresh
}

const refuseSchema =
  (path: string) =>
  (differences: readonly string[]): never => {
    const litestream = differences.some((difference) => difference.includes(' _litestream_'))
      ? 'Litestream made these tables, and it must not be used with this file: it writes to it. '
      : ''
    const remedy =
      'Somebody has changed the file. Restore a backup, or copy the log to a new folder: ' +
      '"cellarbook log copy --accept-changed-schema". ' +
      '"cellarbook serve --accept-changed-schema" uses the changed file, and records that in the log'
    throw new ChangedSchema(
      `Cannot open "${path}": its schema is not what this program makes: ${differences.join(', ')}. ${litestream}${remedy}`,
    )
  }

const configure = (database: Database, cacheBytes: number): void => {
  database.run(`PRAGMA busy_timeout = ${storeBusyMsMax}`)
  // SQLite ignores this in a file that already has pages.
  database.run(`PRAGMA page_size = ${pageBytes}`)
  const mode = database.query<{ journal_mode: string }, []>('PRAGMA journal_mode = WAL').get()
  if (mode?.journal_mode !== 'wal') {
    throw new Outage('Cannot open the log: its disk allows no write-ahead log', 'not_written', 'unavailable')
  }
  database.run('PRAGMA synchronous = FULL')
  database.run(`PRAGMA cache_size = ${-cacheBytes / 1024}`)
  database.run('PRAGMA wal_autocheckpoint = 0')
  assertSettings(database)
}

/** `synchronous` 2 is FULL: commits are durable. The last setting makes SQLite test the CHECK constraints. */
const settings = { journal_mode: 'wal', synchronous: 2, ignore_check_constraints: 0 }

/** SQLite silently ignores a setting that it cannot apply. @throws Outage */
export const assertSettings = (database: Database): void => {
  for (const [name, wanted] of Object.entries(settings)) {
    const [[found] = []] = database.query(`PRAGMA ${name}`).values()
    if (found === wanted) continue
    throw new Outage(`Cannot open the log: SQLite has ${name} ${found}, not ${wanted}`, 'not_written', 'unavailable')
  }
}

/** Statistics of a small log would make SQLite read whole tables of the log that has grown. */
const clearStatistics = (database: Database): void => {
  const found = database.query<{ name: string }, []>(
    `SELECT name FROM sqlite_schema WHERE name IN (${statisticsTables})`,
  )
  const names = found.all().map(({ name }) => name)
  for (const name of names) database.run(`DELETE FROM ${name}`)
  // This connection has read them already, and reads them again now.
  if (names.length > 0) database.run('ANALYZE sqlite_schema')
}

const createSchema = (database: Database): void => {
  database.run('BEGIN IMMEDIATE')
  database.run(schema)
  markAsOurs(database)
  database.run('COMMIT')
}

export const markAsOurs = (database: Database): void => {
  database.run(`PRAGMA application_id = ${applicationId}`)
  database.run(`PRAGMA user_version = ${formatVersion}`)
}

/**
 * Without this copy, a power failure could delete events that the node has already read (docs/protocol.md, "A failed
 * fsync").
 */
const settleWriteAheadLog = (database: Database, path: string): void => {
  if (copyWal(database, 'FULL').isBlocked) throw busy(path)
}

export type WalCopy = {
  /** Another connection has stopped the copying. */
  readonly isBlocked: boolean
  readonly pages: number
  readonly copied: number
}

/**
 * `NOOP` only counts pages. `PASSIVE` copies without waiting. `FULL` waits at most `storeBusyMsMax` for readers and
 * writers. `TRUNCATE` also empties the write-ahead log.
 */
export const copyWal = (database: Database, mode: 'NOOP' | 'PASSIVE' | 'FULL' | 'TRUNCATE'): WalCopy => {
  const row = database.query<WalCopyRow, []>(`PRAGMA wal_checkpoint(${mode})`).get()
  if (row === null) throw new Error('Cannot happen: SQLite does not answer wal_checkpoint')
  return { isBlocked: row.busy !== 0, pages: row.log, copied: row.checkpointed }
}

type WalCopyRow = { busy: number; log: number; checkpointed: number }

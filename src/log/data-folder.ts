import { Database, SQLiteError } from 'bun:sqlite'
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../domain/error-message.ts'
import { LogUnusable } from './event-log.ts'
import { inspectDataFolder, type Surroundings, systemSurroundings } from './folder-access.ts'
import { makeFolderFile } from './folder-file.ts'
import { isMalformed } from './sqlite/sqlite-faults.ts'

const logFileName = 'log.db'
const lockFileName = 'log.lock'
const folderMode = 0o700

export class DataFolderUnwritable extends LogUnusable {}

export class DataFolderShared extends LogUnusable {}

/** By another process, or by another log in this process. */
export class DataFolderHeld extends LogUnusable {}

/** `log.db` is no SQLite file, or a database of another program. */
export class NotACellarbookLog extends LogUnusable {}

/** An older or a newer version has written `log.db`. */
export class UnsupportedLogFormat extends LogUnusable {}

export class ChangedSchema extends LogUnusable {}

export const logPathIn = (path: string): string => join(path, logFileName)

export type DataFolder = { readonly logPath: string; readonly lockPath: string; release(): void }

/** Returns warnings. @throws DataFolderShared if other users of the machine can change files, unless `allowShared` */
export const checkDataFolder = (
  path: string,
  { allowShared }: { readonly allowShared: boolean },
  surroundings: Surroundings = systemSurroundings(),
): readonly string[] => {
  const { faults, warnings } = inspectDataFolder(path, surroundings)
  if (allowShared || faults.length === 0) return [...faults, ...warnings]
  const otherwise = 'If its file system has no owners or modes, set ALLOW_SHARED_DATA_DIR=1'
  throw new DataFolderShared(`Cannot use the data folder "${path}": ${faults.join('. ')}. ${otherwise}`)
}

export type HoldOptions = {
  /** False if the log is in EventStoreDB. Default: true. */
  readonly hasLog?: boolean
  readonly allowShared?: boolean
  readonly onWarning?: ((warning: string) => void) | undefined
}

/**
 * Locked until `release` or the end of the process. The lock is a file of its own, so that other programs can read the log.
 * @throws DataFolderUnwritable, DataFolderShared, DataFolderHeld
 */
export const holdDataFolder = (
  path: string,
  { hasLog = true, allowShared = false, onWarning }: HoldOptions = {},
): DataFolder => {
  const logPath = join(path, logFileName)
  const lockPath = join(path, lockFileName)
  try {
    mkdirSync(path, { recursive: true, mode: folderMode })
  } catch (cause) {
    throw unwritable(path, cause)
  }
  // Before any file is opened: another user can have put it there.
  for (const warning of checkDataFolder(path, { allowShared })) onWarning?.(warning)
  try {
    makeFolderFile(lockPath)
    if (hasLog) makeFolderFile(logPath)
    syncFolder(path)
  } catch (cause) {
    throw unwritable(path, cause)
  }

  return { logPath, lockPath, release: lockFile(path, lockPath) }
}

/**
 * One backup of a log into a folder at a time. The lock is not in the data folder, whose disk can be full. Its file stays: if
 * it was deleted, two backups could lock different files. Returns the function that releases the lock.
 * @throws DataFolderUnwritable, DataFolderHeld
 */
export const holdBackups = (path: string, logId: string): (() => void) => {
  const lockPath = join(path, `.cellarbook-${logId}.lock`)
  try {
    makeFolderFile(lockPath)
  } catch (cause) {
    throw unwritable(path, cause)
  }
  return lockFile(path, lockPath)
}

export const isFolderHeld = (path: string): boolean => {
  const lockPath = join(path, lockFileName)
  if (!existsSync(lockPath)) return false
  try {
    using lock = new Database(lockPath, { readonly: true })
    lock.run('PRAGMA busy_timeout = 0')
    lock.query('SELECT count(*) FROM sqlite_schema').get()
    return false
  } catch (cause) {
    if (cause instanceof SQLiteError && cause.code?.startsWith('SQLITE_BUSY')) return true
    if (cause instanceof SQLiteError) return false
    throw cause
  }
}

/** Returns the function that releases the lock. @throws DataFolderUnwritable, DataFolderHeld */
const lockFile = (path: string, lockPath: string): (() => void) => {
  let lock: Database | null = null
  try {
    const opened = new Database(lockPath)
    lock = opened
    opened.run('PRAGMA busy_timeout = 0')
    opened.run('BEGIN EXCLUSIVE')
    return () => opened.close(true)
  } catch (cause) {
    lock?.close(true)
    if (!(cause instanceof SQLiteError)) throw cause
    // Only `SQLITE_BUSY` means that the lock is held. With any other error, SQLite could not write the lock file, for
    // example on a full disk.
    if (isMalformed(cause)) {
      const remedy = `The file holds no data: if no service and no command uses this folder, delete "${lockPath}"`
      throw new DataFolderUnwritable(`Cannot lock the data folder "${path}": "${lockPath}" is damaged. ${remedy}`, {
        cause,
      })
    }
    if (!cause.code?.startsWith('SQLITE_BUSY')) throw unwritable(path, cause)
    throw new DataFolderHeld(
      `Cannot use the data folder "${path}": another process holds it. Stop that process first`,
      {
        cause,
      },
    )
  }
}

/** Without an fsync of the folder, a power failure could lose the new files. */
const syncFolder = (path: string): void => {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

const unwritable = (path: string, cause: unknown): DataFolderUnwritable =>
  new DataFolderUnwritable(`Cannot write to the data folder "${path}": ${messageOf(cause)}`, { cause })

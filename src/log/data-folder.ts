import { Database, SQLiteError } from 'bun:sqlite'
import { accessSync, closeSync, constants, existsSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../domain/error-message.ts'
import { inspectDataFolder, type Surroundings, systemSurroundings } from './folder-access.ts'

const logFileName = 'log.db'
const lockFileName = 'log.lock'
/** Only their owner may read them: they hold e-mail addresses and password hashes. */
const fileMode = 0o600
const folderMode = 0o700

/** The data folder can't be made or written. */
export class DataFolderUnwritable extends Error {
  override readonly name = 'DataFolderUnwritable'
}

/** Another user can change what lies in the data folder. */
export class DataFolderShared extends Error {
  override readonly name = 'DataFolderShared'
}

/** Another process, or another log in this one, holds the data folder. */
export class DataFolderHeld extends Error {
  override readonly name = 'DataFolderHeld'
}

/** The file that should be the log is something else. */
export class NotACellarbookLog extends Error {
  override readonly name = 'NotACellarbookLog'
}

/** The log was written by a newer version, in a form that this one does not know. */
export class NewerLogFormat extends Error {
  override readonly name = 'NewerLogFormat'
}

/** Tables, indexes or triggers of the log's file are not those that this program makes: somebody has changed the file. */
export class ChangedSchema extends Error {
  override readonly name = 'ChangedSchema'
}

/** Where the log lies in a data folder, if there is one. */
export const logPathIn = (path: string): string => join(path, logFileName)

export type DataFolder = { readonly logPath: string; release(): void }

/**
 * The warnings: others can read the folder, or they can write it and `allowShared` accepts that.
 * @throws DataFolderShared
 */
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
  /** Whether the log is in the folder: another engine stores it elsewhere. */
  readonly hasLog?: boolean
  readonly allowShared?: boolean
  /** Told of each warning of `checkDataFolder`. */
  readonly onWarning?: ((warning: string) => void) | undefined
}

/**
 * Makes the folder and its files if they are missing, and holds it until it is released or the process ends, however it
 * ends: the operating system lets go of the lock, so that nothing is left to clean up after a crash.
 *
 * The lock is a database of its own beside the log. Locking the log itself would shut out whoever wants to read it.
 *
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
  // Before any file is opened: others may have put something there for this process to read.
  for (const warning of checkDataFolder(path, { allowShared })) onWarning?.(warning)
  try {
    makeFile(lockPath)
    if (hasLog) makeFile(logPath)
    syncFolder(path)
  } catch (cause) {
    throw unwritable(path, cause)
  }

  const lock = new Database(lockPath)
  try {
    lock.run('PRAGMA busy_timeout = 0')
    lock.run('BEGIN EXCLUSIVE')
  } catch (cause) {
    lock.close(true)
    if (!(cause instanceof SQLiteError)) throw cause
    // Even a lock is written: on a full disk there is none.
    if (!cause.code?.startsWith('SQLITE_BUSY')) throw unwritable(path, cause)
    throw new DataFolderHeld(`Cannot use the data folder "${path}": another process holds it`, { cause })
  }
  return { logPath, release: () => lock.close(true) }
}

/**
 * A file that is there is only asked about, never opened: POSIX takes away all locks of a process on a file as soon as the
 * process closes any descriptor of it, and the log that holds this folder may be in this very process.
 */
const makeFile = (path: string): void => {
  if (!existsSync(path)) {
    closeSync(openSync(path, 'wx', fileMode))
    return
  }
  if (!statSync(path).isFile()) throw new Error(`"${path}" is not a file`)
  accessSync(path, constants.R_OK | constants.W_OK)
}

/** Without this a power cut could forget that the files exist. */
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

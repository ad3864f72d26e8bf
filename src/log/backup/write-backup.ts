import { SQLiteError } from 'bun:sqlite'
import { createReadStream, existsSync, mkdirSync, realpathSync, rmSync, statfsSync, statSync } from 'node:fs'
import { dirname, join, resolve, sep } from 'node:path'
import { instantText } from '../../domain/calendar.ts'
import { isSystemError, messageOf } from '../../domain/error-message.ts'
import { DataFolderHeld, DataFolderUnwritable, holdBackups, logPathIn } from '../data-folder.ts'
import { makeFolderFile } from '../folder-file.ts'
import { nextTurn } from '../pages-of-log.ts'
import { faultOf } from '../sqlite/sqlite-faults.ts'
import { openReadOnly } from '../sqlite/sqlite-file.ts'
import { readLogEnd } from '../tail/log-end.ts'
import { checkLogEnd, type EndCheck } from '../tail/missing-end.ts'
import { damageText } from '../verify/damage-kinds.ts'
import { type VerifyProgress, verifyCopy } from '../verify/run-verify.ts'
import {
  assertFree,
  type Backup,
  BackupRefused,
  backupEnd,
  backupNameAt,
  deleteOldBackups,
  type Manifest,
  publishBackup,
} from './backup-files.ts'
import { copyRows } from './copy-rows.ts'
import { writeLastBackup } from './last-backup.ts'

export class BackupDamaged extends Error {}

export type BackupProgress = {
  readonly phase: 'copying' | 'hashing' | VerifyProgress['phase']
  readonly events: number
  readonly share: number
}

export type BackupParts = Pick<EndCheck, 'marks'> & {
  readonly dataDir: string
  /** A file that ends with `backupEnd`, or a folder. */
  readonly target: string
  /** How many backups of this log stay in the folder. `null`: all. Not for a file. */
  readonly keep: number | null
  /** Stays free on the disk of the data folder. */
  readonly reserveBytes: number
  readonly version: string
  readonly now: () => number
  readonly onProgress: (progress: BackupProgress) => void
  /** The backup is complete, but what follows it failed. */
  readonly onWarning: (warning: string) => void
}

export type WrittenBackup = Backup & { readonly deleted: readonly string[] }

/**
 * Works beside a running service. @throws BackupRefused, BackupDamaged, LogEndMissing, and the errors of `openReadOnly`
 */
export const writeBackup = async (parts: BackupParts): Promise<WrittenBackup> => {
  const { dataDir, marks } = parts
  const logPath = logPathIn(dataDir)
  checkLogEnd(logPath, { marks })
  const { logId, bytes } = sizeOf(logPath)
  const path = pathOf(parts)
  const folder = dirname(path)
  let release = (): void => {}
  try {
    makeFolder(folder, dataDir)
    release = hold(folder, logId)
    assertFree(path)
    assertRoom(folder, bytes, parts)
    const backup = await writeVerified({ logId, logPath, path }, parts)
    return { ...backup, deleted: finishBackup(backup, parts) }
  } catch (cause) {
    throw isSystemError(cause) ? cannotWrite(path, cause) : cause
  } finally {
    release()
  }
}

/** Returns the deleted paths. */
const finishBackup = (backup: Backup, { dataDir, keep, onWarning }: BackupParts): readonly string[] => {
  const { path, manifest } = backup
  const { lastPosition, bytes } = manifest
  try {
    writeLastBackup(dataDir, { endedAt: Date.parse(manifest.endedAt), lastPosition, bytes, target: path })
  } catch (cause) {
    onWarning(`The backup was written, but "${dataDir}" cannot remember it: ${systemMessageOf(cause)}`)
  }
  try {
    return keep === null ? [] : deleteOldBackups(backup, keep)
  } catch (cause) {
    onWarning(`The backup was written, but older ones cannot be deleted: ${systemMessageOf(cause)}`)
    return []
  }
}

/** Rethrows a bug. */
const systemMessageOf = (cause: unknown): string => {
  if (!isSystemError(cause)) throw cause
  return messageOf(cause)
}

const cannotWrite = (path: string, cause: unknown): BackupRefused =>
  new BackupRefused(`Cannot write the backup to "${path}": ${messageOf(cause)}`, { cause })

/** Deleted rows leave empty pages, which a backup does not have. */
const sizeOf = (logPath: string): { readonly logId: string; readonly bytes: number } => {
  using database = openReadOnly(logPath)
  const { logId } = readLogEnd(database)
  if (logId === null) throw new BackupRefused(`There is nothing to back up: "${logPath}" has no event`)
  const pages = database
    .query<{ bytes: number }, []>(`
      SELECT (page_count - freelist_count) * page_size AS bytes
        FROM pragma_page_count, pragma_freelist_count, pragma_page_size
    `)
    .get()
  return { logId, bytes: pages?.bytes ?? 0 }
}

const pathOf = ({ target, now }: BackupParts): string =>
  target.endsWith(backupEnd) ? resolve(target) : join(resolve(target), backupNameAt(now()))

const hold = (folder: string, logId: string): (() => void) => {
  try {
    return holdBackups(folder, logId)
  } catch (cause) {
    if (cause instanceof DataFolderUnwritable) throw cannotWrite(folder, cause.cause)
    if (!(cause instanceof DataFolderHeld)) throw cause
    throw new BackupRefused(`Another backup of this log into "${folder}" runs. Wait for its end`, { cause })
  }
}

const makeFolder = (folder: string, dataDir: string): void => {
  if (`${realpathSync(existingOf(folder))}${sep}`.startsWith(`${realpathSync(dataDir)}${sep}`))
    throw new BackupRefused(`Cannot write a backup into the data folder "${dataDir}": it would be lost with the log`)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
}

/** The folder, or the nearest one above it that exists. */
const existingOf = (folder: string): string => (existsSync(folder) ? folder : existingOf(dirname(folder)))

/** On its own disk, the log would refuse readings if the backup took the reserve. */
const assertRoom = (folder: string, bytes: number, { dataDir, reserveBytes }: BackupParts): void => {
  const { bavail, bsize } = statfsSync(folder)
  const reserve = statSync(folder).dev === statSync(dataDir).dev ? reserveBytes : 0
  if (bavail * bsize >= bytes + reserve) return
  const wanted = `The backup takes ${sizeText(bytes)}, and ${sizeText(bavail * bsize)} are free`
  const besides = reserve === 0 ? '' : `. Of these, the log needs ${sizeText(reserve)} (DISK_RESERVE)`
  throw new BackupRefused(`Cannot write a backup to "${folder}": the disk has too little room. ${wanted}${besides}`)
}

const sizeText = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`

type Writing = { readonly logId: string; readonly logPath: string; readonly path: string }

const writeVerified = async ({ logId, logPath, path }: Writing, parts: BackupParts): Promise<Backup> => {
  const { version, now, onProgress } = parts
  const begunAt = now()
  const partial = join(dirname(path), `.cellarbook-${logId}.partial`)
  try {
    rmSync(partial, { force: true })
    makeFolderFile(partial)
    await copyLogFile(logPath, partial, onProgress)
    const { first, events, streams } = await verifyCopy(partial, onProgress)
    if (first !== null) throw damaged(damageText(first))
    const { position, recordedAt } = endOf(partial)
    const sha256 = await digestFile(partial, (share) => onProgress({ phase: 'hashing', events, share }))
    const manifest: Manifest = {
      version,
      logId,
      lastPosition: position,
      lastRecordedAt: instantText(recordedAt),
      begunAt: instantText(begunAt),
      endedAt: instantText(now()),
      events,
      streams,
      bytes: statSync(partial).size,
      sha256,
    }
    publishBackup(partial, { path, manifest })
    return { path, manifest }
  } catch (cause) {
    rmSync(partial, { force: true })
    throw cause
  }
}

const copyLogFile = async (logPath: string, partial: string, onProgress: BackupParts['onProgress']): Promise<void> => {
  try {
    for (const { position, share } of copyRows(logPath, partial)) {
      onProgress({ phase: 'copying', events: position, share })
      // Lets a signal end the command.
      await nextTurn()
    }
  } catch (cause) {
    if (!(cause instanceof SQLiteError)) throw cause
    const { code = '', message } = cause
    if (/^SQLITE_(FULL|IOERR_(WRITE|FSYNC|TRUNCATE))/.test(code)) throw cannotWrite(partial, cause)
    if (code.startsWith('SQLITE_CONSTRAINT')) throw damaged(`an unknown place: ${message}`)
    throw faultOf(`copy "${logPath}"`, cause)
  }
}

const damaged = (what: string): BackupDamaged => {
  const remedy = 'Check the disk, and restore an earlier backup into an empty data folder'
  return new BackupDamaged(`No backup was written, because the log is damaged at ${what}. ${remedy}`)
}

const endOf = (path: string) => {
  using database = openReadOnly(path)
  return readLogEnd(database)
}

const hashedBytesAtOnce = 1024 * 1024

/** @throws a system error */
export const digestFile = async (path: string, onShare: (share: number) => void): Promise<string> => {
  const { size } = statSync(path)
  const hash = new Bun.CryptoHasher('sha256')
  let bytes = 0
  for await (const chunk of createReadStream(path, { highWaterMark: hashedBytesAtOnce })) {
    hash.update(chunk)
    bytes += chunk.length
    onShare(bytes / size)
  }
  return hash.digest('hex')
}

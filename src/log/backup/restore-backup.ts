import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isSystemError, messageOf } from '../../domain/error-message.ts'
import { holdDataFolder, logPathIn } from '../data-folder.ts'
import { type Naming, recordRestored } from '../log-identity.ts'
import { openReadOnly } from '../sqlite/sqlite-file.ts'
import { openSqliteLog } from '../sqlite/sqlite-log.ts'
import { readLogEnd } from '../tail/log-end.ts'
import { damageText } from '../verify/damage-kinds.ts'
import { verifyCopy } from '../verify/run-verify.ts'
import {
  BackupRefused,
  backupPathOf,
  isManifestPath,
  type Manifest,
  manifestPathOf,
  readManifest,
  syncPath,
} from './backup-files.ts'
import { BackupDamaged, type BackupProgress, digestFile } from './write-backup.ts'

export type CheckedBackup = {
  /** Of the file. */
  readonly path: string
  readonly sha256: string
  /** `null`: there is none, so only the log itself was checked. */
  readonly manifest: Manifest | null
  readonly logId: string
  readonly lastPosition: number
  /** In ms since 1970. */
  readonly lastRecordedAt: number
  readonly events: number
  readonly keys: number
  readonly cellars: number
}

export type Restoring = {
  readonly dataDir: string
  readonly allowShared: boolean
}

/** Changes nothing. `from` is a backup or its manifest. @throws BackupRefused, BackupDamaged */
export const checkBackup = async (
  from: string,
  { dataDir, onProgress }: Pick<Restoring, 'dataDir'> & { readonly onProgress: (progress: BackupProgress) => void },
): Promise<CheckedBackup> => {
  assertEmpty(dataDir)
  const path = resolve(isManifestPath(from) ? backupPathOf(from) : from)
  if (!existsSync(path) || !statSync(path).isFile())
    throw new BackupRefused(`Cannot restore "${from}": ${noFile(path)}`)
  assertWhole(path)
  const manifestPath = manifestPathOf(path)
  const manifest = readManifest(manifestPath)
  if (manifest === null && (isManifestPath(from) || existsSync(manifestPath)))
    throw new BackupDamaged(`Cannot restore "${from}": "${manifestPath}" is no manifest of a backup, or cannot be read`)
  const sha256 = await digestFile(path, (share) =>
    onProgress({ phase: 'hashing', events: manifest?.events ?? 0, share }),
  )
  if (manifest !== null && manifest.sha256 !== sha256)
    throw new BackupDamaged(`Cannot restore "${path}": its SHA-256 is not that of its manifest. ${useAnother}`)
  const { first, events } = await verifyCopy(path, onProgress)
  if (first !== null)
    throw new BackupDamaged(`Cannot restore "${path}": the log in it is damaged at ${damageText(first)}. ${useAnother}`)
  return { path, sha256, manifest, events, ...contentOf(path) }
}

const noFile = (path: string): string => (existsSync(path) ? 'it is no file' : `there is no file "${path}"`)

/** SQLite would read what the copy of the one file lacks. */
const assertWhole = (path: string): void => {
  const beside = [`${path}-wal`, `${path}-journal`].find((name) => statSync(name, { throwIfNoEntry: false })?.size)
  if (beside === undefined) return
  const remedy = `Run "cellarbook backup" with DATA_DIR set to its folder, and restore that backup`
  throw new BackupRefused(`Cannot restore "${path}": a part of the log is in "${beside}". ${remedy}`)
}

const useAnother = 'It has changed since it was written. Use another backup'

const workFolder = 'restore.partial'
/** A restore holds the folder, and can be ended. A new file system can have the last one. */
const mayBeThere: readonly string[] = ['log.lock', 'log.lock-journal', workFolder, 'lost+found']

const assertEmpty = (dataDir: string): void => {
  const [found] = existsSync(dataDir) ? readdirSync(dataDir).filter((name) => !mayBeThere.includes(name)) : []
  if (found === undefined) return
  const remedy = 'Set DATA_DIR to an empty folder'
  throw new BackupRefused(`Cannot restore into "${dataDir}": it is not empty, and has "${found}". ${remedy}`)
}

const contentOf = (path: string) => {
  using database = openReadOnly(path)
  const { logId, position, recordedAt } = readLogEnd(database)
  if (logId === null) throw new BackupRefused(`Cannot restore "${path}": it has no event`)
  const streams = database.query<{ count: number }, [string]>('SELECT count(*) AS count FROM streams WHERE name GLOB ?')
  const countOf = (names: string): number => streams.get(names)?.count ?? 0
  return {
    logId,
    lastPosition: position,
    lastRecordedAt: recordedAt,
    keys: countOf('key-*'),
    cellars: countOf('cellar-*'),
  }
}

/**
 * The log gets its name in the data folder when it is complete and says that it was restored. @throws BackupRefused,
 * BackupDamaged, DataFolderHeld, DataFolderShared, DataFolderUnwritable, UnsupportedLogFormat, Outage
 */
export const restoreBackup = async (
  backup: CheckedBackup,
  { dataDir, allowShared, ...naming }: Restoring & Naming,
): Promise<void> => {
  const folder = holdDataFolder(dataDir, { hasLog: false, allowShared })
  const work = join(dataDir, workFolder)
  try {
    assertEmpty(dataDir)
    rmSync(work, { recursive: true, force: true })
    mkdirSync(work, { mode: 0o700 })
    const written = logPathIn(work)
    copyFileSync(backup.path, written)
    // The copy has the mode of the backup.
    chmodSync(written, 0o600)
    syncPath(written)
    const sha256 = await digestFile(written, () => {})
    if (sha256 !== backup.sha256 || contentOf(written).lastPosition !== backup.lastPosition)
      throw new BackupDamaged(`Cannot restore "${backup.path}": it has changed, or a disk returns wrong bytes`)
    await markAsRestored(work, backup, { allowShared, ...naming })
    renameSync(written, folder.logPath)
    syncPath(dataDir)
  } catch (cause) {
    if (!isSystemError(cause)) throw cause
    throw new BackupRefused(`Cannot restore into "${dataDir}": ${messageOf(cause)}`, { cause })
  } finally {
    rmSync(work, { recursive: true, force: true })
    folder.release()
  }
}

const markAsRestored = async (
  dataDir: string,
  backup: CheckedBackup,
  { allowShared, ...naming }: Pick<Restoring, 'allowShared'> & Naming,
): Promise<void> => {
  const log = openSqliteLog({ dataDir, allowSharedFolder: allowShared })
  try {
    await recordRestored(log, backup, naming)
  } finally {
    await log.close()
  }
  // Closing copies the write-ahead log. What would be left there would be lost with this folder.
  if (existsSync(`${logPathIn(dataDir)}-wal`))
    throw new BackupRefused(`Cannot restore into "${dataDir}": another program reads it`)
}

/** A backup is two files: the log, and beside it a manifest that says what it is. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { instantText } from '../../domain/calendar.ts'

/** Nothing that counts as a backup was written, and nothing was restored. */
export class BackupRefused extends Error {}

/** A file with this end is a backup of the log. */
export const backupEnd = '.db'
const manifestEnd = '.json'

/** In a folder. Sorted by name, they are sorted by time. */
export const backupNameAt = (ms: number): string => `cellarbook-${instantText(ms).replaceAll(/[-:.]/g, '')}${backupEnd}`

const isNamedByTime = (path: string): boolean => /^cellarbook-\d{8}T\d{9}Z\.db$/.test(basename(path))

export const Manifest = Type.Object({
  /** The version of the program. */
  version: Type.String(),
  logId: Type.String(),
  lastPosition: Type.Integer(),
  /** When the last event was recorded. Like all instants here, in ISO 8601. */
  lastRecordedAt: Type.String(),
  begunAt: Type.String(),
  endedAt: Type.String(),
  events: Type.Integer(),
  streams: Type.Integer(),
  bytes: Type.Integer(),
  sha256: Type.String(),
})
export type Manifest = Static<typeof Manifest>

export type Backup = { readonly path: string; readonly manifest: Manifest }

export const manifestPathOf = (path: string): string => `${path}${manifestEnd}`

export const isManifestPath = (path: string): boolean => path.endsWith(`${backupEnd}${manifestEnd}`)

export const backupPathOf = (manifestPath: string): string => manifestPath.slice(0, -manifestEnd.length)

/** `null` if it is missing, or no manifest. */
export const readManifest = (path: string): Manifest | null => {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return Value.Check(Manifest, value) ? value : null
  } catch (cause) {
    if (cause instanceof SyntaxError || (cause instanceof Error && 'code' in cause)) return null
    throw cause
  }
}

/** @throws BackupRefused if there is a file, or a manifest, which can be of a file that was moved or compressed */
export const assertFree = (path: string): void => {
  const found = [path, manifestPathOf(path)].find((name) => existsSync(name))
  if (found !== undefined) throw new BackupRefused(`Cannot write the backup to "${path}": "${found}" exists already`)
}

/**
 * The last step gives the file its name, so a backup is complete or absent. The manifest claims the name: of two backups
 * that are written to one file at once, the second is refused. A kill before the last step leaves a manifest without a file.
 */
export const publishBackup = (written: string, { path, manifest }: Backup): void => {
  syncPath(written)
  assertFree(path)
  const manifestPath = manifestPathOf(path)
  const file = openSync(manifestPath, 'wx', 0o600)
  try {
    writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`)
    fsyncSync(file)
    syncPath(dirname(path))
    renameSync(written, path)
  } catch (cause) {
    rmSync(manifestPath, { force: true })
    throw cause
  } finally {
    closeSync(file)
  }
  syncPath(dirname(path))
}

/** A file or a folder. */
export const syncPath = (path: string): void => {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** In `folder`, by their manifests. Of those that are named by time, the newest comes first. */
export const backupsOf = (logId: string, folder: string): readonly Backup[] =>
  readdirSync(folder)
    .filter(isManifestPath)
    // Names by time sort as their times. A manifest is text, which anybody can have changed.
    .sort()
    .reverse()
    .flatMap((name): Backup[] => {
      const manifestPath = join(folder, name)
      const manifest = readManifest(manifestPath)
      return manifest?.logId === logId ? [{ path: backupPathOf(manifestPath), manifest }] : []
    })

/**
 * Keeps `newest` and the newest others of this log. A file stays if a person has named it, or if its size is not that of its
 * manifest. Returns the deleted paths.
 */
export const deleteOldBackups = (newest: Backup, keep: number): readonly string[] => {
  const others = backupsOf(newest.manifest.logId, dirname(newest.path)).filter(
    ({ path, manifest }) =>
      path !== newest.path && isNamedByTime(path) && statSync(path, { throwIfNoEntry: false })?.size === manifest.bytes,
  )
  const old = others.slice(keep - 1).map(({ path }) => path)
  for (const path of old) {
    rmSync(path)
    rmSync(manifestPathOf(path))
  }
  return old
}

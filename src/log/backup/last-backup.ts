import { closeSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import { openFolderFile, readFolderJson } from '../folder-file.ts'

export const LastBackup = Type.Object({
  /** In ms since 1970. */
  endedAt: Type.Integer(),
  lastPosition: Type.Integer(),
  bytes: Type.Integer(),
  /** The path of the file. */
  target: Type.String(),
})
export type LastBackup = Static<typeof LastBackup>

const pathIn = (dataDir: string): string => join(dataDir, 'backup.json')

/** `null`: none is known. */
export const readLastBackup = (dataDir: string): Promise<LastBackup | null> =>
  readFolderJson(pathIn(dataDir), LastBackup)

/** @throws a system error */
export const writeLastBackup = (dataDir: string, { endedAt, lastPosition, bytes, target }: LastBackup): void => {
  const path = pathIn(dataDir)
  // A full disk must not cut off what the file has.
  const written = `${path}.new`
  const file = openFolderFile(written, 'replace')
  try {
    writeSync(file, `${JSON.stringify({ endedAt, lastPosition, bytes, target })}\n`)
  } finally {
    closeSync(file)
  }
  renameSync(written, path)
}

import { closeSync, constants, renameSync, writeSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { openFolderFile } from '../folder-file.ts'

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

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

/** `null`: none is known, or a crash has cut off the file. A disk that does not answer must not stop the event loop. */
export const readLastBackup = async (dataDir: string): Promise<LastBackup | null> => {
  try {
    await using file = await open(pathIn(dataDir), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    const value: unknown = JSON.parse(await file.readFile('utf8'))
    return Value.Check(LastBackup, value) ? value : null
  } catch (cause) {
    if (cause instanceof SyntaxError || (cause instanceof Error && 'code' in cause)) return null
    throw cause
  }
}

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

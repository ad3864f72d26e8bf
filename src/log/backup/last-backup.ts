import { closeSync, readFileSync, writeSync } from 'node:fs'
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

/** `null`: none is known, or a crash has cut off the file. */
export const readLastBackup = (dataDir: string): LastBackup | null => {
  let file: number | null = null
  try {
    file = openFolderFile(pathIn(dataDir), 'read')
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return Value.Check(LastBackup, value) ? value : null
  } catch (cause) {
    if (cause instanceof SyntaxError || (cause instanceof Error && 'code' in cause)) return null
    throw cause
  } finally {
    if (file !== null) closeSync(file)
  }
}

/** @throws a system error */
export const writeLastBackup = (dataDir: string, { endedAt, lastPosition, bytes, target }: LastBackup): void => {
  const file = openFolderFile(pathIn(dataDir), 'replace')
  try {
    writeSync(file, `${JSON.stringify({ endedAt, lastPosition, bytes, target })}\n`)
  } finally {
    closeSync(file)
  }
}

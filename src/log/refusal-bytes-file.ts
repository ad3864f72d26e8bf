import { closeSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isSystemError } from '../domain/error-message.ts'
import type { KeptBytes, TakenBytes } from '../domain/refusals/bytes-of-day.ts'
import { openFolderFile } from './folder-file.ts'

/** The file `refusal-bytes` has the day and the bytes, as two numbers. Another content counts as no file. */
export const refusalBytesFile = (dataDir: string): KeptBytes => {
  const path = join(dataDir, 'refusal-bytes')
  return {
    load: () => read(path),
    // The file is tiny and rarely written, so the event loop can write it.
    save: ({ day, bytes }) => using(path, 'replace', (file) => writeFileSync(file, `${day} ${bytes}\n`)),
  }
}

const read = (path: string): TakenBytes | null => {
  const text = using(path, 'read', (file) => readFileSync(file, 'latin1')) ?? ''
  const [, day, bytes] = /^(\d{1,7}) (\d{1,12})\n$/.exec(text) ?? []
  return day === undefined ? null : { day: Number(day), bytes: Number(bytes) }
}

/** Without the file, the count in memory bounds what this process writes. */
const using = <T>(path: string, access: 'read' | 'replace', use: (file: number) => T): T | null => {
  try {
    const file = openFolderFile(path, access)
    try {
      return use(file)
    } finally {
      closeSync(file)
    }
  } catch (cause) {
    if (!isSystemError(cause)) throw cause
    return null
  }
}

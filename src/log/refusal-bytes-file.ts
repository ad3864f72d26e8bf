import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isSystemError } from '../domain/error-message.ts'
import type { KeptBytes, TakenBytes } from '../domain/refusals/bytes-of-day.ts'

const fileMode = 0o600

/** The file `refusal-bytes` has the day and the bytes, as two numbers. Another content counts as no file. */
export const refusalBytesFile = (dataDir: string): KeptBytes => {
  const path = join(dataDir, 'refusal-bytes')
  return {
    load: () => read(path),
    // The file is tiny and rarely written, so the event loop can write it.
    save: ({ day, bytes }) => unlessFaulty(() => writeFileSync(path, `${day} ${bytes}\n`, { mode: fileMode })),
  }
}

const read = (path: string): TakenBytes | null => {
  const text = unlessFaulty(() => readFileSync(path, 'latin1')) ?? ''
  const [, day, bytes] = /^(\d{1,7}) (\d{1,12})\n$/.exec(text) ?? []
  return day === undefined ? null : { day: Number(day), bytes: Number(bytes) }
}

/** Without the file, the count in memory bounds what this process writes. */
const unlessFaulty = <T>(use: () => T): T | null => {
  try {
    return use()
  } catch (cause) {
    if (!isSystemError(cause)) throw cause
    return null
  }
}

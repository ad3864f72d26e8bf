/** Only a thread may import this file, because the code below runs at import. */
import { Database, SQLiteError } from 'bun:sqlite'
import { isMalformed } from '../log/sqlite/sqlite-faults.ts'
import { yieldProcessor } from '../log/verify/yield-processor.ts'
import { modelPath } from './model-file.ts'
import type { QuickChecked, ToQuickCheck } from './quick-checks.ts'

declare const self: Worker

self.onmessage = ({ data: { dataDir, models } }: MessageEvent<ToQuickCheck>): void => {
  yieldProcessor()
  for (const model of models) {
    const checked: QuickChecked = { model, damage: damageIn(modelPath(dataDir, model)) }
    self.postMessage(checked)
  }
}

/** `null`: none was found, or the file cannot be read now. */
const damageIn = (path: string): string | null => {
  try {
    using database = new Database(path, { readonly: true })
    const found = String(database.query('PRAGMA quick_check(1)').values()[0]?.[0])
    return found === 'ok' ? null : found
  } catch (cause) {
    if (!(cause instanceof SQLiteError)) throw cause
    return isMalformed(cause) ? cause.message : null
  }
}

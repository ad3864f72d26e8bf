import { join } from 'node:path'
import { Type } from '@sinclair/typebox'
import { excusedTimesMax, type RememberedExcuses } from '../domain/attention/excused-times.ts'
import { readFolderJson, writeFolderJson } from './folder-file.ts'

const Remembered = Type.Object({
  /** When the node last ran. In ms since 1970, as the others. */
  ranMs: Type.Integer(),
  heardTo: Type.Integer(),
  excused: Type.Array(Type.Tuple([Type.Integer(), Type.Integer()]), { maxItems: excusedTimesMax }),
})

/** What a node must know after a restart, so that it neither blames devices for its own pauses nor excuses other times. */
export const excusedFile = (dataDir: string) => {
  const path = join(dataDir, 'excused.json')
  let isWriting = false
  return {
    read: (): Promise<RememberedExcuses | null> => readFolderJson(path, Remembered),
    /** One at a time. What comes meanwhile is dropped: the next call has more. */
    write: async (remembered: RememberedExcuses): Promise<void> => {
      if (isWriting) return
      isWriting = true
      await writeFolderJson(path, remembered).finally(() => {
        isWriting = false
      })
    },
  }
}

import type { EventStoreSettings } from '../eventstore-url.ts'
import { createCodec } from './codec/codec.ts'
import { logPathIn } from './data-folder.ts'
import type { Source } from './source.ts'
import { openReadOnly } from './sqlite/sqlite-file.ts'
import { SqliteReads } from './sqlite/sqlite-reads.ts'

/** Plain data, so that it can be sent to a thread. */
export type SourceConfig = {
  readonly dataDir: string
  /** `null`: the log is the file in the data folder. */
  readonly eventStore: EventStoreSettings | null
}

/**
 * Opens a second way to read the log, beside the `EventLog` that this process has open already.
 * @throws the errors of `openReadOnly`
 */
export const openSource = async ({ dataDir }: SourceConfig): Promise<Source> => {
  const { database } = openReadOnly(logPathIn(dataDir))
  const reads = new SqliteReads(database, createCodec())
  return {
    after: async (position) => {
      const { events, scannedTo } = reads.scan(position, () => true, {
        limit: 128,
        publishedTo: Number.MAX_SAFE_INTEGER,
      })
      return { items: events, scannedTo, atEnd: events.length === 0 }
    },
    close: async () => database.close(true),
  }
}

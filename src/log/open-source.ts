import type { EventStoreSettings } from '../eventstore-url.ts'
import { logPathIn } from './data-folder.ts'
import type { EventLog, Reached } from './event-log.ts'
import type { EventStoreLogOptions } from './eventstoredb/eventstoredb-log.ts'
import type { Source } from './source.ts'
import { FileReads } from './sqlite/reads/file-reads.ts'
import { FileSource } from './sqlite/reads/file-source.ts'
import { SubscribedSource } from './subscribed-source.ts'

/** Plain data, so that it can be sent to a thread. */
export type SourceConfig = {
  readonly dataDir: string
  /** `null`: the log is the file in the data folder. */
  readonly eventStore: EventStoreSettings | null
}

/** Beside the `EventLog` that this process has open already. @throws the errors of `FileSource` and `openEventStoreLog` */
export const openSource = async ({ dataDir, eventStore }: SourceConfig): Promise<Source> => {
  if (eventStore === null) return new FileSource(logPathIn(dataDir))
  return new SubscribedSource(await openEventStore({ settings: eventStore }))
}

/** Loads the client of EventStoreDB only if needed: that takes 0.1 s and 5 MB. @throws the errors of `openEventStoreLog` */
export const openEventStore = async (options: EventStoreLogOptions): Promise<EventLog> => {
  const { openEventStoreLog } = await import('./eventstoredb/eventstoredb-log.ts')
  return openEventStoreLog(options)
}

/** @throws StoreMisfit if a certificate or key file cannot be read */
export const checkStoreFiles = async (settings: EventStoreSettings): Promise<void> => {
  const { accessOf } = await import('./eventstoredb/store-link.ts')
  accessOf(settings)
}

export type OpenReads = Pick<EventLog, 'read' | 'readAll' | 'lags'> & { close(): void | Promise<void> }

/** Like `openSource`, for searches. @throws the errors of `FileReads` and `openEventStoreLog` */
export const openReads = async (
  { dataDir, eventStore }: SourceConfig,
  reached: () => Reached | null,
): Promise<OpenReads> => {
  if (eventStore === null) return new FileReads(logPathIn(dataDir))
  return openEventStore({ settings: eventStore, reached })
}

import type { EventStoreSettings } from '../eventstore-url.ts'
import { logPathIn } from './data-folder.ts'
import type { Source } from './source.ts'
import { FileSource } from './sqlite/reads/file-source.ts'

/** Plain data, so that it can be sent to a thread. */
export type SourceConfig = {
  readonly dataDir: string
  /** `null`: the log is the file in the data folder. */
  readonly eventStore: EventStoreSettings | null
}

/**
 * Opens a second way to read the log, beside the `EventLog` that this process has open already.
 * @throws the errors of `FileSource`
 */
export const openSource = async ({ dataDir }: SourceConfig): Promise<Source> => new FileSource(logPathIn(dataDir))

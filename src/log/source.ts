import type { LogItem } from '../domain/reading/recorded-run.ts'

export type SourcePage = {
  /** In the order of the log. Readings come as whole runs, all else as events. */
  readonly items: readonly LogItem[]
  /** The position of the last event that was read. `null`: the log has no event yet. */
  readonly scannedTo: number | null
  readonly atEnd: boolean
}

/** Reads the log for the derived store, page by page. */
export type Source = {
  /** The events after this position, of all categories. `null`: from the beginning. @throws the errors of `EventLog.readAll` */
  after(position: number | null): Promise<SourcePage>
  close(): Promise<void>
}

import type { LogItem } from '../domain/reading/recorded-run.ts'

export type SourcePage = {
  /**
   * In the order of the log, without truncated events. Readings come as runs, whose requests have columns or a
   * `NamedReading`. Readings that fit into no run come as events, for example those of a request of which a purge has left
   * a part.
   */
  readonly items: readonly LogItem[]
  /** `null`: the log has no event yet. */
  readonly scannedTo: number | null
  readonly atEnd: boolean
}

/** The events that are not more than `keptMs` older than now, and than the newest event. */
export type Beginning = { readonly nowMs: number; readonly keptMs: number }

/** For the derived store, page by page. All events of a page are durable. */
export type Source = {
  /** Of all categories. `null`: from the beginning. @throws the errors of `EventLog.readAll` */
  after(position: number | null): Promise<SourcePage>
  /**
   * The position before these events, of which there is at least one, unless the log is empty. `null`: they are the whole
   * log. @throws the errors of `after`
   */
  beginningOf(part: Beginning): Promise<number | null>
  close(): Promise<void>
}

import type { Database } from 'bun:sqlite'
import type { LogItem } from '../domain/reading/recorded-run.ts'

/** Tables in a file of its own, `<name>.db` in the data folder, folded from the log. */
export type ModelKind = {
  readonly name: string
  /** A file of another format is deleted and built again. Raise it when the tables or the fold change. */
  readonly format: number
  readonly tables: string
  readonly flushEveryMs: number
  /** The model needs only events that are not this much older than the newest one. Default: all events. */
  readonly keptMs?: number
  /** Requests wait for this model, so the other models wait while it is behind. */
  readonly isUrgent?: boolean
  /** Reads the whole file before its first use, in steps of a few ms. Returns the damage, or `null`. */
  check?(database: Database): Generator<void, string | null>
  open(database: Database): Model
}

export type Model = {
  /** Changes memory only. */
  fold(items: readonly LogItem[]): void
  /** About how many rows the next flush writes. */
  readonly pending: number
  /**
   * In steps of a few ms, inside one transaction, in which the follower also writes the head. After a failed flush, the
   * follower drops the model, and opens it again from its file.
   */
  flush(nowMs: number): Generator<void>
}

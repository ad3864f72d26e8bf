import type { Database } from 'bun:sqlite'
import type { LogItem } from '../domain/reading/recorded-run.ts'

/** One read model of the derived store: tables in a file of its own, `<name>.db` in the data folder, folded from the log. */
export type ModelKind = {
  readonly name: string
  /** A file of another format is deleted, and the model is built again. Raise it when the tables or the fold change. */
  readonly format: number
  /** The SQL that makes the tables of an empty file. */
  readonly tables: string
  readonly flushEveryMs: number
  /** The model needs only events that are not this much older (ms) than the newest one. Default: all events. */
  readonly keptMs?: number
  /** Requests wait for the model while it is behind, so the other models then wait for it. Default: false. */
  readonly isUrgent?: boolean
  /** Reads the whole file before it is used for the first time, in steps of a few ms. Returns the damage, or `null`. */
  check?(database: Database): Generator<void, string | null>
  /** Reads what the fold needs in memory. */
  open(database: Database): Model
}

export type Model = {
  /** Folds items that follow the head, in the order of the log. Changes memory only. */
  fold(items: readonly LogItem[]): void
  /** About how many rows the next flush writes. */
  readonly pending: number
  /**
   * Writes what was folded, in steps of a few ms. Runs inside one transaction, in which the follower also writes the head. After a
   * failed flush, the follower drops the model, and opens it again from its file.
   */
  flush(nowMs: number): Generator<void>
}

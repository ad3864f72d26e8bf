import type { FoldedTo } from '../domain/log-reference.ts'
import type { IdempotentAppend } from '../domain/reading/idempotency-key.ts'

/**
 * Finds appends by idempotency key, so that a repeated request is recognized. A node builds the index from the log, and
 * can build it again.
 */
export interface RepeatsIndex {
  /**
   * The index has every append with an idempotency key up to this event. `null` means that the index is incomplete, and
   * must be built from the log.
   */
  readonly foldedTo: FoldedTo | null
  /** Returns the newest append to the stream whose idempotency key has this hash, or `null`. @throws IndexUnusable */
  find(stream: string, keyHash: string): IdempotentAppend | null
  /**
   * Writes the whole change or nothing. When the promise resolves, `find` sees the change. Rejects with IndexBusy (a
   * later try can succeed) or IndexUnusable (the index must be built again).
   */
  write(change: RepeatsChange): Promise<void>
  /**
   * Tests the structure of the index, and empties the index if it is damaged. `find` checks the rows. Rejects with IndexBusy,
   * or with IndexUnusable if the index cannot be emptied.
   */
  check(): Promise<void>
  /** Empties the index, so that it can be built again. Rejects with IndexUnusable. */
  startAnew(): Promise<void>
  close(): Promise<void>
}

export type RepeatsChange = {
  readonly appends: readonly IdempotentAppend[]
  /** After this change, the index is complete up to this event. `null` keeps the old `foldedTo`. */
  readonly foldedTo: FoldedTo | null
  /**
   * A time in ms. Repeats of appends that were recorded before this time are no longer expected. Each change deletes a
   * limited number of these appends from the index, so that no change takes long.
   */
  readonly forgetBeforeMs: number
}

/**
 * The index cannot be used: its file is damaged, or its disk fails. A running node then empties the index (`startAnew`)
 * and builds it again from the log.
 */
export class IndexUnusable extends Error {
  override readonly name = 'IndexUnusable'
}

/**
 * The change was not written, but a later try can succeed: the disk is full, or another program has locked the file.
 */
export class IndexBusy extends Error {
  override readonly name = 'IndexBusy'
}

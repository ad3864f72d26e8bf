import type { IdempotentAppend } from '../domain/reading/idempotency-key.ts'

/** Finds appends by idempotency key, so that a repeated request is recognized. The follower folds it from the log. */
export interface RepeatsIndex {
  /** The file has every append with an idempotency key up to this position. `null`: it cannot be read now. */
  readonly foldedTo: number | null
  /** Why the file cannot be written or read now, or `null`. */
  readonly trouble: string | null
  /**
   * Returns the newest append to the stream whose idempotency key has this hash, or `null`. Returns `unknown` if the file cannot
   * be read, for example because the row is damaged. The file is then built again.
   */
  find(stream: string, keyHash: string): IdempotentAppend | null | 'unknown'
  /** Calls the listener when `foldedTo` may have changed. */
  listen(listener: () => void): void
  /** Asks the follower to commit as soon as it has folded this position. */
  hurry(position: number): void
}

import type { IdempotentAppend } from '../domain/reading/idempotency-key.ts'

/**
 * Recognizes a repeated request. The follower folds it from the log
 * (docs/decisions/014-repeats-are-judged-where-readings-are-appended.md).
 */
export interface RepeatsIndex {
  /** The file has every append with an idempotency key up to this position of the log. `null`: it cannot be read now. */
  readonly foldedTo: number | null
  /** Why the file cannot be written or read now. */
  readonly trouble: string | null
  /**
   * The newest append to the stream whose idempotency key has this hash. `unknown`: the file cannot be read, and is built
   * again.
   */
  find(stream: string, keyHash: string): IdempotentAppend | null | 'unknown'
  /** Called when `foldedTo` may have changed. */
  listen(listener: () => void): void
  /** Asks the follower to commit as soon as it has folded this position. */
  hurry(position: number): void
}

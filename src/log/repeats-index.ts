import type { FoldedTo } from '../domain/log-reference.ts'
import type { IdempotentAppend } from '../domain/reading/idempotency-key.ts'

/**
 * Where the appends that carried an `Idempotency-Key` lie in the log, found by their key: what one node has folded of the
 * log and may lose at any moment, since everything in it can be folded again.
 */
export interface RepeatsIndex {
  /** The event of the log up to which every such append was written here; `null`: nothing is known to be. */
  readonly foldedTo: FoldedTo | null
  /** The newest such append to that stream. @throws IndexUnusable */
  find(stream: string, keyHash: string): IdempotentAppend | null
  /** All of it or nothing. Resolves when `find` finds it. Rejects with IndexBusy or IndexUnusable. */
  write(change: RepeatsChange): Promise<void>
  /** Throws away what is there and begins empty. Rejects with IndexUnusable if that can't be done either. */
  startAnew(): Promise<void>
  close(): Promise<void>
}

export type RepeatsChange = {
  readonly appends: readonly IdempotentAppend[]
  /** What `foldedTo` becomes; `null` leaves it. */
  readonly foldedTo: FoldedTo | null
  /** Ms. What was recorded earlier counts no more; with each change some of it goes. */
  readonly forgetBeforeMs: number
}

/** The index is damaged, or its disk can't be read or written. */
export class IndexUnusable extends Error {
  override readonly name = 'IndexUnusable'
}

/** The change was not written and may be later: the disk is full, or another program has locked the file. */
export class IndexBusy extends Error {
  override readonly name = 'IndexBusy'
}

import type { FoldedTo } from '../domain/log-reference.ts'
import type { IdempotentAppend } from '../domain/reading/idempotency-key.ts'

/** Finds appends by idempotency key. A node folds the index from the log, and can fold it again if it is lost. */
export interface RepeatsIndex {
  /** The index holds every append with an idempotency key up to this event. `null` means that it may lack some. */
  readonly foldedTo: FoldedTo | null
  /** Returns the newest append to that stream with this idempotency key. @throws IndexUnusable */
  find(stream: string, keyHash: string): IdempotentAppend | null
  /** Writes all or nothing. Once it resolves, `find` sees the change. Rejects with IndexBusy or IndexUnusable. */
  write(change: RepeatsChange): Promise<void>
  /** Empties the index. Rejects with IndexUnusable. */
  startAnew(): Promise<void>
  close(): Promise<void>
}

export type RepeatsChange = {
  readonly appends: readonly IdempotentAppend[]
  /** The new `foldedTo` of the index. `null` keeps the old one. */
  readonly foldedTo: FoldedTo | null
  /** In ms. Each change deletes some of the appends that were recorded earlier. */
  readonly forgetBeforeMs: number
}

/** The index is damaged, or its disk fails. */
export class IndexUnusable extends Error {
  override readonly name = 'IndexUnusable'
}

/** The change was not written, but may succeed later: the disk is full, or another program has locked the file. */
export class IndexBusy extends Error {
  override readonly name = 'IndexBusy'
}

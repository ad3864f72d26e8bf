import type { FoldedTo } from '../domain/log-reference.ts'
import type { IdempotentAppend } from '../domain/reading/idempotency-key.ts'

/** Finds appends by idempotency key. A node folds the index from the log, and can fold a lost one again. */
export interface RepeatsIndex {
  /** The index holds all such appends up to this event. `null`: unknown. */
  readonly foldedTo: FoldedTo | null
  /** The newest such append to that stream. @throws IndexUnusable */
  find(stream: string, keyHash: string): IdempotentAppend | null
  /** Writes all or nothing. Afterwards `find` sees it. Rejects with IndexBusy or IndexUnusable. */
  write(change: RepeatsChange): Promise<void>
  /** Empties the index. Rejects with IndexUnusable. */
  startAnew(): Promise<void>
  close(): Promise<void>
}

export type RepeatsChange = {
  readonly appends: readonly IdempotentAppend[]
  /** The new `foldedTo`; `null` keeps the old one. */
  readonly foldedTo: FoldedTo | null
  /** Some older appends are deleted with each change. */
  readonly forgetBeforeMs: number
}

/** The index is damaged, or its disk fails. */
export class IndexUnusable extends Error {
  override readonly name = 'IndexUnusable'
}

/** Not written now, but may be later: the disk is full, or another program has locked the file. */
export class IndexBusy extends Error {
  override readonly name = 'IndexBusy'
}

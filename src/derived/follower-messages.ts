import type { FoldedTo } from '../domain/log-reference.ts'

/**
 * Whether the log has a model's last event. `purged`: the readings there were purged, so the log cannot say it. `null`: the
 * store cannot answer now.
 */
export type InLog = boolean | 'purged' | null

export type ToFollower =
  | { readonly kind: 'published'; readonly position: number }
  /** Flush the model as soon as it has folded this position, and answer `reached`. */
  | { readonly kind: 'upTo'; readonly id: number; readonly model: string; readonly position: number }
  | { readonly kind: 'inLog'; readonly model: string; readonly is: InLog }
  | { readonly kind: 'rebuild'; readonly model: string; readonly why: string }
  | { readonly kind: 'close' }

export type FromFollower =
  | { readonly kind: 'progress'; readonly model: string; readonly progress: ModelProgress }
  /** The file can be read, until the next `replaced`. */
  | { readonly kind: 'opened'; readonly model: string; readonly position: number | null }
  | { readonly kind: 'replaced'; readonly model: string; readonly why: string }
  | { readonly kind: 'reached'; readonly id: number }
  | { readonly kind: 'isInLog'; readonly model: string; readonly head: FoldedTo }
  | { readonly kind: 'bug'; readonly why: string }

export type ModelProgress = {
  readonly position: number | null
  readonly isBehind: boolean
  readonly trouble: string | null
}

export type FollowerHandle = {
  post(message: ToFollower): void
  /** Resolves when the models are flushed and closed. */
  close(): Promise<void>
}

export type FollowerEvents = {
  onMessage(message: FromFollower): void
  onFault(why: string): void
}

/** What the main thread and the follower tell each other. */
import type { FoldedTo } from '../domain/log-reference.ts'

/** Whether the log has an event. `purged`: its readings were purged, so the log cannot say it. `null`: it cannot say it now. */
export type InLog = boolean | 'purged' | null

export type ToFollower =
  /** The log has published events up to this position. */
  | { readonly kind: 'published'; readonly position: number }
  /** Flush the model as soon as it has folded this position, and answer `reached`. */
  | { readonly kind: 'upTo'; readonly id: number; readonly model: string; readonly position: number }
  /** Answers `isInLog`. */
  | { readonly kind: 'inLog'; readonly model: string; readonly is: InLog }
  /** A reader has found damage. */
  | { readonly kind: 'rebuild'; readonly model: string; readonly why: string }
  | { readonly kind: 'close' }

export type FromFollower =
  | { readonly kind: 'progress'; readonly model: string; readonly progress: ModelProgress }
  /** The file can be read, until the next `replaced`. It includes the log up to this position. */
  | { readonly kind: 'opened'; readonly model: string; readonly position: number | null }
  | { readonly kind: 'replaced'; readonly model: string; readonly why: string }
  | { readonly kind: 'reached'; readonly id: number }
  /** Is the head's event in the log? */
  | { readonly kind: 'isInLog'; readonly model: string; readonly head: FoldedTo }
  | { readonly kind: 'bug'; readonly why: string }

export type ModelProgress = {
  /** The position of the last event in the file. `null`: the file is empty. */
  readonly position: number | null
  /** True while older events are still missing. */
  readonly isBehind: boolean
  /** Why the file cannot be written now, or `null`. */
  readonly trouble: string | null
}

/** The follower as the main thread sees it, on a thread of its own or not. */
export type FollowerHandle = {
  post(message: ToFollower): void
  /** Resolves when the models are flushed and closed. */
  close(): Promise<void>
}

export type FollowerEvents = {
  onMessage(message: FromFollower): void
  /** The follower has ended by a bug. */
  onFault(why: string): void
}

export type SearchPage = {
  /** `backwards`: the newest events before `from`. `forwards`: the oldest events after it. */
  readonly direction: 'forwards' | 'backwards'
  /** The position of an event. `null`: the end of the log that the direction begins at. */
  readonly from: number | null
  /** The search ends at this position. Forwards, the event there is included. Default: the other end of the log. */
  readonly to?: number | null
  readonly pageEvents: number
  /** How many matching events a read returns at most, if fewer than `pageEvents`. Default: `pageEvents`. */
  readonly limit?: number
}

export const atOnce = ({ pageEvents, limit = pageEvents }: SearchPage): number => Math.min(limit, pageEvents)

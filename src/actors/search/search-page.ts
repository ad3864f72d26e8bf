export type SearchPage = {
  /** `backwards`: the newest events before `from`. `forwards`: the oldest events after it. */
  readonly direction: 'forwards' | 'backwards'
  /** The position of an event. `null`: the end of the log that the direction begins at. */
  readonly from: number | null
  /** The search ends there. Forwards, the event there belongs to it. Default: the other end of the log. */
  readonly to?: number | null
  readonly pageEvents: number
  /** With a lower number, a read takes no more events that match. Default: `pageEvents`. */
  readonly limit?: number
}

export const atOnce = ({ pageEvents, limit = pageEvents }: SearchPage): number => Math.min(limit, pageEvents)

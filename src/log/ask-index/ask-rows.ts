/** Columns with a text contain its `id` of the table `names`. */
export type NameRow = { readonly id: number; readonly name: string }

export type PlaceRow = {
  readonly position: number
  readonly recorded_at: number
  readonly kind: number
  readonly type: number
  readonly actor: number
  readonly key: number | null
  readonly cellar: number | null
  readonly stream: number
  readonly revision: number
  /** `idNumber` of the event's id. */
  readonly event_number: number
  /** `null` if it is `event_number`. */
  readonly request_number: number | null
  /** The period of a summary. */
  readonly first_at: number | null
  readonly last_at: number | null
}
export const placeColumns =
  'position, recorded_at, kind, type, actor, key, cellar, stream, revision, event_number, request_number, first_at, last_at'

export type MinuteRow = { readonly minute: number; readonly position: number }

export type MinuteCountRow = {
  readonly cellar: number
  readonly minute: number
  readonly code: number
  readonly count: number
}

export type HourCountRow = {
  readonly key: number
  readonly hour: number
  readonly code: number
  readonly cellar: number
  readonly count: number
  /** The minute of the hour with the last reading, and the number of its readings. */
  readonly minute: number
  readonly in_minute: number
  readonly busiest: number
}

export type SeenRow = { readonly key: number; readonly rack: string; readonly minute: number }

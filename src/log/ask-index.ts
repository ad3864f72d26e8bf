/**
 * `ask.db`: a read model on the disk, for the questions of people. Each node has its own, and can build it again from the
 * log.
 */

import type { EventKind } from '../domain/events/declare-event.ts'
import type { EventType } from '../domain/events.ts'
import type { Period } from '../domain/search/event-filter.ts'

/** Of an event that is no reading, with the values that people filter by. */
export type EventPlace = Partial<Period> & {
  readonly position: number
  readonly stream: string
  readonly revision: number
  /** In ms. */
  readonly recordedAt: number
  readonly kind: EventKind
  readonly type: EventType
  /** Who asked for the event (`actorText`): an e-mail, `clr_` and a key's id, `cli` or `system`. */
  readonly actor: string
  /** The key that the event is about. */
  readonly key: string | null
  readonly cellar: string | null
}

/** With the ids by which people can look for the event. */
export type FoldedPlace = EventPlace & { readonly id: string; readonly requestId: string }

/** `accepted`, or the code of a refusal. */
export type CountCode = string

/** Minutes since 1970. `cellar` is `null` for all cellars together. */
export type MinuteCount = {
  readonly cellar: string | null
  readonly minute: number
  readonly code: CountCode
  readonly count: number
}

/** Hours since 1970. */
export type HourCount = {
  readonly cellar: string
  readonly key: string
  readonly hour: number
  readonly code: CountCode
  readonly count: number
}

/** Of some hours. */
export type RefusalSum = Omit<HourCount, 'hour'>

/** The last minute (since 1970) in which a reading of the rack was accepted with the key. */
export type SeenRack = { readonly key: string; readonly rack: string; readonly minute: number }

/** Minutes since 1970. The event's minute is later than that of every event before it. */
export type MinutePosition = { readonly minute: number; readonly position: number }

export type PlacePage = {
  /** `backwards`: the newest places before position `from`. `forwards`: the oldest after it. */
  readonly direction: 'forwards' | 'backwards'
  /** Not part of the result. Default: the end of the index that the direction begins at. */
  readonly from: number | null
  readonly limit: number
}

export type FoundPlaces = {
  /** In the direction of the page. */
  readonly places: readonly EventPlace[]
  /** All matching places up to this position are in `places`. To go on, give it as `from`. `null`: there are no more. */
  readonly lookedTo: number | null
}

/** The file is damaged, or its disk fails. It is built again. */
export class AskUnusable extends Error {
  override readonly name = 'AskUnusable'
}

/** A later try can succeed: another program has locked the file, or it was built anew meanwhile. */
export class AskBusy extends Error {
  override readonly name = 'AskBusy'
}

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

/** Hours since 1970. `busiest`: the most readings of one minute, and 0 for refusals. */
export type HourCount = {
  readonly cellar: string
  readonly key: string
  readonly hour: number
  readonly code: CountCode
  readonly count: number
  readonly busiest: number
}

/** Of some hours. */
export type RefusalSum = Omit<HourCount, 'hour' | 'busiest'>

/** `cellar` is `null` for all cellars. */
export type KeyLoadsWanted = {
  /** Not more than `askPeakHoursMax` hours ago. `null`: the busiest minutes are not wanted. */
  readonly fromHour: number | null
  /** Refusals of today are counted from this hour on. `null`: they are not wanted. */
  readonly todayHour: number | null
  readonly cellar: string | null
}

/**
 * All keys with readings from `fromHour` on, or with refusals of today. Column by column (`eachLoad` reads them), because the event loop would
 * need 10 ms to receive 10,000 objects. The ids are separated by line feeds.
 */
export type KeyLoads = {
  readonly keyIds: string
  readonly busiest: Uint32Array
  readonly refusedToday: Uint32Array
}

/** At most `askKeyDaysMax` keys. `toHour` is not included. */
export type KeyDaysWanted = { readonly keyIds: readonly string[]; readonly fromHour: number; readonly toHour: number }

/** Each list of counts has a number for each hour. */
export type KeyDay = {
  readonly keyId: string
  readonly accepted: readonly number[]
  readonly refused: readonly number[]
  readonly busiest: number
  /** The latest first, at most `askLatestRacksMax`. */
  readonly racks: readonly SeenRack[]
  readonly racksTotal: number
}

/**
 * In the order of the wanted keys, then by the names of racks. `isCut`: a key has more racks. The index keeps a bounded number
 * of pairs, so racks that were last seen before `seenFromMinute` can be missing. `null`: none is missing.
 */
export type RacksOfKeys = {
  readonly racks: readonly SeenRack[]
  readonly isCut: boolean
  readonly seenFromMinute: number | null
}

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

/** Times are ms since 1970. Texts are as they were typed: the views escape them. */
import type { EventRow } from '../log/log-types.ts'
import type { EventPlace, RackView, ReadingsState } from '../types.ts'

export type KegName = { readonly rack: string; readonly keg: string }

/** The end of each is now. */
export type RangeName = '1h' | '24h' | '7d' | '30d' | '1y'

export type KegQuery = {
  /** Not used with a `from` or `to`. */
  readonly range: RangeName
  /** As typed. Blank if the address has none. */
  readonly from: string
  readonly to: string
  /** Kegs of the same cellar beside this one. */
  readonly with: readonly KegName[]
  /** Each keg has a chart with a scale of its own. */
  readonly isOwnScale: boolean
  readonly isPaused: boolean
  /** Words of a search for another keg. */
  readonly find: string
  /** Page of the table, from 1. 0: without the table. */
  readonly table: number
}

/** A step, or one reading. */
export type SeriesPoint = {
  /** The middle of a step. */
  readonly at: number
  readonly mean: number
  readonly min: number
  readonly max: number
  readonly count: number
  /** `null` for a step. */
  readonly place: Pick<EventPlace, 'stream' | 'revision'> | null
}

export type Gap = {
  readonly fromMs: number
  /** Now if the gap is open. */
  readonly toMs: number
  /** No later reading has come. */
  readonly isOpen: boolean
}

export type ChartSeries = KegName & {
  readonly unit: string | null
  /** The compared kegs have different numbers, from 0. The number decides the colour. */
  readonly number: number
  /** Oldest first. */
  readonly points: readonly SeriesPoint[]
  readonly gaps: readonly Gap[]
  /** The points are readings, not steps. */
  readonly isSingle: boolean
}

/** One time axis and one scale. */
export type ChartView = {
  readonly cellar: string
  readonly fromMs: number
  readonly toMs: number
  readonly stepMs: number
  readonly series: readonly ChartSeries[]
}

export type ExtremeView = Pick<EventPlace, 'stream' | 'revision'> & { readonly value: number; readonly timeMs: number }

export type KegFacts = KegName & {
  readonly unit: string | null
  readonly count: number
  /** The mean time between two readings, without gaps. `null`: all lie in one step of the chart. */
  readonly pauseMs: number | null
  readonly lowest: ExtremeView | null
  readonly highest: ExtremeView | null
  readonly mean: number | null
  readonly gaps: readonly Gap[]
  readonly late: { readonly count: number; readonly maxMs: number }
  readonly repeats: number
  readonly ahead: number
}

export type LatestView = {
  readonly value: number
  /** The reading's own time. */
  readonly at: number
  readonly keyId: string
  readonly keyLabel: string
  readonly place: Pick<EventPlace, 'stream' | 'revision'>
}

export type ShownKeg = KegName & {
  readonly unit: string | null
  /** `null`: all readings of the keg were ahead of the clock. */
  readonly latest: LatestView | null
  /** `null` while the readings cannot be read. */
  readonly facts: KegFacts | null
}

export type KegPageView = {
  readonly query: KegQuery
  /** Of `from`, `to` and `find`. */
  readonly faults: Readonly<Partial<Record<'from' | 'to', string>>>
  /** The keg of the page comes first. */
  readonly kegs: readonly ShownKeg[]
  /** In the address, but unknown. */
  readonly unknown: readonly KegName[]
  /** With `isOwnScale`, one for each keg. None while the readings cannot be read. */
  readonly charts: readonly ChartView[]
  /** Readings with an earlier time of their own are not drawn. `null`: all are. */
  readonly keptFromMs: number | null
  /** The range ends now. */
  readonly isOpen: boolean
  readonly state: ReadingsState
  /** What the search found. `null`: nothing was searched. */
  readonly found: readonly KegName[] | null
}

export type KegOfRack = {
  readonly keg: string
  readonly unit: string | null
  readonly value: number
  /** The last acceptance. */
  readonly acceptedMs: number
  readonly isSilent: boolean
  /** `null` while it cannot be drawn. */
  readonly chart: ChartView | null
}

/** `lastMs` is the beginning of the minute of its last reading. */
export type RackKey = { readonly keyId: string; readonly label: string; readonly lastMs: number }

export type RackPageView = {
  readonly rack: string
  /** Only its range counts, and whether it is paused. */
  readonly query: KegQuery
  readonly faults: KegPageView['faults']
  readonly isOpen: KegPageView['isOpen']
  /** Of all pages. `null` while the readings cannot be read. */
  readonly summary: RackView | null
  /** Of this page, by name. */
  readonly kegs: readonly KegOfRack[]
  readonly page: number
  readonly pages: number
  readonly keptFromMs: number | null
  /** That sent for it, the last one first. `null`: they are not known now. */
  readonly keys: readonly RackKey[] | null
  /** Of its keys, newest first. */
  readonly refusals: readonly EventRow[]
  readonly state: ReadingsState
}

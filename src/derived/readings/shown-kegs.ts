/** What pages ask about kegs, and the answers. All times are ms since 1970, by the readings' own time if nothing else is said. */

export type KegName = { readonly rack: string; readonly keg: string }

/** Leads to one event of the log. */
export type ReadingPlace = {
  readonly stream: string
  readonly keyId: string
  readonly revision: number
  readonly position: number
  readonly recordedAt: number
}

export type LatestReading = ReadingPlace & {
  readonly value: number
  /** As the device sent it. */
  readonly timestamp: string
  readonly timeMs: number
}

/** What a chart and a list say of a keg. */
type KnownKeg = KegName & {
  /** The last acceptance. Without a latest reading, the hour of it. */
  readonly acceptedMs: number
  /** The usual pause between two requests. `null`: fewer than two are known. */
  readonly pauseMs: number | null
}

/** The question `kegChart`: kegs of one cellar on one time axis. */
export type ChartsWanted = {
  readonly cellar: string
  /** Each once, 1 to `chartedKegsMax`. */
  readonly kegs: readonly KegName[]
  readonly fromMs: number
  /** Not included. Not after now. */
  readonly toMs: number
  /** The step is the shortest one that needs no more steps than this, or a day. */
  readonly stepsMax: number
}

export type Charts = {
  /** One of `chartStepsMs`. */
  readonly stepMs: number
  /** The range, rounded to whole steps. */
  readonly fromMs: number
  readonly toMs: number
  /** Readings before it are not drawn, because of the retention. `null`: all are drawn. */
  readonly keptFromMs: number | null
  /** In the order of the wanted kegs. `null`: no reading of the keg is known. */
  readonly kegs: readonly (KegChart | null)[]
}

export type KegChart = KnownKeg & {
  /** `null`: all readings of the keg were ahead of the clock. */
  readonly latest: LatestReading | null
  /** Oldest first. Steps without readings have no point. */
  readonly points: readonly ChartPoint[]
  readonly gaps: readonly ChartGap[]
  /** `null`: more than `singleReadingsMax`, or they cannot be found quickly. Oldest first. */
  readonly readings: readonly SingleReading[] | null
  readonly summary: ChartSummary
}

export type ChartPoint = {
  readonly timeMs: number
  readonly count: number
  readonly min: number
  readonly max: number
  /** `null`: the sum of the values is too large for a number. */
  readonly mean: number | null
  readonly first: number
  readonly last: number
}

/** Between two readings, which can lie outside the range. `toMs` is `null` if the keg has no later reading. */
export type ChartGap = { readonly fromMs: number; readonly toMs: number | null }

export type SingleReading = {
  readonly timeMs: number
  readonly value: number
  readonly stream: string
  readonly revision: number
  readonly position: number
}

export type ChartSummary = {
  readonly count: number
  readonly mean: number | null
  /** `null`: there is none, or its event cannot be read now. */
  readonly lowest: SingleReading | null
  readonly highest: SingleReading | null
  /** Readings that were accepted more than `lateMsMin` after their own time, and the greatest such delay. */
  readonly late: { readonly count: number; readonly maxMs: number }
  /** Readings with the time of an earlier one. */
  readonly repeats: number
  /** Accepted in the range with a time that was too far ahead. They are not drawn. */
  readonly ahead: number
}

/** The question `kegList`. */
export type KegsWanted = {
  readonly cellar: string
  /** Default: all racks. */
  readonly rack?: string | undefined
  /** In lower case. Each must occur in the rack's or in the keg's name. */
  readonly words: readonly string[]
  /** By rack and keg, by the age of the last acceptance (youngest first), or by the latest value (lowest first). */
  readonly sort: 'name' | 'age' | 'value'
  readonly isReversed: boolean
  /** Silent kegs come before the others. */
  readonly silentFirst: boolean
  /** From 1. A page after the last one gives the last one. */
  readonly page: number
  readonly perPage: number
  /** For `silent` and `day`. */
  readonly nowMs: number
}

export type ShownKeg = KnownKeg & {
  readonly latest: LatestReading
  /** Longer than `silentAfterMs` without a reading. */
  readonly isSilent: boolean
  /** The means of the half hours of the last day, oldest first. The last one is the current half hour. `null`: no reading. */
  readonly day: readonly (number | null)[]
}

export type FoundKegs = {
  readonly kegs: readonly ShownKeg[]
  readonly page: number
  readonly pages: number
  readonly found: number
  /** Of the cellar, or of the rack. */
  readonly all: number
}

export type ShownRack = {
  readonly rack: string
  /** Kegs with all words. */
  readonly kegs: number
  readonly silent: number
  /** The last acceptance of these kegs. */
  readonly acceptedMs: number
}

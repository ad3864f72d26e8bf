import type { Database } from 'bun:sqlite'

/** A keg with its latest reading by the reading's own time. Times are in ms. */
export type ShownKeg = {
  readonly rack: string
  readonly keg: string
  readonly latest: LatestReading
  /** The last values by the reading's own time, oldest first, at most `pointsPerKegMax`. */
  readonly values: readonly number[]
  /** When a reading of the keg was accepted last. */
  readonly acceptedMs: number
  /** The usual pause between two requests with readings of the keg. `null`: fewer than two requests are known. */
  readonly pauseMs: number | null
}

export type LatestReading = {
  readonly stream: string
  readonly keyId: string
  readonly revision: number
  readonly position: number
  readonly recordedAt: number
  readonly value: number
  /** As the device sent it. */
  readonly timestamp: string
}

export type KegsWanted = {
  readonly cellar: string
  /** In lower case. Each of them must occur in the rack's or in the keg's name. */
  readonly words: readonly string[]
  /** From 1. A page after the last one gives the last one. */
  readonly page: number
  readonly perPage: number
}

export type FoundKegs = {
  readonly kegs: readonly ShownKeg[]
  readonly page: number
  readonly pages: number
  /** The number of kegs that have the words. */
  readonly found: number
  readonly all: number
}

/** Sorted by rack, then by keg. */
export function* findKegs(_database: Database, _wanted: KegsWanted): Generator<void, FoundKegs> {
  yield
  return { kegs: [], page: 1, pages: 1, found: 0, all: 0 }
}

export type KegName = { readonly rack: string; readonly keg: string }

/** `null` for an unknown keg. */
export const kegNamed = (_database: Database, _wanted: KegName & { readonly cellar: string }): ShownKeg | null => null

/** A place in the log. */
export type ReadingPlace = {
  readonly stream: string
  readonly keyId: string
  readonly revision: number
  readonly position: number
  readonly recordedAt: number
}

/** The readings that were accepted last, newest first, at most `latestReadingsPerCellarMax`. */
export const recentReadings = (_database: Database, _cellar: string): readonly ReadingPlace[] => []

export type ChartWanted = KegName & {
  readonly cellar: string
  /** Included. Rounded down to the chart's step. */
  readonly fromMs: number
  /** Not included. */
  readonly toMs: number
}

export type Chart = {
  /** Each point stands for this time. */
  readonly stepMs: number
  /** Oldest first. Times without readings have no point. */
  readonly points: readonly ChartPoint[]
}

export type ChartPoint = {
  /** The beginning of the point's time. */
  readonly timeMs: number
  readonly count: number
  readonly min: number
  readonly max: number
  /** `null`: the sum of the values is too large for a number. */
  readonly mean: number | null
  /** The values of the first and of the last reading by the reading's own time. */
  readonly first: number
  readonly last: number
}

/** The step depends on the range: a minute for up to a day, otherwise an hour or a day. */
export function* chart(_database: Database, _wanted: ChartWanted): Generator<void, Chart> {
  yield
  return { stepMs: 60_000, points: [] }
}

export type SilentWanted = { readonly cellar: string; readonly sinceMs: number; readonly kegsMax: number }

export type SilentKegs = {
  /** Those that are silent for longest come first. */
  readonly kegs: readonly ShownKeg[]
  /** The number of all silent kegs. */
  readonly found: number
}

/** Kegs of which no reading was accepted at `sinceMs` or later. */
export function* silentSince(_database: Database, _wanted: SilentWanted): Generator<void, SilentKegs> {
  yield
  return { kegs: [], found: 0 }
}

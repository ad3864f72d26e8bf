import type { Database } from 'bun:sqlite'
import { type AttentionLine, attentionLinesMax, covers } from '../../domain/attention/attention-lines.ts'
import { type Excused, excusedSince } from '../../domain/attention/excused-times.ts'
import type { SilenceRule } from '../../domain/attention/silence-rules.ts'
import { orderKey } from '../../domain/search/order-key.ts'
import { numbersNamed } from './keg-list.ts'
import { cellarNamed, kegNumberOf, kegOfNumber, kegsPassedPerStep, readingsAskedPerStep } from './keg-rows.ts'

export type SilenceWanted = {
  readonly cellar: string
  readonly nowMs: number
  readonly rules: readonly SilenceRule[]
  readonly excused: readonly Excused[]
  /** Lines that are recorded. Excused time delays the beginning of a silence, but does not end it: nodes know different times. */
  readonly standing: readonly AttentionLine[]
}

export type FoundSilence = {
  readonly lines: readonly AttentionLine[]
  /** Silent racks and kegs, for which `lines` has no room. */
  readonly more: number
  /** When the next keg can become silent, if no keg is new and none sends faster. */
  readonly nextMs: number
}

type Silent = {
  readonly number: number
  readonly acceptedMs: number
  readonly afterMs: number
  /** Without excused time. Otherwise it is silent only if it was silent before. */
  readonly isSure: boolean
}

type Judged = {
  readonly silent: readonly Silent[]
  /** By number: the last acceptance of each keg that is silent, or after half of its time. */
  readonly overdue: ReadonlyMap<number, number>
  /** Kegs that may be silent are in neither. */
  readonly watched: number
  readonly ruled: ReadonlyMap<number, number>
  readonly nextMs: number
}

const nothingSilent = { lines: [], more: 0, nextMs: Number.POSITIVE_INFINITY }

/**
 * What stops together is one line, for a rack or the whole cellar. One of its kegs must have become silent, and all others must be
 * after half of their time. So nobody is told of 10,000 kegs one by one.
 */
export function* silentLines(database: Database, wanted: SilenceWanted): Generator<void, FoundSilence> {
  const cellar = cellarNamed(database, wanted.cellar)
  if (cellar === null) return nothingSilent
  const judged = yield* judgedKegs(database, cellar.number, wanted)
  const { nextMs } = judged
  const known = { database, cellar: cellar.number, judged, standing: wanted.standing.filter(isOfSilence) }
  const isWhole =
    judged.silent.length > 0 && judged.overdue.size === judged.watched && hasRacks(database, cellar.number)
  if (isWhole && isTogether(judged.silent, known.standing, { kind: 'silent', sinceMs: 0 }))
    return { lines: [lineOfMany({}, [...judged.overdue.values()])], more: 0, nextMs }
  const lines = yield* linesOfRacks(known)
  return { lines: lines.slice(0, attentionLinesMax), more: Math.max(0, lines.length - attentionLinesMax), nextMs }
}

/** A cellar with more silent racks and kegs says only that there are more. */
const silenceLinesMax = 2 * attentionLinesMax

const isOfSilence = ({ kind }: AttentionLine): boolean => kind === 'silent'

type Known = {
  readonly database: Database
  readonly cellar: number
  readonly judged: Judged
  readonly standing: readonly AttentionLine[]
}

/** Oldest first. Names are read only for as many racks as there is room for. */
function* linesOfRacks(known: Known): Generator<void, readonly AttentionLine[]> {
  const { database, cellar, judged, standing } = known
  const canBe = judged.silent.filter(({ isSure }) => isSure || standing.length > 0)
  const silent = new Map(canBe.map((keg) => [keg.number, keg]))
  const lines: AttentionLine[] = []
  for (const { number } of canBe.toSorted((a, b) => a.acceptedMs - b.acceptedMs)) {
    const rack = silent.has(number) ? kegOfNumber(database, cellar, number)?.rack : undefined
    if (rack === undefined) continue
    lines.push(...(yield* linesOfRack(known, rack, silent)))
    if (lines.length > silenceLinesMax) break
  }
  return lines
}

/** Takes the kegs of the rack out of `silent`. */
function* linesOfRack(
  { database, cellar, judged, standing }: Known,
  rack: string,
  silent: Map<number, Silent>,
): Generator<void, readonly AttentionLine[]> {
  const { overdue, ruled } = judged
  const numbers = yield* numbersNamed(database, cellar, { rack, words: [] })
  const named: (Silent & { readonly line: AttentionLine; readonly isStanding: boolean })[] = []
  for (const [index, number] of numbers.entries()) {
    if (index % readingsAskedPerStep === readingsAskedPerStep - 1) yield
    const keg = silent.get(number)
    const name = keg === undefined ? null : kegOfNumber(database, cellar, number)
    silent.delete(number)
    if (keg === undefined || name === null) continue
    const line = { kind: 'silent', sinceMs: keg.acceptedMs, ...name, afterMs: keg.afterMs } as const
    const isStanding = standing.some((other) => covers(other, line))
    if (keg.isSure || isStanding) named.push({ ...keg, line, isStanding })
  }
  const watched = numbers.filter((number) => ruled.get(number) !== Number.POSITIVE_INFINITY)
  const late = watched.flatMap((number) => overdue.get(number) ?? [])
  const whole = { kind: 'silent', sinceMs: 0, rack } as const
  const isNew = named.some(({ isStanding }) => !isStanding)
  const isWhole = named.length > 0 && late.length === watched.length
  return isWhole && (isNew || isKnown(standing, whole)) ? [lineOfMany({ rack }, late)] : named.map(({ line }) => line)
}

/**
 * A keg that was silent before, and another that is merely late, are no silent whole. So one of them must have become silent now,
 * or the whole was silent already.
 */
const isTogether = (silent: readonly Silent[], standing: readonly AttentionLine[], whole: AttentionLine): boolean =>
  isKnown(standing, whole) || silent.filter(({ isSure }) => isSure).length > kegsOf(standing)

const isKnown = (standing: readonly AttentionLine[], whole: AttentionLine): boolean =>
  standing.some((line) => covers(line, whole))

const kegsOf = (standing: readonly AttentionLine[]): number => standing.reduce((sum, { count = 1 }) => sum + count, 0)

const lineOfMany = (where: { readonly rack?: string }, acceptedMs: readonly number[]): AttentionLine => ({
  kind: 'silent',
  sinceMs: acceptedMs.reduce((last, ms) => Math.max(last, ms), 0),
  ...where,
  count: acceptedMs.length,
})

const hasRacks = (database: Database, cellar: number): boolean => {
  const end = (order: 'min' | 'max') =>
    database
      .query<{ readonly rack: string }, [number]>(`SELECT ${order}(rack_order) AS rack FROM kegs WHERE cellar = ?`)
      .get(cellar)?.rack
  return end('min') !== end('max')
}

function* judgedKegs(
  database: Database,
  cellar: number,
  { nowMs, rules, excused }: SilenceWanted,
): Generator<void, Judged> {
  const ruled = yield* ruledKegs(database, cellar, rules)
  const ofCellar = rules.find(({ rack, keg }) => rack === null && keg === null)
  const cellarMs = ofCellar === undefined ? null : msOf(ofCellar)
  const next = database.query<unknown, [number, number]>(
    `SELECT keg, accepted_ms, silent_from_ms FROM latest WHERE cellar = ? AND keg > ? ORDER BY keg LIMIT ${kegsPassedPerStep}`,
  )
  const silent: Silent[] = []
  const overdue = new Map<number, number>()
  let watched = 0
  let nextMs = Number.POSITIVE_INFINITY
  for (let after = -1; ; ) {
    const rows = next.values(cellar, after)
    for (const [keg, accepted, silentFrom] of rows) {
      const [number, acceptedMs] = [Number(keg), Number(accepted)]
      const afterMs = ruled.get(number) ?? cellarMs ?? Number(silentFrom) - acceptedMs
      if (afterMs === Number.POSITIVE_INFINITY) continue
      watched += 1
      const overMs = nowMs - acceptedMs
      if (overMs <= afterMs / 2) {
        nextMs = Math.min(nextMs, acceptedMs + afterMs)
        continue
      }
      const excusedMs = excusedSince(excused, acceptedMs)
      if (overMs - excusedMs > afterMs / 2) overdue.set(number, acceptedMs)
      const isSure = overMs - excusedMs > afterMs
      if (!isSure) nextMs = Math.min(nextMs, acceptedMs + afterMs + excusedMs)
      if (overMs > afterMs) silent.push({ number, acceptedMs, afterMs, isSure })
    }
    if (rows.length < kegsPassedPerStep) return { silent, overdue, watched, ruled, nextMs }
    after = Number(rows.at(-1)?.[0])
    yield
  }
}

const msOf = ({ after }: SilenceRule): number => (after === 'never' ? Number.POSITIVE_INFINITY : after)

/** The rule of a keg comes before that of its name, and this before that of its rack. */
function* ruledKegs(
  database: Database,
  cellar: number,
  rules: readonly SilenceRule[],
): Generator<void, ReadonlyMap<number, number>> {
  const ruled = new Map<number, number>()
  for (const rule of rules) {
    const { rack, keg } = rule
    if (rack === null || keg !== null) continue
    for (const number of yield* numbersNamed(database, cellar, { rack, words: [] })) ruled.set(number, msOf(rule))
  }
  const ofNames = new Map(
    rules.flatMap((rule) => (rule.rack === null && rule.keg !== null ? [[rule.keg, msOf(rule)]] : [])),
  )
  if (ofNames.size > 0) yield* ruleNames(database, { cellar, ofNames, ruled })
  for (const rule of rules) {
    const { rack, keg } = rule
    const number = rack === null || keg === null ? null : kegNumberOf(database, cellar, { rack, keg })
    if (number !== null) ruled.set(number, msOf(rule))
  }
  return ruled
}

type NamesRuled = {
  readonly cellar: number
  readonly ofNames: ReadonlyMap<string, number>
  readonly ruled: Map<number, number>
}

/** There is no index of the names of kegs alone, so this passes all kegs of the cellar. */
function* ruleNames(database: Database, { cellar, ofNames, ruled }: NamesRuled): Generator<void> {
  const names = JSON.stringify([...ofNames.keys()].map((name) => orderKey(name)))
  const next = database.query<{ readonly number: number; readonly keg: string }, [number, number, number, string]>(
    `SELECT number, keg FROM kegs WHERE cellar = ? AND number >= ? AND number < ?
      AND keg_order IN (SELECT value FROM json_each(?))`,
  )
  const end =
    database
      .query<{ readonly last: number | null }, [number]>('SELECT max(number) AS last FROM kegs WHERE cellar = ?')
      .get(cellar)?.last ?? -1
  for (let from = 0; from <= end; from += kegsPassedPerStep) {
    for (const { number, keg } of next.all(cellar, from, from + kegsPassedPerStep, names)) {
      const afterMs = ofNames.get(keg)
      if (afterMs !== undefined) ruled.set(number, afterMs)
    }
    yield
  }
}

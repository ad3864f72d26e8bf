import type { Database } from 'bun:sqlite'
import { type AttentionLine, attentionLinesMax } from '../../domain/attention/attention-lines.ts'
import { type Excused, excusedSince } from '../../domain/attention/excused-times.ts'
import type { SilenceRule } from '../../domain/attention/silence-rules.ts'
import { orderKey } from '../../domain/search/order-key.ts'
import { AskedSteps } from './bucket-rows.ts'
import { numbersNamed } from './keg-list.ts'
import { cellarNamed, kegNumberOf, kegOfNumber, kegsPassedPerStep, type StoredCellar } from './keg-rows.ts'

export type SilenceWanted = {
  readonly cellar: string
  readonly nowMs: number
  readonly rules: readonly SilenceRule[]
  readonly excused: readonly Excused[]
  /** Lines that are recorded. Excused time delays the beginning of a silence, but does not end it: nodes know different times. */
  readonly standing: readonly AttentionLine[]
}

export type FoundSilence = {
  /** Newest first. */
  readonly lines: readonly AttentionLine[]
  /** Silent racks and kegs, for which `lines` has no room. */
  readonly more: number
  /** Lines of `standing` without any keg. */
  readonly gone: readonly AttentionLine[]
  /** When the next keg can become silent, if no keg is new and none sends faster. */
  readonly nextMs: number
}

type Silent = {
  readonly number: number
  readonly acceptedMs: number
  readonly afterMs: number
}

/** Kegs as one. */
type Whole = {
  readonly kegs: number
  readonly acceptedMs: number
  /** When the newest of its silent kegs began to count as silent. */
  readonly becameMs: number
}

type Judged = {
  /** By number. */
  readonly silent: Map<number, Silent>
  /** The same kegs. No step sorts more than a part. */
  readonly parts: readonly Silent[][]
  /** One of them is not recorded. */
  readonly isNew: boolean
  /** By number: the last acceptance of each keg that is silent, or after half of its time. */
  readonly overdue: ReadonlyMap<number, number>
  readonly whole: Whole
  /** Kegs that may be silent are in neither. */
  readonly watched: number
  readonly nextMs: number
}

/**
 * What stops together is one line, for a rack or the whole cellar. One of its kegs must have become silent, and all others must be
 * after half of their time. So nobody is told of 10,000 kegs one by one.
 */
export function* silentLines(database: Database, wanted: SilenceWanted): Generator<void, FoundSilence> {
  const cellar = cellarNamed(database, wanted.cellar)
  const recorded = wanted.standing.filter(isOfSilence)
  if (cellar === null) return { lines: [], more: 0, gone: recorded, nextMs: Number.POSITIVE_INFINITY }
  const steps = new AskedSteps()
  const standing = yield* standingKegs(database, cellar, { lines: recorded, steps })
  const { gone } = standing
  const rules = yield* rulesOf(database, cellar.number, { rules: wanted.rules, steps })
  const judged = yield* judgedKegs(database, cellar.number, { ...wanted, rules, standing })
  const { silent, overdue, whole, nextMs } = judged
  const isAllLate = silent.size > 0 && overdue.size === judged.watched && whole.becameMs >= whole.acceptedMs
  const isWhole = isAllLate && hasRacks(database, cellar.number)
  if (isWhole && (judged.isNew || standing.isAll)) return { lines: [lineOfMany({}, whole)], more: 0, gone, nextMs }
  const lines = yield* newestLines({ database, cellar: cellar.number, judged, standing, rules, steps })
  return { lines: lines.slice(0, attentionLinesMax), more: Math.max(0, lines.length - attentionLinesMax), gone, nextMs }
}

/** A cellar with more silent racks and kegs says only that there are more. */
const silenceLinesMax = 2 * attentionLinesMax

const isOfSilence = ({ kind }: AttentionLine): boolean => kind === 'silent'

/** The kegs of recorded lines. */
type Standing = {
  readonly isAll: boolean
  readonly kegs: ReadonlySet<number>
  readonly racks: ReadonlySet<string>
  readonly gone: readonly AttentionLine[]
}

function* standingKegs(
  database: Database,
  cellar: StoredCellar,
  { lines, steps }: { readonly lines: readonly AttentionLine[]; readonly steps: AskedSteps },
): Generator<void, Standing> {
  const kegs = new Set<number>()
  const racks = new Set<string>()
  const gone: AttentionLine[] = []
  for (const line of lines) {
    const { rack, keg } = line
    if (rack === undefined) return { isAll: true, kegs, racks, gone: cellar.kegs === 0 ? [line] : [] }
    if (keg === undefined) racks.add(rack)
    const number = keg === undefined ? null : kegNumberOf(database, cellar.number, { rack, keg })
    const ofKeg = number === null ? [] : [number]
    const numbers = keg === undefined ? yield* numbersNamed(database, cellar.number, { rack, words: [] }) : ofKeg
    if (numbers.length === 0) gone.push(line)
    for (const one of numbers) {
      kegs.add(one)
      if (steps.isFull()) yield
    }
  }
  return { isAll: false, kegs, racks, gone }
}

type Known = {
  readonly database: Database
  readonly cellar: number
  readonly judged: Judged
  readonly standing: Standing
  readonly rules: Rules
  readonly steps: AskedSteps
}

/** Names are read only for as many lines as there is room for. */
function* newestLines(known: Known): Generator<void, readonly AttentionLine[]> {
  const { database, cellar, judged, steps } = known
  const lines: AttentionLine[] = []
  const partly = new Set<string>()
  for (const part of judged.parts) {
    part.sort(olderFirst(known.standing))
    yield
  }
  while (lines.length < silenceLinesMax) {
    const newest = takeNewest(judged.parts, known.standing)
    if (newest === undefined) break
    if (steps.isFull()) yield
    // The kegs of a silent rack are taken out.
    const name = judged.silent.has(newest.number) ? kegOfNumber(database, cellar, newest.number) : null
    if (name === null) continue
    const line = partly.has(name.rack) ? null : yield* lineOfRack(known, name.rack)
    if (line === null) partly.add(name.rack)
    lines.push(line ?? { kind: 'silent', sinceMs: newest.acceptedMs, ...name, afterMs: newest.afterMs })
  }
  return lines
}

const becameMs = ({ acceptedMs, afterMs }: Silent): number => acceptedMs + afterMs

/** Of kegs of one instant, two nodes must choose the same: those that are recorded. */
const takeNewest = (parts: readonly Silent[][], standing: Standing): Silent | undefined => {
  let newest: Silent[] | undefined
  for (const part of parts) {
    const [a, b] = [part.at(-1), newest?.at(-1)]
    if (a !== undefined && (b === undefined || olderFirst(standing)(b, a) < 0)) newest = part
  }
  return newest?.pop()
}

const olderFirst =
  ({ kegs }: Standing) =>
  (a: Silent, b: Silent): number =>
    becameMs(a) - becameMs(b) || Number(kegs.has(a.number)) - Number(kegs.has(b.number)) || b.number - a.number

/**
 * A keg that was silent before, and another that is merely late, are no silent rack. So one keg must have become silent now, and
 * after the last reading of all, or the rack was silent already. `null`: only some of its kegs are silent.
 */
function* lineOfRack(known: Known, rack: string): Generator<void, AttentionLine | null> {
  const { database, cellar, judged, standing, rules, steps } = known
  const numbers = yield* numbersNamed(database, cellar, { rack, words: [] })
  let isNew = standing.isAll || standing.racks.has(rack)
  let [kegs, acceptedMs, newestMs] = [0, 0, 0]
  for (const number of numbers) {
    if (steps.isFull()) yield
    if (ruleOf(rules, number)?.afterMs === Number.POSITIVE_INFINITY) continue
    const overdueMs = judged.overdue.get(number)
    if (overdueMs === undefined) return null
    const keg = judged.silent.get(number)
    kegs += 1
    acceptedMs = Math.max(acceptedMs, overdueMs)
    if (keg !== undefined) newestMs = Math.max(newestMs, becameMs(keg))
    isNew ||= keg !== undefined && !standing.kegs.has(number)
  }
  if (!isNew || newestMs < acceptedMs) return null
  for (const number of numbers) {
    judged.silent.delete(number)
    if (steps.isFull()) yield
  }
  return lineOfMany({ rack }, { kegs, acceptedMs, becameMs: newestMs })
}

const lineOfMany = (
  where: { readonly rack?: string },
  { kegs, acceptedMs, becameMs: newestMs }: Whole,
): AttentionLine => ({
  kind: 'silent',
  sinceMs: acceptedMs,
  ...where,
  count: kegs,
  afterMs: Math.max(0, newestMs - acceptedMs),
})

const hasRacks = (database: Database, cellar: number): boolean => {
  const end = (order: 'min' | 'max') =>
    database
      .query<{ readonly rack: string }, [number]>(`SELECT ${order}(rack_order) AS rack FROM kegs WHERE cellar = ?`)
      .get(cellar)?.rack
  return end('min') !== end('max')
}

type Judging = Pick<SilenceWanted, 'nowMs' | 'excused'> & { readonly rules: Rules; readonly standing: Standing }

function* judgedKegs(
  database: Database,
  cellar: number,
  { nowMs, rules, excused, standing }: Judging,
): Generator<void, Judged> {
  const next = database.query<unknown, [number, number]>(
    `SELECT keg, accepted_ms, silent_from_ms FROM latest WHERE cellar = ? AND keg > ? ORDER BY keg LIMIT ${kegsPassedPerStep}`,
  )
  const silent = new Map<number, Silent>()
  const parts: Silent[][] = []
  const overdue = new Map<number, number>()
  let [isNew, watched, lastMs, newestMs, nextMs] = [false, 0, 0, 0, Number.POSITIVE_INFINITY]
  for (let after = -1; ; ) {
    const rows = next.values(cellar, after)
    const part: Silent[] = []
    for (const [keg, accepted, silentFrom] of rows) {
      const [number, acceptedMs] = [Number(keg), Number(accepted)]
      const { afterMs, setMs } = ruleOf(rules, number) ?? { afterMs: Number(silentFrom) - acceptedMs, setMs: 0 }
      if (afterMs === Number.POSITIVE_INFINITY) continue
      watched += 1
      const overMs = nowMs - acceptedMs
      if (overMs <= afterMs / 2) {
        nextMs = Math.min(nextMs, acceptedMs + afterMs)
        continue
      }
      const excusedMs = excusedSince(excused, acceptedMs)
      const isStanding = standing.isAll || standing.kegs.has(number)
      if (isStanding || overMs - excusedMs > afterMs / 2) {
        overdue.set(number, acceptedMs)
        lastMs = Math.max(lastMs, acceptedMs)
      }
      const isSure = overMs - excusedMs > afterMs
      if (!isSure) nextMs = Math.min(nextMs, acceptedMs + afterMs + excusedMs)
      if (!isSure && !(overMs > afterMs && isStanding)) continue
      // A shorter rule makes kegs silent only now, so they are news.
      const one = { number, acceptedMs, afterMs: Math.max(afterMs, Math.min(setMs, nowMs) - acceptedMs) }
      silent.set(number, one)
      part.push(one)
      isNew ||= !isStanding
      newestMs = Math.max(newestMs, becameMs(one))
    }
    if (part.length > 0) parts.push(part)
    if (rows.length < kegsPassedPerStep) {
      const whole = { kegs: overdue.size, acceptedMs: lastMs, becameMs: newestMs }
      return { silent, parts, isNew, overdue, whole, watched, nextMs }
    }
    after = Number(rows.at(-1)?.[0])
    yield
  }
}

type Rule = { readonly afterMs: number; readonly setMs: number }

type Rules = { readonly ruled: ReadonlyMap<number, Rule>; readonly ofCellar: Rule | undefined }

const ruleOf = ({ ruled, ofCellar }: Rules, number: number): Rule | undefined => ruled.get(number) ?? ofCellar

const inMs = ({ after, setMs = 0 }: SilenceRule): Rule => ({
  afterMs: after === 'never' ? Number.POSITIVE_INFINITY : after,
  setMs,
})

/** The rule of a keg comes before that of its name, and this before that of its rack. */
function* rulesOf(
  database: Database,
  cellar: number,
  { rules, steps }: { readonly rules: readonly SilenceRule[]; readonly steps: AskedSteps },
): Generator<void, Rules> {
  const ofCellar = rules.find(({ rack, keg }) => rack === null && keg === null)
  const ruled = new Map<number, Rule>()
  for (const rule of rules) {
    const { rack, keg } = rule
    if (rack === null || keg !== null) continue
    for (const number of yield* numbersNamed(database, cellar, { rack, words: [] })) {
      ruled.set(number, inMs(rule))
      if (steps.isFull()) yield
    }
  }
  const ofNames = new Map(
    rules.flatMap((rule) => (rule.rack === null && rule.keg !== null ? [[rule.keg, inMs(rule)]] : [])),
  )
  if (ofNames.size > 0) yield* ruleNames(database, { cellar, ofNames, ruled })
  for (const rule of rules) {
    const { rack, keg } = rule
    const number = rack === null || keg === null ? null : kegNumberOf(database, cellar, { rack, keg })
    if (number !== null) ruled.set(number, inMs(rule))
  }
  return { ruled, ofCellar: ofCellar === undefined ? undefined : inMs(ofCellar) }
}

type NamesRuled = {
  readonly cellar: number
  readonly ofNames: ReadonlyMap<string, Rule>
  readonly ruled: Map<number, Rule>
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
      const rule = ofNames.get(keg)
      if (rule !== undefined) ruled.set(number, rule)
    }
    yield
  }
}

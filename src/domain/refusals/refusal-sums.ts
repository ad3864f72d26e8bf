/**
 * Sums up what a node refused of each key, so that a flood of refusals writes few events. A summary of a key is due 10 s after
 * the first refusal with a code. If refusals with this code go on, the next summary is due a minute later, and further ones every
 * 10 minutes. A summary has all codes of the key that were refused since the last one.
 *
 * Memory is bounded: sums wait for at most `refusalSumsKeysMax` keys, with at most `refusalSamplesOfAllKeysMax` samples. Refusals
 * of further keys count only for the node.
 */
import {
  refusalSamplesMax,
  refusalSamplesOfAllKeysMax,
  refusalSummaryPausesMs,
  refusalSumsBytesPerDayMax,
  refusalSumsKeysMax,
} from '../../limits.ts'
import { dayOf } from '../calendar.ts'
import type { EventData } from '../events.ts'
import { nameFault } from '../text.ts'

export type RefusedReadings = EventData<'ReadingsRefused'>
export type RefusalSample = RefusedReadings['samples'][number]

export type Refused = Omit<RefusalSample, 'rack' | 'keg'> & {
  /** The names that the body has, valid or not. `null` if the body was not read. */
  readonly rack: string | null
  readonly keg: string | null
  /** Each refused reading of a batch counts. */
  readonly count: number
}

export type Summary = { readonly keyId: string; readonly data: RefusedReadings }

type Waiting = {
  fromMs: number
  toMs: number
  readonly counts: Map<string, number>
  readonly samples: RefusalSample[]
}

/** When summaries with a code were due before, for one key. */
type Told = { readonly atMs: number; readonly times: number }

type OfKey = {
  waiting: Waiting | null
  dueMs: number
  readonly told: Map<string, Told>
}

export class RefusalSums {
  readonly #keys = new Map<string, OfKey>()
  readonly #keysMax: number
  #samples = 0
  #day = 0
  #bytesOfDay = 0

  constructor(keysMax: number = refusalSumsKeysMax) {
    this.#keysMax = keysMax
  }

  /** The number of keys that take memory. */
  get size(): number {
    return this.#keys.size
  }

  /** Returns false if the sums have no room for this key: the refusal must count for the node. */
  note(keyId: string, { count, ...refused }: Refused): boolean {
    const { atMs, code } = refused
    const key = this.#keys.get(keyId) ?? this.#newKey(keyId, atMs)
    if (key === null) return false
    const waiting = key.waiting ?? { fromMs: atMs, toMs: atMs, counts: new Map(), samples: [] }
    if (key.waiting === null) key.dueMs = Number.POSITIVE_INFINITY
    key.waiting = waiting
    waiting.toMs = Math.max(waiting.toMs, atMs)
    if (!waiting.counts.has(code)) key.dueMs = Math.min(key.dueMs, dueOf(key.told, code, atMs))
    waiting.counts.set(code, (waiting.counts.get(code) ?? 0) + count)
    if (this.#samples < refusalSamplesOfAllKeysMax) {
      const sample = { ...refused, rack: validName(refused.rack), keg: validName(refused.keg) }
      this.#samples += addSample(waiting.samples, sample)
    }
    return true
  }

  /** Returns the summaries that are due, and no longer holds them. If an append fails, give its summary back. */
  take(nowMs: number): readonly Summary[] {
    const due: Summary[] = []
    for (const [keyId, key] of this.#keys) {
      if (key.waiting === null || key.dueMs > nowMs) continue
      for (const code of key.waiting.counts.keys()) {
        key.told.set(code, { atMs: nowMs, times: (key.told.get(code)?.times ?? 0) + 1 })
      }
      this.#samples -= key.waiting.samples.length
      due.push({ keyId, data: this.#withinDay(dataOf(key.waiting), nowMs) })
      key.waiting = null
    }
    return due
  }

  /**
   * Merges summaries that were not appended with what came since. They are due again after the first pause. Returns those that
   * find no room: they must count for the node.
   */
  giveBack(summaries: readonly Summary[], nowMs: number): readonly Summary[] {
    return summaries.filter(({ keyId, data }) => {
      const key = this.#keys.get(keyId) ?? this.#newKey(keyId, nowMs)
      if (key === null) return true
      const hasRoom = this.#samples + data.samples.length <= refusalSamplesOfAllKeysMax
      const older = waitingOf(hasRoom ? data : { ...data, samples: [] })
      const newer = key.waiting
      key.waiting = newer === null ? older : merged(older, newer)
      key.dueMs = nowMs + firstPauseMs
      this.#samples += key.waiting.samples.length - (newer?.samples.length ?? 0)
      return false
    })
  }

  /** Makes room by forgetting a key that waits for nothing. Returns `null` if sums of all keys wait. */
  #newKey(keyId: string, nowMs: number): OfKey | null {
    if (this.#keys.size >= this.#keysMax) this.#forgetQuiet(nowMs)
    if (this.#keys.size >= this.#keysMax) return null
    const key: OfKey = { waiting: null, dueMs: 0, told: new Map() }
    this.#keys.set(keyId, key)
    return key
  }

  /** Forgets keys that were quiet for the last pause. If there is none, forgets any key that waits for nothing. */
  #forgetQuiet(nowMs: number): void {
    let other: string | null = null
    for (const [keyId, { waiting, told }] of this.#keys) {
      if (waiting !== null) continue
      other ??= keyId
      if ([...told.values()].every(({ atMs }) => nowMs - atMs >= lastPauseMs)) this.#keys.delete(keyId)
    }
    if (other !== null && this.#keys.size >= this.#keysMax) this.#keys.delete(other)
  }

  /** Leaves out the samples if the summaries of this day (UTC) already have `refusalSumsBytesPerDayMax` with them. */
  #withinDay(data: RefusedReadings, nowMs: number): RefusedReadings {
    if (this.#day !== dayOf(nowMs)) this.#bytesOfDay = 0
    this.#day = dayOf(nowMs)
    const bytes = bytesAtMost(data)
    const fits = this.#bytesOfDay + bytes <= refusalSumsBytesPerDayMax
    const kept = fits ? data : { ...data, samples: [] }
    this.#bytesOfDay += fits ? bytes : bytesAtMost(kept)
    return kept
  }
}

const [firstPauseMs] = refusalSummaryPausesMs
const lastPauseMs = Math.max(...refusalSummaryPausesMs)

/** Returns when a summary is due with a code that nothing waits for. A code that was quiet for the last pause begins again. */
const dueOf = (told: Map<string, Told>, code: string, nowMs: number): number => {
  const last = told.get(code)
  if (last !== undefined && nowMs - last.atMs < lastPauseMs) {
    return Math.max(nowMs + firstPauseMs, last.atMs + (refusalSummaryPausesMs[last.times] ?? lastPauseMs))
  }
  told.delete(code)
  return nowMs + firstPauseMs
}

const validName = (name: string | null): string | null => (name === null || nameFault(name) !== null ? null : name)

/**
 * Keeps the first samples. A code without a sample takes the place of the last sample of the code that has the most. Returns by how
 * many the samples grew.
 */
const addSample = (samples: RefusalSample[], sample: RefusalSample): number => {
  if (samples.length < refusalSamplesMax) {
    samples.push(sample)
    return 1
  }
  if (samples.some(({ code }) => code === sample.code)) return 0
  const frequent = mostFrequentCode(samples)
  if (frequent === null) return 0
  const replaced = samples.findLastIndex(({ code }) => code === frequent)
  samples.splice(replaced, 1)
  samples.push(sample)
  return 0
}

/** Returns `null` if each sample has another code. */
const mostFrequentCode = (samples: readonly RefusalSample[]): string | null => {
  const counts = new Map<string, number>()
  for (const { code } of samples) counts.set(code, (counts.get(code) ?? 0) + 1)
  let found: string | null = null
  for (const [code, count] of counts) if (count > (found === null ? 1 : (counts.get(found) ?? 0))) found = code
  return found
}

const dataOf = ({ fromMs, toMs, counts, samples }: Waiting): RefusedReadings => ({
  from: fromMs,
  to: toMs,
  counts: Array.from(counts, ([code, count]) => ({ code, count })),
  samples: [...samples],
})

const waitingOf = ({ from, to, counts, samples }: RefusedReadings): Waiting => ({
  fromMs: from,
  toMs: to,
  counts: new Map(counts.map(({ code, count }) => [code, count])),
  samples: [...samples],
})

const merged = (older: Waiting, newer: Waiting): Waiting => {
  const counts = new Map(older.counts)
  for (const [code, count] of newer.counts) counts.set(code, (counts.get(code) ?? 0) + count)
  const samples = [...older.samples]
  for (const sample of newer.samples) addSample(samples, sample)
  return { fromMs: Math.min(older.fromMs, newer.fromMs), toMs: Math.max(older.toMs, newer.toMs), counts, samples }
}

/** An upper bound of the bytes in the log. `length` counts UTF-16 units, of at most 3 bytes. 300 bytes are for the metadata. */
const bytesAtMost = (data: RefusedReadings): number => 3 * JSON.stringify(data).length + 300

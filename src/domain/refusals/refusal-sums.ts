/**
 * Sums up what a node refused, so that a flood of refusals writes few events. A summary of a key is due 10 s after the first
 * refusal with a code. If refusals with this code go on, the next summary is due a minute later, and further ones every 10
 * minutes. A summary has all codes of the key that were refused since the last one.
 *
 * Memory is bounded: sums wait for at most `refusalSumsKeysMax` keys, with at most `refusalSamplesOfAllKeysMax` samples. So is
 * what is written in a day (`BytesOfDay`). Refusals of further keys count only in the summary of the node, which has no samples.
 */
import { refusalSamplesOfAllKeysMax, refusalSumsKeysMax } from '../../limits.ts'
import type { ReadingRefusal } from '../refusal.ts'
import { nameFault } from '../text.ts'
import { BytesOfDay, type KeptBytes, type TakenBytes } from './bytes-of-day.ts'
import { refusalFacts } from './refusal-facts.ts'
import {
  firstPauseMs,
  type RefusalSample,
  type RefusedReadings,
  SummaryTimes,
  WaitingRefusals,
} from './waiting-refusals.ts'

export type Refused = {
  readonly requestId: string
  readonly atMs: number
  readonly code: string
  readonly refusal: ReadingRefusal
  /** The names in the body, valid or not. `null` if the body was not read. */
  readonly names: { readonly rack: string; readonly keg: string } | null
  /** Refused readings of a batch with the same code count together. */
  readonly count: number
}

/** `keyId` is `null` for the summary of the node. */
export type Summary = { readonly keyId: string | null; readonly data: RefusedReadings; readonly taken: TakenBytes }

export type RefusalSumsOptions = {
  readonly keysMax?: number
  /** Default: the day begins anew with each object. */
  readonly kept?: KeptBytes | undefined
}

export class RefusalSums {
  /** Keys with refusals that wait for their summary. */
  readonly #keys = new Map<string, WaitingRefusals>()
  /** Other keys that had a summary. The key whose summary came first is first, and gives way to a new key. */
  readonly #quiet = new Map<string, SummaryTimes>()
  #node = new WaitingRefusals(new SummaryTimes())
  readonly #day: BytesOfDay
  readonly #keysMax: number
  #samples = 0

  constructor({ keysMax = refusalSumsKeysMax, kept }: RefusalSumsOptions = {}) {
    this.#keysMax = keysMax
    this.#day = new BytesOfDay(kept)
  }

  /** The number of keys that take memory. */
  get size(): number {
    return this.#keys.size + this.#quiet.size
  }

  get hasWaiting(): boolean {
    return this.#keys.size > 0 || !this.#node.isEmpty
  }

  /** Returns what waits, and goes on holding it. */
  waiting(): readonly Omit<Summary, 'taken'>[] {
    const ofKeys = Array.from(this.#keys, ([keyId, sums]) => ({ keyId, data: sums.summary() }))
    return this.#node.isEmpty ? ofKeys : [...ofKeys, { keyId: null, data: this.#node.summary() }]
  }

  /** A refusal without a key (`null`) counts for the node. */
  note(keyId: string | null, refused: Refused): void {
    const { atMs, code, count } = refused
    const key = this.#ofKey(keyId, atMs)
    const sums = key ?? this.#node
    sums.count(code, count, atMs)
    if (key === null || this.#samples >= refusalSamplesOfAllKeysMax || !key.wantsSample(code)) return
    this.#samples -= key.samples
    key.addSample(sampleOf(refused))
    this.#samples += key.samples
  }

  /**
   * Returns at most `summariesMax` summaries that are due, and no longer holds them. With `isLast`, all summaries are due. If an
   * append fails, give its summary back.
   */
  take(
    nowMs: number,
    { summariesMax, isLast }: { readonly summariesMax: number; readonly isLast: boolean },
  ): Summary[] {
    const due: Summary[] = []
    for (const [keyId, sums] of this.#keys) {
      if (due.length === summariesMax) return due
      if (!isLast && sums.dueMs > nowMs) continue
      const summary = this.#takeKey(keyId, sums, nowMs)
      if (summary !== null) due.push(summary)
    }
    if (due.length === summariesMax || (!isLast && this.#node.dueMs > nowMs) || this.#node.isEmpty) return due
    const data = this.#node.summary()
    const taken = this.#day.take('node', data, nowMs)
    if (taken === null) return due
    this.#node.tell(nowMs)
    this.#node = new WaitingRefusals(this.#node.times)
    due.push({ keyId: null, data, taken })
    return due
  }

  /** Merges a summary that was not appended with what came since. It is due again after the first pause. */
  giveBack({ keyId, data, taken }: Summary, nowMs: number): void {
    this.#day.giveBack(taken)
    const key = this.#ofKey(keyId, nowMs)
    const sums = key ?? this.#node
    const hasRoom = key !== null && this.#samples + data.samples.length <= refusalSamplesOfAllKeysMax
    this.#samples -= key?.samples ?? 0
    sums.add(hasRoom ? data : { ...data, samples: [] }, nowMs)
    sums.dueBy(nowMs + firstPauseMs)
    this.#samples += key?.samples ?? 0
  }

  /** Returns `null` if the refusal counts for the node. */
  #ofKey(keyId: string | null, nowMs: number): WaitingRefusals | null {
    if (keyId === null || this.#day.isFullForKeys(nowMs)) return null
    const waiting = this.#keys.get(keyId)
    if (waiting !== undefined) return waiting
    const times = this.#quiet.get(keyId)
    if (times === undefined && this.size >= this.#keysMax && !this.#forgetOne()) return null
    this.#quiet.delete(keyId)
    const sums = new WaitingRefusals(times ?? new SummaryTimes())
    this.#keys.set(keyId, sums)
    return sums
  }

  /** Returns false if sums of all keys wait. */
  #forgetOne(): boolean {
    const [oldest] = this.#quiet.keys()
    return oldest !== undefined && this.#quiet.delete(oldest)
  }

  /** Returns `null` if the day has no room for the summary, which then counts for the node. */
  #takeKey(keyId: string, sums: WaitingRefusals, nowMs: number): Summary | null {
    this.#keys.delete(keyId)
    this.#quiet.set(keyId, sums.times)
    this.#samples -= sums.samples
    sums.tell(nowMs)
    const data = sums.summary()
    const withSamples = this.#day.take('samples', data, nowMs)
    if (withSamples !== null) return { keyId, data, taken: withSamples }
    const counts = { ...data, samples: [] }
    const taken = this.#day.take('counts', counts, nowMs)
    if (taken !== null) return { keyId, data: counts, taken }
    this.#node.add(counts, nowMs)
    return null
  }
}

const sampleOf = ({ requestId, atMs, code, refusal, names }: Refused): RefusalSample => ({
  requestId,
  atMs,
  code,
  ...refusalFacts(refusal),
  rack: validName(names?.rack ?? null),
  keg: validName(names?.keg ?? null),
})

const validName = (name: string | null): string | null => (name === null || nameFault(name) !== null ? null : name)

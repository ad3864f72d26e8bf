/**
 * Sums up what a node refused (docs/decisions/032-refusals-are-summed.md). A summary of a key is due 10 s after the first
 * refusal with a code. If these go on, the next is due a minute later, and further ones every 10 minutes. Memory is
 * bounded: refusals of keys beyond `refusalSumsKeysMax` count only in the summary of the node, which has no samples. What
 * is written is bounded, too (`SummaryBytes`): without room, summaries wait. The node's comes first, and then the key whose
 * last summary is oldest, so no key holds up the others. After `roomWaitMsMax`, and at a stop, a key's refusals without room
 * count in the summary of the node.
 */
import { refusalSummaryMsMax } from '../../limits.ts'
import type { ReadingRefusal } from '../refusal.ts'
import { nameFault } from '../text.ts'
import { refusalFacts } from './refusal-facts.ts'
import { bytesOfSummary, SummaryBytes } from './summary-bytes.ts'
import {
  firstPauseMs,
  type RefusalSample,
  type RefusedReadings,
  SummaryTimes,
  WaitingRefusals,
} from './waiting-refusals.ts'

export const refusalSumsKeysMax = 1_000
/** Of all keys. One takes about 400 bytes, and at most 1,500 with the longest names. */
export const refusalSamplesOfAllKeysMax = 2_000

/**
 * The refusals of a key wait at most this long for room in the log, counted from the first. Then the summary of the node counts
 * them, and it has 2 minutes until `refusalSummaryMsMax`.
 */
const roomWaitMsMax = refusalSummaryMsMax - 120_000
/** If many keys wait too long one after another, one summary of the node counts the refusals of all of them. */
const nodePauseMs = 60_000

export type Refused = {
  readonly requestId: string
  readonly atMs: number
  readonly code: string
  readonly refusal: ReadingRefusal
  /** Valid or not. `null` if the body was not read. */
  readonly names: { readonly rack: string; readonly keg: string } | null
  /** Refused readings of a batch with the same code count together. */
  readonly count: number
}

export type Summary = { readonly keyId: string | null; readonly data: RefusedReadings }

export class RefusalSums {
  readonly #keys = new Map<string, WaitingRefusals>()
  /** Keys without refusals that wait for a summary. A new key replaces the key that came first. */
  readonly #quiet = new Map<string, SummaryTimes>()
  #node = new WaitingRefusals(new SummaryTimes())
  readonly #bytes: SummaryBytes
  readonly #keysMax: number
  #samples = 0

  constructor(nowMs: number, keysMax: number = refusalSumsKeysMax) {
    this.#keysMax = keysMax
    this.#bytes = new SummaryBytes(nowMs)
  }

  get size(): number {
    return this.#keys.size + this.#quiet.size
  }

  get hasWaiting(): boolean {
    return this.#keys.size > 0 || !this.#node.isEmpty
  }

  /** The waiting refusals also stay here. */
  waiting(): readonly Summary[] {
    const ofKeys = Array.from(this.#keys, ([keyId, sums]) => ({ keyId, data: sums.summary() }))
    return this.#node.isEmpty ? ofKeys : [...ofKeys, { keyId: null, data: this.#node.summary() }]
  }

  note(keyId: string | null, refused: Refused): void {
    const { atMs, code, count } = refused
    const key = this.#ofKey(keyId)
    const sums = key ?? this.#node
    sums.count(code, count, atMs)
    if (key === null || this.#samples >= refusalSamplesOfAllKeysMax || !key.wantsSample(code)) return
    this.#samples -= key.samples
    key.addSample(sampleOf(refused))
    this.#samples += key.samples
  }

  /**
   * Removes at most `summariesMax` summaries that are due, and returns them. With `isLast`, all are due, and no key waits
   * for room. If an append fails, give its summary back.
   */
  take(
    nowMs: number,
    { summariesMax, isLast }: { readonly summariesMax: number; readonly isLast: boolean },
  ): Summary[] {
    const due: Summary[] = []
    let hasRoom = true
    for (const [keyId, sums] of this.#inTurn(isLast)) {
      if (due.length === summariesMax) break
      if (sums.isEmpty || (!isLast && sums.dueMs > nowMs)) continue
      const data = sums.summary()
      const ofStop = isLast && keyId === null
      hasRoom = (hasRoom || ofStop) && this.#bytes.take(bytesOfSummary(data), nowMs, { ofStop })
      if (hasRoom) {
        sums.tell(nowMs)
        due.push({ keyId, data })
        this.#release(keyId, sums)
      } else if (keyId !== null && (isLast || data.from <= nowMs - roomWaitMsMax)) {
        this.#node.add({ ...data, samples: [] }, nowMs)
        this.#node.dueBy(nowMs + nodePauseMs)
        this.#release(keyId, sums)
      }
    }
    return due
  }

  /** Adds the summary to the refusals that came since. It is due again after the first pause. */
  giveBack({ keyId, data }: Summary, nowMs: number): void {
    this.#bytes.add(bytesOfSummary(data))
    const key = this.#ofKey(keyId)
    const sums = key ?? this.#node
    const hasRoom = key !== null && this.#samples + data.samples.length <= refusalSamplesOfAllKeysMax
    this.#samples -= key?.samples ?? 0
    sums.add(hasRoom ? data : { ...data, samples: [] }, nowMs)
    sums.dueBy(nowMs + firstPauseMs)
    this.#samples += key?.samples ?? 0
  }

  /** At a stop, the node comes last, because it gets what has no room. */
  #inTurn(isLast: boolean): readonly (readonly [string | null, WaitingRefusals])[] {
    const keys = Array.from(this.#keys).sort(([, one], [, other]) => one.times.lastMs - other.times.lastMs)
    return isLast ? [...keys, [null, this.#node]] : [[null, this.#node], ...keys]
  }

  #ofKey(keyId: string | null): WaitingRefusals | null {
    if (keyId === null) return null
    const waiting = this.#keys.get(keyId)
    if (waiting !== undefined) return waiting
    const times = this.#quiet.get(keyId)
    if (times === undefined && this.size >= this.#keysMax && !this.#forgetOne()) return null
    this.#quiet.delete(keyId)
    const sums = new WaitingRefusals(times ?? new SummaryTimes())
    this.#keys.set(keyId, sums)
    return sums
  }

  #forgetOne(): boolean {
    const [oldest] = this.#quiet.keys()
    return oldest !== undefined && this.#quiet.delete(oldest)
  }

  #release(keyId: string | null, sums: WaitingRefusals): void {
    if (keyId === null) {
      this.#node = new WaitingRefusals(sums.times)
      return
    }
    this.#keys.delete(keyId)
    this.#quiet.set(keyId, sums.times)
    this.#samples -= sums.samples
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

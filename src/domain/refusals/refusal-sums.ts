/**
 * Sums up what a node refused (docs/decisions/032-refusals-are-summed.md). A summary of a key is due 10 s after the first
 * refusal with a code. If these go on, the next is due a minute later, and further ones every 10 minutes. Memory is
 * bounded: refusals of keys beyond `refusalSumsKeysMax` count only in the summary of the node, which has no samples. What
 * is written is bounded, too (`SummaryBytes`): without room, summaries wait. The node's comes first, and keys take turns,
 * so a key with many refusals does not hold up the others.
 */
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
  /** Had a summary, and wait for none. The key whose summary came first gives way to a new key. */
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

  /** Goes on holding it. */
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
   * At most `summariesMax` that are due, and no longer holds them. With `isLast`, all are due and none waits for room. If
   * an append fails, give its summary back.
   */
  take(
    nowMs: number,
    { summariesMax, isLast }: { readonly summariesMax: number; readonly isLast: boolean },
  ): Summary[] {
    const due: Summary[] = []
    for (const [keyId, sums] of [[null, this.#node] as const, ...this.#keys]) {
      if (due.length === summariesMax) break
      if (sums.isEmpty || (!isLast && sums.dueMs > nowMs)) continue
      const data = sums.summary()
      if (!isLast && !this.#bytes.take(bytesOfSummary(data), nowMs)) break
      this.#release(keyId, sums, nowMs)
      due.push({ keyId, data })
    }
    return due
  }

  /** Merged with what came since. It is due again after the first pause. */
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

  #release(keyId: string | null, sums: WaitingRefusals, nowMs: number): void {
    sums.tell(nowMs)
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

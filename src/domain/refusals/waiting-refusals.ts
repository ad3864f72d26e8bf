import type { EventData } from '../events.ts'

/**
 * The pauses before a summary: after the first refusal with a code, and then after each summary. The last pause repeats.
 */
const refusalSummaryPausesMs = [10_000, 60_000, 600_000] as const
export const refusalSamplesMax = 8

export type RefusedReadings = EventData<'ReadingsRefused'>
export type RefusalSample = RefusedReadings['samples'][number]

export const [firstPauseMs] = refusalSummaryPausesMs
const lastPauseMs = Math.max(...refusalSummaryPausesMs)

export class SummaryTimes {
  readonly #codes = new Map<string, { readonly atMs: number; readonly times: number }>()
  #lastMs = 0

  /** 0 before the first summary. */
  get lastMs(): number {
    return this.#lastMs
  }

  /**
   * When the first refusal with this code is due for a summary. If none came during the last pause, the code begins with
   * the first pause again.
   */
  dueMs(code: string, nowMs: number): number {
    const last = this.#codes.get(code)
    if (last !== undefined && nowMs - last.atMs < lastPauseMs) {
      return Math.max(nowMs + firstPauseMs, last.atMs + (refusalSummaryPausesMs[last.times] ?? lastPauseMs))
    }
    this.#codes.delete(code)
    return nowMs + firstPauseMs
  }

  tell(code: string, nowMs: number): void {
    this.#lastMs = nowMs
    this.#codes.set(code, { atMs: nowMs, times: (this.#codes.get(code)?.times ?? 0) + 1 })
  }
}

export class WaitingRefusals {
  readonly times: SummaryTimes
  readonly #counts = new Map<string, number>()
  #samples: readonly RefusalSample[] = []
  #fromMs = Number.POSITIVE_INFINITY
  #toMs = 0
  #dueMs = Number.POSITIVE_INFINITY

  constructor(times: SummaryTimes) {
    this.times = times
  }

  get dueMs(): number {
    return this.#dueMs
  }

  get isEmpty(): boolean {
    return this.#counts.size === 0
  }

  get samples(): number {
    return this.#samples.length
  }

  count(code: string, count: number, atMs: number): void {
    this.#count(code, count, atMs)
    if (atMs < this.#fromMs) this.#fromMs = atMs
    if (atMs > this.#toMs) this.#toMs = atMs
  }

  dueBy(atMs: number): void {
    if (atMs < this.#dueMs) this.#dueMs = atMs
  }

  wantsSample(code: string): boolean {
    const isFull = this.#samples.length >= refusalSamplesMax
    return !isFull || !this.#samples.some((sample) => sample.code === code)
  }

  /** The first samples stay. Without room, the new sample replaces the last sample of the code that has the most. */
  addSample(sample: RefusalSample): void {
    if (this.#samples.length < refusalSamplesMax) {
      this.#samples = [...this.#samples, sample]
      return
    }
    const frequent = mostFrequentCode(this.#samples)
    if (frequent === null) return
    const replaced = this.#samples.findLastIndex(({ code }) => code === frequent)
    this.#samples = [...this.#samples.toSpliced(replaced, 1), sample]
  }

  /** An older summary, whose samples stay first. */
  add({ from, to, counts, samples }: RefusedReadings, nowMs: number): void {
    for (const { code, count } of counts) this.#count(code, count, nowMs)
    this.#fromMs = Math.min(this.#fromMs, from)
    this.#toMs = Math.max(this.#toMs, to)
    const newer = this.#samples
    this.#samples = samples
    for (const sample of newer) if (this.wantsSample(sample.code)) this.addSample(sample)
  }

  summary(): RefusedReadings {
    return {
      from: this.#fromMs,
      to: this.#toMs,
      counts: Array.from(this.#counts, ([code, count]) => ({ code, count })),
      samples: [...this.#samples],
    }
  }

  tell(nowMs: number): void {
    for (const code of this.#counts.keys()) this.times.tell(code, nowMs)
  }

  #count(code: string, count: number, nowMs: number): void {
    const before = this.#counts.get(code)
    if (before === undefined) this.dueBy(this.times.dueMs(code, nowMs))
    this.#counts.set(code, (before ?? 0) + count)
  }
}

const mostFrequentCode = (samples: readonly RefusalSample[]): string | null => {
  const counts = new Map<string, number>()
  for (const { code } of samples) counts.set(code, (counts.get(code) ?? 0) + 1)
  let found: string | null = null
  for (const [code, count] of counts) if (count > (found === null ? 1 : (counts.get(found) ?? 0))) found = code
  return found
}

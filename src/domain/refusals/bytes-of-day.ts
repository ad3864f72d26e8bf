import {
  refusalBytesKeptAhead,
  refusalCountsBytesPerDayMax,
  refusalSamplesBytesPerDayMax,
  refusalSummaryBytesBesideData,
  refusalSumsBytesPerDayMax,
} from '../../limits.ts'
import { dayOf } from '../calendar.ts'
import type { EventData } from '../events.ts'

/** What a summary has: samples and counts of a key, counts of a key alone, or counts of the node. */
export type SummaryKind = 'samples' | 'counts' | 'node'

const bytesMax: Readonly<Record<SummaryKind, number>> = {
  samples: refusalSamplesBytesPerDayMax,
  counts: refusalCountsBytesPerDayMax,
  node: refusalSumsBytesPerDayMax,
}

/** `day` is in days since 1970 (UTC). */
export type TakenBytes = { readonly day: number; readonly bytes: number }

/** Keeps what a day has used. Otherwise a node that starts again and again would have a whole day's bytes each time. */
export type KeptBytes = {
  /** `null` if nothing is kept. */
  load(): TakenBytes | null
  save(used: TakenBytes): void
}

export const keepsNothing: KeptBytes = { load: () => null, save: () => {} }

/**
 * Bounds what the summaries of a node write to the log on one day (UTC). When the share for samples is used up, summaries have
 * counts alone. When the share for keys is used up too, all refusals count only for the node. The rest is left for the node.
 */
export class BytesOfDay {
  readonly #kept: KeptBytes
  #day: number
  #bytes: number
  /** At least `#bytes`. */
  #keptBytes: number
  #isFullForKeys = false

  constructor(kept: KeptBytes = keepsNothing) {
    const last = kept.load()
    this.#kept = kept
    this.#day = last?.day ?? 0
    this.#bytes = last?.bytes ?? 0
    this.#keptBytes = this.#bytes
  }

  isFullForKeys(nowMs: number): boolean {
    this.#begin(nowMs)
    return this.#isFullForKeys
  }

  /** Returns `null` if the day has no room for this summary. */
  take(kind: SummaryKind, data: EventData<'ReadingsRefused'>, nowMs: number): TakenBytes | null {
    this.#begin(nowMs)
    const bytes = Buffer.byteLength(JSON.stringify(data)) + refusalSummaryBytesBesideData
    const fits = this.#bytes + bytes <= bytesMax[kind]
    if (kind === 'counts' && !fits) this.#isFullForKeys = true
    if (!fits) return null
    this.#bytes += bytes
    if (this.#bytes > this.#keptBytes) this.#keep()
    return { day: this.#day, bytes }
  }

  giveBack({ day, bytes }: TakenBytes): void {
    if (day === this.#day) this.#bytes -= bytes
  }

  #begin(nowMs: number): void {
    const day = dayOf(nowMs)
    if (day === this.#day) return
    this.#day = day
    this.#bytes = 0
    this.#keptBytes = 0
    this.#isFullForKeys = false
  }

  #keep(): void {
    this.#keptBytes = this.#bytes + refusalBytesKeptAhead
    this.#kept.save({ day: this.#day, bytes: this.#keptBytes })
  }
}

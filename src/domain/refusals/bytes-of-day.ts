import {
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

/**
 * Bounds what the summaries of a node write to the log on one day (UTC). When the share for samples is used up, summaries have
 * counts alone. When the share for keys is used up too, all refusals count only for the node. The rest is left for the node.
 */
export class BytesOfDay {
  #day = 0
  #bytes = 0
  #isFullForKeys = false

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
    this.#isFullForKeys = false
  }
}

import { dayMs } from '../calendar.ts'
import type { EventData } from '../events.ts'

/** With what it has saved up, a node writes at most 64 MiB in 24 hours. */
export const refusalSummaryBytesPerDay = 48 * 1024 * 1024
export const refusalSummaryBytesSavedMax = 16 * 1024 * 1024
/** Kept for the node's summary at a stop. It has no samples, so it is smaller with all 34 codes. */
export const refusalSummaryBytesOfStop = 2_560
/** Id, type, stream, metadata and framing. */
export const refusalSummaryBytesBesideData = 500

/**
 * A node earns bytes only while it runs, and first those for its stop. So it needs no memory of what it wrote before. A run
 * writes no more than it earns, or what is kept for its stop if that is more.
 */
export class SummaryBytes {
  #bytes = 0
  #isStopping = false
  #earnedToMs: number

  constructor(nowMs: number) {
    this.#earnedToMs = nowMs
  }

  /** Only `ofStop` takes what is kept for the stop. */
  take(bytes: number, nowMs: number, { ofStop }: { readonly ofStop: boolean }): boolean {
    this.add(Math.max(0, nowMs - this.#earnedToMs) * (refusalSummaryBytesPerDay / dayMs))
    this.#earnedToMs = nowMs
    if (ofStop && !this.#isStopping) this.#bytes = Math.max(this.#bytes, refusalSummaryBytesOfStop)
    this.#isStopping ||= ofStop
    if (bytes + (ofStop ? 0 : refusalSummaryBytesOfStop) > this.#bytes) return false
    this.#bytes -= bytes
    return true
  }

  add(bytes: number): void {
    this.#bytes = Math.min(this.#bytes + bytes, refusalSummaryBytesSavedMax)
  }
}

export const bytesOfSummary = (data: EventData<'ReadingsRefused'>): number =>
  Buffer.byteLength(JSON.stringify(data)) + refusalSummaryBytesBesideData

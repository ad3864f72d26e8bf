import { refusalSummaryBytesBesideData, refusalSummaryBytesPerDay, refusalSummaryBytesSavedMax } from '../../limits.ts'
import { dayMs } from '../calendar.ts'
import type { EventData } from '../events.ts'

/**
 * Bounds what the summaries of a node write to the log. The node earns bytes only while it runs, and begins with none. So it needs no
 * memory of what it wrote before, and starting again and again earns it nothing.
 */
export class SummaryBytes {
  #bytes = 0
  #earnedToMs: number

  constructor(nowMs: number) {
    this.#earnedToMs = nowMs
  }

  /** Returns true and takes the bytes, if there are enough. */
  take(bytes: number, nowMs: number): boolean {
    this.add(Math.max(0, nowMs - this.#earnedToMs) * (refusalSummaryBytesPerDay / dayMs))
    this.#earnedToMs = nowMs
    if (bytes > this.#bytes) return false
    this.#bytes -= bytes
    return true
  }

  add(bytes: number): void {
    this.#bytes = Math.min(this.#bytes + bytes, refusalSummaryBytesSavedMax)
  }
}

export const bytesOfSummary = (data: EventData<'ReadingsRefused'>): number =>
  Buffer.byteLength(JSON.stringify(data)) + refusalSummaryBytesBesideData

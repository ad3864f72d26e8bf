import { dayMs } from '../calendar.ts'
import type { EventData } from '../events.ts'

/**
 * With what it has saved up, a node writes at most 64 MiB in 24 hours. If 1,000 keys are always refused, each has a summary
 * every 25 minutes.
 */
export const refusalSummaryBytesPerDay = 48 * 1024 * 1024
export const refusalSummaryBytesSavedMax = 16 * 1024 * 1024
/** Id, type, stream, metadata and framing. */
export const refusalSummaryBytesBesideData = 500

/**
 * A node earns bytes only while it runs, and begins with none. So it needs no memory of what it wrote before, and starting
 * again and again earns it nothing.
 */
export class SummaryBytes {
  #bytes = 0
  #earnedToMs: number

  constructor(nowMs: number) {
    this.#earnedToMs = nowMs
  }

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

import { Histogram, latencyBounds } from '../histogram.ts'

const groupEventsBounds = [1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536] as const

/** Since the log was opened. A group is a commit of the embedded log, or an append to EventStoreDB. */
export class AppendFigures {
  /** How long its first append has waited until the group was sent. As below, counted for each event. */
  readonly waitSeconds = new Histogram(latencyBounds)
  /** From then until its appends were answered. */
  readonly commitSeconds = new Histogram(latencyBounds)
  readonly groupEvents = new Histogram(groupEventsBounds)

  /** Both in ms. The returned function takes the ms at which the group was answered. */
  sent(events: number, waitingSinceMs: number, nowMs: number): (answeredMs: number) => void {
    this.groupEvents.observe(events)
    this.waitSeconds.observe((nowMs - waitingSinceMs) / 1_000, events)
    return (answeredMs) => this.commitSeconds.observe((answeredMs - nowMs) / 1_000, events)
  }
}

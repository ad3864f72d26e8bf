import { dayMs, hourMs } from '../domain/calendar.ts'
import { Histogram, latencyBounds, quantileOf } from '../histogram.ts'
import { heartbeatMs } from '../limits.ts'
import type { DiskFigures } from '../log/event-log.ts'
import type { Schedule } from '../schedule.ts'
import type { BackupFact } from './declare-fact.ts'

/** The facts of the last minute are looked at in these steps. */
export const minuteStepMs = 10_000
const minuteSteps = 6
/** The space of the disk is compared with that of an hour and of a day ago, in these steps. */
export const diskStepMs = 600_000
const hourSteps = 6
const daySteps = 144

export type Watched = {
  readonly storedReadings: () => number
  readonly storeSeconds: Histogram
  readonly disk: () => DiskFigures | null
  /** Never settles if the disk hangs. */
  readonly lastBackup: () => Promise<BackupFact | null>
}

type Moment = { readonly atMs: number; readonly stored: number; readonly counts: readonly number[] }
type Space = { readonly atMs: number; readonly freeBytes: number }

/** What can only be known by looking at a node again and again. */
export class FactWatch {
  readonly loopLagSeconds = new Histogram(latencyBounds)
  readonly #watched: Watched
  readonly #schedule: Schedule
  readonly #passedMs: () => number
  #moments: readonly Moment[]
  #spaces: readonly Space[] = []
  /** `undefined`: not known yet. */
  #lastBackup: BackupFact | null | undefined
  #dueMs: number
  #forget: () => void = () => {}

  constructor(watched: Watched, schedule: Schedule, passedMs: () => number) {
    this.#watched = watched
    this.#schedule = schedule
    this.#passedMs = passedMs
    this.#moments = [this.#moment(passedMs())]
    this.#lookAtBackup()
    this.#dueMs = passedMs() + heartbeatMs
    this.#lookLater()
  }

  stop(): void {
    this.#forget()
  }

  /** Of at most the last minute. `p99Seconds` is `null` if no reading was stored. */
  get lastMinute(): { readonly stored: number; readonly overMs: number; readonly p99Seconds: number | null } {
    const now = this.#moment(this.#passedMs())
    const then = this.#moments[0] ?? now
    const counts = now.counts.map((count, bucket) => count - (then.counts[bucket] ?? 0))
    return {
      stored: now.stored - then.stored,
      overMs: now.atMs - then.atMs,
      p99Seconds: quantileOf(this.#watched.storeSeconds.bounds, counts, 0.99),
    }
  }

  /** Of the data folder, by `cellarbook backup`. */
  get lastBackup(): BackupFact | null {
    return this.#lastBackup ?? null
  }

  get isBackupKnown(): boolean {
    return this.#lastBackup !== undefined
  }

  /**
   * At the rate of the last day, in which a short burst counts little. At that of the last hour, if the disk would be full within a
   * day: the rate of a day hides what has just begun. `null`: not known before an hour has passed.
   * `Infinity`: the disk does not fill.
   */
  get diskFullInSeconds(): number | null {
    const disk = this.#watched.disk()
    const [first] = this.#spaces
    const nowMs = this.#passedMs()
    if (disk === null || first === undefined || nowMs - first.atMs < hourMs) return null
    const fullInMs = (then: Space): number => {
      const bytesPerMs = (then.freeBytes - disk.freeBytes) / (nowMs - then.atMs)
      return bytesPerMs <= 0 ? Number.POSITIVE_INFINITY : Math.max(0, disk.freeBytes - disk.reserveBytes) / bytesPerMs
    }
    const ofHourMs = fullInMs(this.#spaces.at(-1 - hourSteps) ?? first)
    return (ofHourMs <= dayMs ? Math.min(ofHourMs, fullInMs(first)) : fullInMs(first)) / 1_000
  }

  #lookLater(): void {
    this.#forget = this.#schedule.after(heartbeatMs, () => {
      const nowMs = this.#passedMs()
      this.loopLagSeconds.observe(Math.max(0, nowMs - this.#dueMs) / 1_000)
      this.#dueMs = nowMs + heartbeatMs
      this.#look(nowMs)
      this.#lookLater()
    })
  }

  #lookAtBackup(): void {
    void this.#watched.lastBackup().then((last) => {
      this.#lastBackup = last
    })
  }

  #look(nowMs: number): void {
    const last = this.#moments.at(-1)
    if (last === undefined || nowMs - last.atMs >= minuteStepMs) {
      this.#moments = [...this.#moments, this.#moment(nowMs)].slice(-minuteSteps)
      this.#lookAtBackup()
    }
    const disk = this.#watched.disk()
    const lastSpace = this.#spaces.at(-1)
    if (disk === null || (lastSpace !== undefined && nowMs - lastSpace.atMs < diskStepMs)) return
    this.#spaces = [...this.#spaces, { atMs: nowMs, freeBytes: disk.freeBytes }].slice(-daySteps)
  }

  #moment(atMs: number): Moment {
    const { storedReadings, storeSeconds } = this.#watched
    return { atMs, stored: storedReadings(), counts: storeSeconds.counts }
  }
}

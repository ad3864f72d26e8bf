import type { Database } from 'bun:sqlite'
import { hourOf, minuteOf } from '../../domain/calendar.ts'
import type { LogItem } from '../../domain/reading/recorded-run.ts'
import { keyStream } from '../../domain/stream-names.ts'
import { modelRowsPerStep } from '../../limits.ts'
import { formatVersion, tables } from '../../log/ask-index/ask-schema.ts'
import { FlushSteps } from '../flush-steps.ts'
import type { Model, ModelKind } from '../model.ts'
import { AskFold, askHoursKeptMs, askMinutesKeptMs, type Folded } from './ask-fold.ts'
import { CountRows } from './count-rows.ts'
import { NameNumbers } from './name-numbers.ts'
import { OldMinutes } from './old-minutes.ts'
import { PlaceRows } from './place-rows.ts'
import { PurgedCounts } from './purged-counts.ts'
import { SeenRows } from './seen-rows.ts'

/** How often `ask.db` is flushed if nobody asks. */
const askWriteEveryMs = 10_000
/** A flush also deletes old counts: at most this number more than it adds. So a file with too many gets shorter. */
const askTrimmedAtOnceMax = 2_000

/** For the questions of people. */
export const askModel: ModelKind = {
  name: 'ask',
  format: formatVersion,
  tables,
  flushEveryMs: askWriteEveryMs,
  open: (database) => new AskModel(database),
}

class AskModel implements Model {
  readonly #places: PlaceRows
  readonly #counts: CountRows
  readonly #seen: SeenRows
  readonly #oldMinutes: OldMinutes
  readonly #purged: PurgedCounts
  readonly #fold: AskFold
  readonly #steps = new FlushSteps()
  readonly #created = new Map<string, string>()

  constructor(database: Database) {
    const names = new NameNumbers(database)
    this.#places = new PlaceRows(database, names)
    this.#counts = new CountRows(database, names)
    this.#seen = new SeenRows(database, names)
    this.#oldMinutes = new OldMinutes(database, this.#steps)
    this.#purged = new PurgedCounts(database, { names, counts: this.#counts, seen: this.#seen })
    const ofStream = (stream: string): string | null => this.#created.get(stream) ?? this.#places.cellarOfStream(stream)
    this.#fold = new AskFold({ ofStream, ofKey: (keyId) => ofStream(keyStream(keyId)) }, this.#places.lastMinute())
  }

  get pending(): number {
    return this.#fold.entries
  }

  fold(items: readonly LogItem[]): void {
    for (const item of items) {
      if (item.type === 'KeyCreated' || item.type === 'CellarCreated') this.#created.set(item.stream, item.data.cellar)
    }
    this.#fold.fold(items)
  }

  *flush(nowMs: number): Generator<void> {
    const folded = this.#fold.take(nowMs)
    yield* this.#steps.each(folded.places, (place) => this.#places.add(place))
    for (const minute of folded.minutes) this.#places.addMinute(minute)
    yield* this.#addMinutes(folded, minuteOf(nowMs - askMinutesKeptMs))
    yield* this.#addHours(folded, hourOf(nowMs - askHoursKeptMs))
    yield* this.#steps.each(folded.seen, (seen) => this.#seen.add(seen))
    for (const { stream, keptFrom, counts } of folded.forgotten) {
      yield* this.#places.forgetBefore(stream, keptFrom)
      if (counts !== null) this.#purged.forget(counts)
      yield
    }
    this.#seen.evict()
    this.#created.clear()
  }

  /** A count that is too old already is not added: a new file reads old events, too. */
  *#addMinutes({ minuteCounts }: Folded, first: number): Generator<void> {
    const cellars = new Set<number>()
    yield* this.#steps.each(minuteCounts, (each) => {
      if (each.minute >= first) cellars.add(this.#counts.addMinute(each))
    })
    yield* this.#oldMinutes.trim(cellars, first, minuteCounts.length + askTrimmedAtOnceMax)
  }

  *#addHours({ hourCounts }: Folded, first: number): Generator<void> {
    yield* this.#steps.each(hourCounts, (each) => {
      if (each.hour >= first) this.#counts.addHour(each)
    })
    for (let left = hourCounts.length + askTrimmedAtOnceMax; left > 0; left -= modelRowsPerStep) {
      const atOnce = Math.min(left, modelRowsPerStep)
      if (this.#counts.deleteHoursBefore(first, atOnce) < atOnce) return
      yield
    }
  }
}

import type { RecordedEvent } from '../src/domain/events.ts'
import { parseTimestamp } from '../src/domain/reading/timestamp.ts'
import { readingsStream } from '../src/domain/stream-names.ts'
import { barriersPerKeyMax, futureSkewMsMax, latestReadingsPerCellarMax } from '../src/limits.ts'
import { readBarrier, writeBarrier } from './barrier-record.ts'
import { Keg, numbersPerKeg, type Source } from './keg.ts'
import { KegMemory } from './keg-memory.ts'
import { KegSaving } from './keg-saving.ts'
import { Kegs } from './kegs.ts'
import { readPurged, writePurged } from './purge-record.ts'
import type { AcceptedReading, Barrier, FoundKegs, KegLatest, KegName, Purged, ReadingQueries } from './queries.ts'
import { kinds, type RecordReader, type RecordWriter } from './records.ts'
import { Ring } from './ring.ts'

/** One readings stream. Kept for every key for ever: a few numbers, the last reading, and the last barriers. */
type Stream = Source & {
  revision: number
  accepted: number
  last: AcceptedReading | null
  barriers: readonly Barrier[]
  purged: Purged | null
  /** All before it were folded or must have been purged. */
  missingBefore: number
}

type Cellar = {
  readonly name: string
  readonly number: number
  readonly latest: Ring<AcceptedReading>
  readonly kegs: Kegs
  /**
   * Readings accepted before it (ms) are purged, or about to be, and not shown any more: what is shown then is the same
   * whether they were folded once or are gone from the log. The last of a key stays, and counts as its usage all the same.
   */
  keptFromMs: number
}

/**
 * What came in, as far as pages show it. `foldAccepted` runs for every reading before it is answered: constant work, and
 * one object, which is kept. Sorting is for whoever asks.
 */
export class ReadingsFold implements ReadingQueries {
  /** Streams and cellars in the order of their first reading, which is their number. */
  readonly #streams: Stream[] = []
  readonly #streamNamed = new Map<string, Stream>()
  readonly #streamOfKey = new Map<string, Stream>()
  readonly #cellars: Cellar[] = []
  readonly #cellarNamed = new Map<string, Cellar>()
  readonly #saving = new KegSaving()
  readonly #memory = new KegMemory(numbersPerKeg)

  foldAccepted(event: RecordedEvent<'ReadingAccepted'>): void {
    const stream = this.#streamOf(event.stream)
    if (!isNews(stream, event)) return
    const { cellar: name, rack, keg: kegName, value, timestamp } = event.data
    const { recordedAt } = event
    const timestampMs = instantOf(event)
    const clockSkew = timestampMs - recordedAt > futureSkewMsMax
    const cellar = this.#cellarOf(name)
    const keg = cellar.kegs.touch(rack, kegName, event.position)
    const reading: AcceptedReading = {
      stream: stream.stream,
      revision: event.revision,
      position: event.position,
      keyId: stream.keyId,
      recordedAt,
      cellar: cellar.name,
      rack: keg.rack,
      keg: keg.keg,
      value,
      timestamp,
      clockSkew,
      repeatOf: keg.remember({ recordedAt, value, timestamp, timestampMs }),
    }
    if (!clockSkew) keg.offerLatest(reading, timestampMs, stream)
    cellar.latest.push(reading)
    stream.revision = event.revision
    stream.accepted += 1
    stream.last = reading
  }

  foldBarrier(event: Barrier): void {
    const stream = this.#streamOf(event.stream)
    if (!isNews(stream, event)) return
    stream.barriers = [...stream.barriers, event].slice(-barriersPerKeyMax)
    stream.revision = event.revision
  }

  /**
   * What was purged may have been folded, or gone from the log before it was: afterwards all is as if it had never been
   * folded, but for the count. Of more than `barriersPerKeyMax` fences some are counted as readings from then on.
   */
  foldPurged(event: RecordedEvent<'ReadingsPurged'>): void {
    const { cellar: name, keyId, lastRevision, readings, acceptedBefore } = event.data
    const stream = this.#streamOf(readingsStream(keyId))
    if (lastRevision < (stream.purged?.keptFrom ?? 0)) return
    const purged = { keptFrom: lastRevision + 1, readings: (stream.purged?.readings ?? 0) + readings, last: event }
    stream.purged = purged
    stream.revision = Math.max(stream.revision, lastRevision)
    stream.barriers = stream.barriers.filter(({ revision }) => revision > lastRevision)
    stream.accepted = purged.readings + stream.revision - lastRevision - stream.barriers.length
    const cellar = this.#cellarOf(name)
    cellar.keptFromMs = Math.max(cellar.keptFromMs, acceptedBefore)
    cellar.kegs.forgetBefore(cellar.keptFromMs)
  }

  latest(name: string): readonly AcceptedReading[] {
    const cellar = this.#cellarNamed.get(name)
    if (cellar === undefined) return []
    const { latest, keptFromMs } = cellar
    const kept = latest.toArray().filter(({ recordedAt }) => recordedAt >= keptFromMs)
    return kept.reverse().map((reading) => shownSince(keptFromMs, reading))
  }

  *findKegs(name: string, words: readonly string[]): Generator<void, FoundKegs> {
    const cellar = this.#cellarNamed.get(name)
    return cellar === undefined ? { found: [], all: 0 } : yield* cellar.kegs.find(words, cellar.keptFromMs)
  }

  kegs(name: string, names: readonly KegName[]): readonly KegLatest[] {
    const cellar = this.#cellarNamed.get(name)
    if (cellar === undefined) return []
    const { kegs, keptFromMs } = cellar
    return names.flatMap((one) => {
      const keg = kegs.show(one, keptFromMs)
      return keg === null ? [] : [{ ...keg, latest: shownSince(keptFromMs, keg.latest) }]
    })
  }

  usage(
    keyId: string,
  ): { readonly lastUsedAt: number; readonly accepted: number; readonly last: AcceptedReading } | null {
    const stream = this.#streamOfKey.get(keyId)
    if (stream === undefined || stream.last === null) return null
    const { last, accepted } = stream
    const keptFromMs = this.#cellarNamed.get(last.cellar)?.keptFromMs ?? 0
    return { lastUsedAt: last.recordedAt, accepted, last: shownSince(keptFromMs, last) }
  }

  purged(keyId: string): Purged | null {
    return this.#streamOfKey.get(keyId)?.purged ?? null
  }

  purgedKeys(): readonly string[] {
    return this.#streams.filter(({ purged }) => purged !== null).map(({ keyId }) => keyId)
  }

  gaps(): readonly string[] {
    const withGap = this.#streams.filter(({ purged, missingBefore }) => missingBefore > (purged?.keptFrom ?? 0))
    return withGap.map(({ keyId }) => keyId)
  }

  barriers(keyId: string): readonly Barrier[] {
    return this.#streamOfKey.get(keyId)?.barriers ?? []
  }

  /**
   * Begins at once: what changes in place is copied, or written aside before it changes (`KegSaving`). The pieces are made
   * as they are asked for; `to` may have records of others before it.
   */
  save(to: RecordWriter): Generator<Uint8Array> {
    this.#saving.begin(to)
    const streams = this.#streams.map((stream) => ({ ...stream }))
    const cellars = this.#cellars.map((cellar) => ({ ...cellar, latest: cellar.latest.toArray() }))
    return this.#pieces(to, streams, cellars)
  }

  /** Whether or not every piece was asked for. */
  endSave(): void {
    this.#saving.end()
  }

  /** One record of that kind. @throws RangeError if it is not what `save` wrote. */
  restoreStream(from: RecordReader): void {
    const stream = this.#streamOf(from.name())
    stream.revision = from.signed()
    stream.accepted = from.whole()
    stream.last = from.optional(() => this.#readReading(from))
    stream.barriers = from.list(() => readBarrier(from, stream.stream))
    stream.purged = from.optional(() => readPurged(from))
    stream.missingBefore = from.whole()
  }

  restoreLatest(from: RecordReader): void {
    const cellar = this.#cellarOf(from.name())
    const { latest } = cellar
    cellar.keptFromMs = from.whole()
    for (const reading of from.list(() => this.#readReading(from))) latest.push(reading)
  }

  /** The last kind: `kegs` gathers them by the number of their cellar, for `restoreKegs`. */
  readKeg(from: RecordReader, kegs: Keg[][]): void {
    const number = from.whole()
    if (number >= this.#cellars.length) throw new RangeError(`a keg names cellar ${number}, which is not there`)
    const ofCellar = kegs[number] ?? []
    kegs[number] = ofCellar
    const keg = new Keg(from.name(), from.name(), this.#memory)
    keg.restore(from, this.#streams)
    ofCellar.push(keg)
  }

  restoreKegs(kegs: readonly Keg[][]): void {
    for (const { number, kegs: own } of this.#cellars) own.restore(kegs[number] ?? [])
  }

  *#pieces(
    to: RecordWriter,
    streams: readonly Readonly<Stream>[],
    cellars: readonly (Omit<Cellar, 'latest'> & { readonly latest: readonly AcceptedReading[] })[],
  ): Generator<Uint8Array> {
    for (const stream of streams) {
      to.byte(kinds.stream)
      to.name(stream.stream)
      to.signed(stream.revision)
      to.whole(stream.accepted)
      to.optional(stream.last, (last) => this.#writeReading(to, last))
      to.list(stream.barriers, (barrier) => writeBarrier(to, barrier))
      to.optional(stream.purged, (purged) => writePurged(to, purged))
      to.whole(stream.missingBefore)
      if (to.isFull) yield to.lend()
    }
    for (const { name, latest, keptFromMs } of cellars) {
      to.byte(kinds.latest)
      to.name(name)
      to.whole(keptFromMs)
      to.list(latest, (reading) => this.#writeReading(to, reading))
      if (to.isFull) yield to.lend()
    }
    for (const { number, kegs } of cellars) {
      for (const keg of kegs.unsaved()) {
        this.#saving.write(to, number, keg)
        if (!to.isFull) continue
        yield to.lend()
        const changing = this.#saving.cutChanging({ isLast: false })
        if (changing !== null) yield changing
      }
    }
    if (!to.isEmpty) yield to.lend()
    const changing = this.#saving.cutChanging({ isLast: true })
    if (changing !== null) yield changing
  }

  #writeReading(to: RecordWriter, reading: AcceptedReading): void {
    to.whole(this.#streamNamed.get(reading.stream)?.number ?? 0)
    to.whole(reading.revision)
    to.whole(reading.position)
    to.whole(reading.recordedAt)
    to.name(reading.cellar)
    to.name(reading.rack)
    to.name(reading.keg)
    to.float(reading.value)
    to.text(reading.timestamp)
    to.flag(reading.clockSkew)
    to.optional(reading.repeatOf, (day) => to.whole(day))
  }

  #readReading(from: RecordReader): AcceptedReading {
    const number = from.whole()
    const stream = this.#streams[number]
    if (stream === undefined) throw new RangeError(`a reading names stream ${number}, which is not there`)
    return {
      stream: stream.stream,
      revision: from.whole(),
      position: from.whole(),
      keyId: stream.keyId,
      recordedAt: from.whole(),
      cellar: from.name(),
      rack: from.name(),
      keg: from.name(),
      value: from.float(),
      timestamp: from.text(),
      clockSkew: from.flag(),
      repeatOf: from.optional(() => from.whole()),
    }
  }

  #streamOf(name: string): Stream {
    const known = this.#streamNamed.get(name)
    if (known !== undefined) return known
    const keyId = name.slice(name.indexOf('-') + 1)
    const number = this.#streams.length
    const none = { revision: -1, accepted: 0, last: null, barriers: [], purged: null, missingBefore: 0 }
    const stream: Stream = { number, stream: name, keyId, ...none }
    this.#streams.push(stream)
    this.#streamNamed.set(name, stream)
    this.#streamOfKey.set(keyId, stream)
    return stream
  }

  #cellarOf(name: string): Cellar {
    const known = this.#cellarNamed.get(name)
    if (known !== undefined) return known
    const number = this.#cellars.length
    const kegs = new Kegs({ name, number }, { saving: this.#saving, memory: this.#memory })
    const latest = new Ring<AcceptedReading>(latestReadingsPerCellarMax, wasAcceptedBefore)
    const cellar: Cellar = { name, number, latest, kegs, keptFromMs: 0 }
    this.#cellars.push(cellar)
    this.#cellarNamed.set(name, cellar)
    return cellar
  }
}

/** Whether it is to be folded; `false` if it was folded before, or purged. What it leaves out must turn out to be purged. */
const isNews = (stream: Stream, event: RecordedEvent): boolean => {
  if (event.revision <= stream.revision) return false
  if (event.revision > stream.revision + 1) stream.missingBefore = event.revision
  return true
}

/** By time, then by position: the same order whichever stream was folded first. */
const wasAcceptedBefore = (a: AcceptedReading, b: AcceptedReading): boolean =>
  a.recordedAt < b.recordedAt || (a.recordedAt === b.recordedAt && a.position < b.position)

/** What it repeats may have been purged since. */
const shownSince = (keptFromMs: number, reading: AcceptedReading): AcceptedReading =>
  reading.repeatOf === null || reading.repeatOf >= keptFromMs ? reading : { ...reading, repeatOf: null }

/** What is in the log was judged before it was written, so a timestamp that keeps no rule is a bug. */
const instantOf = (event: RecordedEvent<'ReadingAccepted'>): number => {
  const timestampMs = parseTimestamp(event.data.timestamp)
  if (typeof timestampMs === 'number') return timestampMs
  throw new Error(`Cannot fold revision ${event.revision} of "${event.stream}": its timestamp keeps no rule`)
}

import { secondText } from '../src/domain/calendar.ts'
import type { RecordedEvent } from '../src/domain/events.ts'
import { countOf, isBatch, type Readings } from '../src/domain/reading/columns.ts'
import type { RecordedRun } from '../src/domain/reading/recorded-run.ts'
import { readingsStream } from '../src/domain/stream-names.ts'
import { barriersPerKeyMax, futureSkewMsMax, latestReadingsPerCellarMax } from '../src/limits.ts'
import { ArrivingReading } from './arriving-reading.ts'
import { Keg, numbersPerKeg } from './keg.ts'
import type { Source } from './keg-latest.ts'
import { KegMemory } from './keg-memory.ts'
import { KegSaving } from './keg-saving.ts'
import { Kegs } from './kegs.ts'
import { LatestReadings } from './latest-readings.ts'
import type { AcceptedReading, Barrier, FoundKegs, KegLatest, KegName, Purged, ReadingQueries } from './queries.ts'
import { readBarrier, readPurged, writeBarrier, writePurged } from './saved-fields.ts'
import { entryKinds, type PieceReader, type PieceWriter } from './saved-pieces.ts'

type Stream = Source & {
  revision: number
  accepted: number
  last: AcceptedReading | null
  barriers: readonly Barrier[]
  purged: Purged | null
  /**
   * The first revision after the newest gap. A gap is a range of revisions that this node never got. 0: there is no
   * gap. If no purge explains the gap, `gaps` returns the key.
   */
  missingBefore: number
}

type Cellar = {
  readonly name: string
  readonly number: number
  readonly latest: LatestReadings
  readonly kegs: Kegs
  /**
   * Readings that were accepted before this time (ms) are purged. They are not shown, even if this node has folded
   * them. Only `usage` still shows a key's last reading.
   */
  keptFromMs: number
}

/** `revision` and `position` are those of the request's first reading. */
type Place = {
  readonly revision: number
  readonly position: number
  /** The positions of all readings of the run, in which `before` readings precede the request. `null`: they have no gaps. */
  readonly positions: Float64Array | null
  readonly before: number
  readonly from: number
  readonly keptFrom: number
}

/**
 * Holds the latest readings of each cellar, its kegs, and the usage of each key. Readings are folded before
 * each answer to a device, so folding must be fast.
 */
export class AcceptedReadings implements ReadingQueries {
  readonly #streams: Stream[] = []
  readonly #streamNamed = new Map<string, Stream>()
  readonly #cellars: Cellar[] = []
  readonly #cellarNamed = new Map<string, Cellar>()
  readonly #saving = new KegSaving()
  readonly #memory = new KegMemory(numbersPerKeg)
  readonly #arriving = new ArrivingReading()

  foldAccepted({ stream: name, revision, position, recordedAt, data }: RecordedEvent<'ReadingAccepted'>): void {
    const stream = this.#streamOf(name)
    if (revision <= stream.revision) return
    this.#arriving.recordedAt = recordedAt
    const at = { revision, position, positions: null, before: 0, from: 0, keptFrom: revision }
    this.#foldReadings(stream, data, at)
  }

  /** Gives the same state as `foldAccepted` with each event of the run. All readings of a run have the cellar of its key. */
  foldRun(recorded: RecordedRun): void {
    const { stream: name, revision, positions, run } = recorded
    const stream = this.#streamOf(name)
    this.#arriving.recordedAt = run.recordedAt
    // A cellar shows only its last readings, so the readings before them need no object.
    const keptFrom = revision + run.count - latestReadingsPerCellarMax
    let before = 0
    for (const { readings } of run.requests) {
      const count = countOf(readings)
      // A part of the run can have been folded before, because an actor and a subscription can deliver the same reading.
      const from = Math.max(0, stream.revision + 1 - revision - before)
      const position = recorded.positionAt(before)
      const at = { revision: revision + before, position, positions, before, from, keptFrom }
      if (from < count) this.#foldReadings(stream, readings, at)
      before += count
    }
  }

  foldBarrier(event: Barrier): void {
    const stream = this.#streamOf(event.stream)
    if (event.revision <= stream.revision) return
    noteGap(stream, event.revision)
    stream.barriers = [...stream.barriers, event].slice(-barriersPerKeyMax)
    stream.revision = event.revision
  }

  /**
   * The resulting state does not depend on whether this node folded the purged readings. So all nodes show the same.
   * Only the last `barriersPerKeyMax` seals and fences (docs/protocol.md) are known, so older seals and fences count as
   * readings here.
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
    const stream = this.#streamOfKey(keyId)
    if (stream === undefined || stream.last === null) return null
    const { last, accepted } = stream
    const keptFromMs = this.#cellarNamed.get(last.cellar)?.keptFromMs ?? 0
    return { lastUsedAt: last.recordedAt, accepted, last: shownSince(keptFromMs, last) }
  }

  lastRevision(name: string): number | null {
    const stream = this.#streamNamed.get(name)
    // A purge event alone does not prove that the log has the stream.
    if (stream === undefined || (stream.last === null && stream.barriers.length === 0)) return null
    return stream.revision
  }

  purged(keyId: string): Purged | null {
    return this.#streamOfKey(keyId)?.purged ?? null
  }

  purgedKeys(): readonly string[] {
    return this.#streams.filter(({ purged }) => purged !== null).map(({ keyId }) => keyId)
  }

  gaps(): readonly string[] {
    const withGap = this.#streams.filter(({ purged, missingBefore }) => missingBefore > (purged?.keptFrom ?? 0))
    return withGap.map(({ keyId }) => keyId)
  }

  barriers(keyId: string): readonly Barrier[] {
    return this.#streamOfKey(keyId)?.barriers ?? []
  }

  save(to: PieceWriter): Generator<Uint8Array> {
    this.#saving.begin(to)
    const streams = this.#streams.map((stream) => ({ ...stream }))
    const cellars = this.#cellars.map((cellar) => ({ ...cellar, latest: cellar.latest.toArray() }))
    return this.#pieces(to, streams, cellars)
  }

  /** Must be called after every save, even after an unfinished one. Otherwise the next save throws an error. */
  endSave(): void {
    this.#saving.end()
  }

  restoreStream(from: PieceReader): void {
    const stream = this.#streamOf(from.name())
    stream.revision = from.signed()
    stream.accepted = from.whole()
    stream.last = from.optional(() => this.#readReading(from))
    stream.barriers = from.list(() => readBarrier(from, stream.stream))
    stream.purged = from.optional(() => readPurged(from))
    stream.missingBefore = from.whole()
  }

  restoreLatest(from: PieceReader): void {
    const cellar = this.#cellarOf(from.name())
    const { latest } = cellar
    cellar.keptFromMs = from.whole()
    for (const reading of from.list(() => this.#readReading(from))) latest.push(reading)
  }

  readKeg(from: PieceReader, kegs: Keg[][]): void {
    const number = from.whole()
    if (number >= this.#cellars.length) throw new RangeError(`a keg refers to cellar ${number}, which does not exist`)
    const ofCellar = kegs[number] ?? []
    kegs[number] = ofCellar
    const keg = new Keg(from.name(), from.name(), this.#memory)
    keg.restore(from, this.#streams)
    ofCellar.push(keg)
  }

  restoreKegs(kegs: readonly Keg[][]): void {
    for (const { number, kegs: own } of this.#cellars) own.restore(kegs[number] ?? [])
  }

  /**
   * Folds the readings of one request from index `from` on. Only readings from revision `keptFrom` on are kept as objects.
   * @throws Error for an invalid timestamp, which should have been refused before the reading was stored
   */
  #foldReadings(stream: Stream, readings: Readings, place: Place): void {
    const { revision, position, positions, before, from, keptFrom } = place
    const arriving = this.#arriving
    arriving.revision = revision + from
    arriving.position = position
    noteGap(stream, arriving.revision)
    if (!isBatch(readings)) {
      if (!arriving.takeReading(readings)) {
        throw new Error(`Cannot fold revision ${revision} of "${stream.stream}": its timestamp is invalid`)
      }
      this.#foldArriving(stream, this.#cellarOf(readings.cellar), keptFrom)
      return
    }
    const cellar = this.#cellarOf(readings.cellar.text)
    for (let index = from; index < readings.count; index += 1) {
      arriving.takeFromColumns(readings, index)
      arriving.position = positions?.[before + index] ?? position + index
      this.#foldArriving(stream, cellar, keptFrom)
      arriving.revision += 1
    }
  }

  #foldArriving(stream: Stream, cellar: Cellar, keptFrom: number): void {
    const arriving = this.#arriving
    const { revision, position, recordedAt, value, timestampMs } = arriving
    const clockSkew = timestampMs - recordedAt > futureSkewMsMax
    const keg = cellar.kegs.touch(arriving.rack, arriving.keg, position)
    const repeatOf = keg.remember(arriving)
    if (!clockSkew) keg.offerLatest(arriving, repeatOf, stream)
    stream.revision = revision
    stream.accepted += 1
    if (revision < keptFrom) return
    const reading: AcceptedReading = {
      stream: stream.stream,
      revision,
      position,
      keyId: stream.keyId,
      recordedAt,
      cellar: cellar.name,
      rack: keg.rack,
      keg: keg.keg,
      value,
      timestamp: arriving.timestamp ?? secondText(timestampMs),
      clockSkew,
      repeatOf,
    }
    cellar.latest.push(reading)
    stream.last = reading
  }

  *#pieces(
    to: PieceWriter,
    streams: readonly Readonly<Stream>[],
    cellars: readonly (Omit<Cellar, 'latest'> & { readonly latest: readonly AcceptedReading[] })[],
  ): Generator<Uint8Array> {
    for (const stream of streams) {
      to.byte(entryKinds.stream)
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
      to.byte(entryKinds.latest)
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

  #writeReading(to: PieceWriter, reading: AcceptedReading): void {
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

  #readReading(from: PieceReader): AcceptedReading {
    const number = from.whole()
    const stream = this.#streams[number]
    if (stream === undefined) throw new RangeError(`a reading refers to stream ${number}, which does not exist`)
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

  #streamOfKey(keyId: string): Stream | undefined {
    return this.#streamNamed.get(readingsStream(keyId))
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
    return stream
  }

  #cellarOf(name: string): Cellar {
    const known = this.#cellarNamed.get(name)
    if (known !== undefined) return known
    const number = this.#cellars.length
    const kegs = new Kegs({ name, number }, { saving: this.#saving, memory: this.#memory })
    const cellar: Cellar = { name, number, latest: new LatestReadings(), kegs, keptFromMs: 0 }
    this.#cellars.push(cellar)
    this.#cellarNamed.set(name, cellar)
    return cellar
  }
}

/** Notes missing revisions without an error, because they can have been purged (`gaps`). */
const noteGap = (stream: Stream, revision: number): void => {
  if (revision > stream.revision + 1) stream.missingBefore = revision
}

const shownSince = (keptFromMs: number, reading: AcceptedReading): AcceptedReading =>
  reading.repeatOf === null || reading.repeatOf >= keptFromMs ? reading : { ...reading, repeatOf: null }

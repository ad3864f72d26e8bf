import type { RecordedEvent } from '../src/domain/events.ts'
import { parseTimestamp } from '../src/domain/timestamp.ts'
import { barriersPerKeyMax, futureSkewMsMax, latestReadingsPerCellarMax } from '../src/limits.ts'
import { readBarrier, writeBarrier } from './barrier-record.ts'
import { Keg, numbersPerKeg, type Source } from './keg.ts'
import { KegMemory } from './keg-memory.ts'
import { KegSaving } from './keg-saving.ts'
import { Kegs } from './kegs.ts'
import { isNext } from './next-revision.ts'
import type { AcceptedReading, Barrier, KegLatest, ReadingQueries } from './queries.ts'
import { kinds, type RecordReader, type RecordWriter } from './records.ts'
import { Ring } from './ring.ts'

/** One readings stream. Kept for every key for ever: a few numbers, the last reading, and the last barriers. */
type Stream = Source & {
  revision: number
  accepted: number
  last: AcceptedReading | null
  barriers: readonly Barrier[]
}

type Cellar = {
  readonly name: string
  readonly number: number
  readonly latest: Ring<AcceptedReading>
  readonly kegs: Kegs
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
    if (!isNext(stream.revision, event)) return
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
      repeat: keg.remember({ value, timestamp, timestampMs }),
    }
    if (!clockSkew) keg.offerLatest(reading, timestampMs, stream)
    cellar.latest.push(reading)
    stream.revision = event.revision
    stream.accepted += 1
    stream.last = reading
  }

  foldBarrier(event: Barrier): void {
    const stream = this.#streamOf(event.stream)
    if (!isNext(stream.revision, event)) return
    stream.barriers = [...stream.barriers, event].slice(-barriersPerKeyMax)
    stream.revision = event.revision
  }

  latest(cellar: string): readonly AcceptedReading[] {
    return this.#cellarNamed.get(cellar)?.latest.toArray().reverse() ?? []
  }

  kegs(cellar: string): readonly KegLatest[] {
    return this.#cellarNamed.get(cellar)?.kegs.list() ?? []
  }

  usage(
    keyId: string,
  ): { readonly lastUsedAt: number; readonly accepted: number; readonly last: AcceptedReading } | null {
    const stream = this.#streamOfKey.get(keyId)
    if (stream === undefined || stream.last === null) return null
    return { lastUsedAt: stream.last.recordedAt, accepted: stream.accepted, last: stream.last }
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
  }

  restoreLatest(from: RecordReader): void {
    const { latest } = this.#cellarOf(from.name())
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
      if (to.isFull) yield to.lend()
    }
    for (const { name, latest } of cellars) {
      to.byte(kinds.latest)
      to.name(name)
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
    to.flag(reading.repeat)
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
      repeat: from.flag(),
    }
  }

  #streamOf(name: string): Stream {
    const known = this.#streamNamed.get(name)
    if (known !== undefined) return known
    const keyId = name.slice(name.indexOf('-') + 1)
    const number = this.#streams.length
    const stream: Stream = { number, stream: name, keyId, revision: -1, accepted: 0, last: null, barriers: [] }
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
    const cellar: Cellar = { name, number, latest: new Ring(latestReadingsPerCellarMax), kegs }
    this.#cellars.push(cellar)
    this.#cellarNamed.set(name, cellar)
    return cellar
  }
}

/** What is in the log was judged before it was written, so a timestamp that keeps no rule is a bug. */
const instantOf = (event: RecordedEvent<'ReadingAccepted'>): number => {
  const timestampMs = parseTimestamp(event.data.timestamp)
  if (typeof timestampMs === 'number') return timestampMs
  throw new Error(`Cannot fold revision ${event.revision} of "${event.stream}": its timestamp keeps no rule`)
}

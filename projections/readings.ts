import type { RecordedEvent } from '../src/domain/events.ts'
import { parseTimestamp } from '../src/domain/timestamp.ts'
import { barriersPerKeyMax, futureSkewMsMax, latestReadingsPerCellarMax } from '../src/limits.ts'
import { Kegs } from './kegs.ts'
import { isNext } from './next-revision.ts'
import type { AcceptedReading, Barrier, KegLatest, ReadingQueries } from './queries.ts'
import { Ring } from './ring.ts'

/** One readings stream. Kept for every key for ever: a few numbers, the last reading, and the last barriers. */
type Stream = {
  readonly keyId: string
  revision: number
  accepted: number
  last: AcceptedReading | null
  barriers: readonly Barrier[]
}

type Cellar = { readonly latest: Ring<AcceptedReading>; readonly kegs: Kegs }

/**
 * What came in, as far as pages show it. `foldAccepted` runs for every reading before it is answered: constant work, and
 * one object, which is kept. Sorting is for whoever asks.
 */
export class ReadingsFold implements ReadingQueries {
  readonly #streams = new Map<string, Stream>()
  readonly #streamOfKey = new Map<string, Stream>()
  readonly #cellars = new Map<string, Cellar>()

  foldAccepted(event: RecordedEvent<'ReadingAccepted'>): void {
    const stream = this.#streamOf(event.stream)
    if (!isNext(stream.revision, event)) return
    const { cellar: name, rack, keg: kegName, value, timestamp } = event.data
    const { recordedAt } = event
    const timestampMs = instantOf(event)
    const clockSkew = timestampMs - recordedAt > futureSkewMsMax
    const cellar = this.#cellarOf(name)
    const keg = cellar.kegs.touch(rack, kegName)
    const reading: AcceptedReading = {
      stream: event.stream,
      revision: event.revision,
      position: event.position,
      keyId: stream.keyId,
      recordedAt,
      cellar: name,
      rack,
      keg: kegName,
      value,
      timestamp,
      clockSkew,
      repeat: keg.remember({ recordedAt, value, timestamp, timestampMs }),
    }
    if (!clockSkew) keg.offerLatest(reading, timestampMs)
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
    return this.#cellars.get(cellar)?.latest.toArray().reverse() ?? []
  }

  kegs(cellar: string): readonly KegLatest[] {
    return this.#cellars.get(cellar)?.kegs.list() ?? []
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

  #streamOf(name: string): Stream {
    const known = this.#streams.get(name)
    if (known !== undefined) return known
    const keyId = name.slice(name.indexOf('-') + 1)
    const stream: Stream = { keyId, revision: -1, accepted: 0, last: null, barriers: [] }
    this.#streams.set(name, stream)
    this.#streamOfKey.set(keyId, stream)
    return stream
  }

  #cellarOf(name: string): Cellar {
    const known = this.#cellars.get(name)
    if (known !== undefined) return known
    const cellar: Cellar = { latest: new Ring(latestReadingsPerCellarMax), kegs: new Kegs() }
    this.#cellars.set(name, cellar)
    return cellar
  }
}

/** What is in the log was judged before it was written, so a timestamp that keeps no rule is a bug. */
const instantOf = (event: RecordedEvent<'ReadingAccepted'>): number => {
  const timestampMs = parseTimestamp(event.data.timestamp)
  if (typeof timestampMs === 'number') return timestampMs
  throw new Error(`Cannot fold revision ${event.revision} of "${event.stream}": its timestamp keeps no rule`)
}

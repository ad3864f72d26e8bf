import type { RecordedEvent } from '../src/domain/events.ts'
import type { ReadingsEnd } from '../src/domain/reading/readings-end.ts'
import type { RecordedRun } from '../src/domain/reading/recorded-run.ts'
import { keyIdOf, readingsStream } from '../src/domain/stream-names.ts'

export type KeyUsage = {
  readonly lastUsedAt: number
  readonly accepted: number
  /** In the log. */
  readonly last: Pick<RecordedEvent, 'stream' | 'revision' | 'position' | 'recordedAt'>
}

export type Purged = {
  /** The first after all purged ones. */
  readonly keptFrom: number
  /** Of all purges together. */
  readonly readings: number
  readonly last: RecordedEvent<'ReadingsPurged'>
}

export type Barrier = RecordedEvent<'ReadingsSealed' | 'ReadingsFenced'>

/**
 * Seal and fence events (docs/protocol.md) of one key that stay in memory. Only commands of admins cause such events, so they
 * are few.
 */
export const barriersPerKeyMax = 1_000

type Stream = {
  readonly stream: string
  readonly keyId: string
  revision: number
  /** All are -1 before the first reading. */
  lastReading: number
  lastPosition: number
  lastUsedAt: number
  barriers: readonly Barrier[]
  /** Also counts barriers that `barriers` no longer has. */
  barriersSincePurge: number
  purged: Purged | null
  /**
   * The first revision after the newest range that this node never received, or 0. If no purge explains the gap, `gaps`
   * returns the key.
   */
  missingBefore: number
}

/** Readings are folded before each answer to a device, so folding must be fast. */
export class AcceptedReadings {
  readonly #streams = new Map<string, Stream>()

  foldAccepted({ stream: name, revision, position, recordedAt }: RecordedEvent<'ReadingAccepted'>): void {
    this.#accept(this.#streamOf(name), { first: revision, count: 1, position, recordedAt })
  }

  /** Gives the same state as `foldAccepted` with each event of the run. */
  foldRun(recorded: RecordedRun): void {
    const { stream, revision, run } = recorded
    const { count, recordedAt } = run
    this.#accept(this.#streamOf(stream), {
      first: revision,
      count,
      position: recorded.position + count - 1,
      recordedAt,
    })
  }

  foldBarrier(event: Barrier): void {
    const stream = this.#streamOf(event.stream)
    if (event.revision <= stream.revision) return
    noteGap(stream, event.revision)
    stream.barriers = [...stream.barriers, event].slice(-barriersPerKeyMax)
    stream.barriersSincePurge += 1
    stream.revision = event.revision
  }

  /**
   * The state does not depend on whether this node folded the purged readings, so all nodes show the same. Only the last
   * `barriersPerKeyMax` seals and fences (docs/protocol.md) are known, so older ones count as readings.
   */
  foldPurged(event: RecordedEvent<'ReadingsPurged'>): void {
    const { keyId, lastRevision, readings } = event.data
    const stream = this.#streamOf(readingsStream(keyId))
    if (lastRevision < (stream.purged?.keptFrom ?? 0)) return
    const purged = { keptFrom: lastRevision + 1, readings: (stream.purged?.readings ?? 0) + readings, last: event }
    stream.purged = purged
    stream.revision = Math.max(stream.revision, lastRevision)
    stream.barriers = stream.barriers.filter(({ revision }) => revision > lastRevision)
    stream.barriersSincePurge = stream.barriers.length
  }

  /** Call this after the barriers and the purges were folded. */
  reach({ stream: name, revision, keptFrom, last }: ReadingsEnd): void {
    const stream = this.#streamOf(name)
    stream.revision = revision
    stream.missingBefore = keptFrom
    if (last === null) return
    stream.lastReading = last.revision
    stream.lastPosition = last.position
    stream.lastUsedAt = last.recordedAt
  }

  /** `null` before the key's first reading. */
  usage(keyId: string): KeyUsage | null {
    const known = this.#streamOfKey(keyId)
    if (known === undefined || known.lastReading < 0) return null
    const { stream, lastReading: revision, lastPosition: position, lastUsedAt } = known
    return { lastUsedAt, accepted: acceptedOf(known), last: { stream, revision, position, recordedAt: lastUsedAt } }
  }

  /** Of a reading, a seal, a fence or a purge. */
  lastRevision(name: string): number | null {
    const stream = this.#streams.get(name)
    // A purge event alone does not prove that the log has the stream.
    if (stream === undefined || (stream.lastReading < 0 && stream.barriers.length === 0)) return null
    return stream.revision
  }

  purged(keyId: string): Purged | null {
    return this.#streamOfKey(keyId)?.purged ?? null
  }

  purgedKeys(): readonly string[] {
    return [...this.#streams.values()].filter(({ purged }) => purged !== null).map(({ keyId }) => keyId)
  }

  /** Keys with missing readings that no purge explains yet. If none follows, the log has lost readings. */
  gaps(): readonly string[] {
    const isGap = ({ purged, missingBefore }: Stream): boolean => missingBefore > (purged?.keptFrom ?? 0)
    return [...this.#streams.values()].filter(isGap).map(({ keyId }) => keyId)
  }

  /** At most `barriersPerKeyMax`, oldest first. */
  barriers(keyId: string): readonly Barrier[] {
    return this.#streamOfKey(keyId)?.barriers ?? []
  }

  /** An actor and a subscription can deliver the same reading, so a part can have been folded before. */
  #accept(stream: Stream, { first, count, position, recordedAt }: Accepted): void {
    const revision = first + count - 1
    if (revision <= stream.revision) return
    noteGap(stream, first)
    stream.revision = revision
    stream.lastReading = revision
    stream.lastPosition = position
    stream.lastUsedAt = recordedAt
  }

  #streamOfKey(keyId: string): Stream | undefined {
    return this.#streams.get(readingsStream(keyId))
  }

  #streamOf(name: string): Stream {
    const known = this.#streams.get(name)
    if (known !== undefined) return known
    const keyId = keyIdOf(name)
    const last = { lastReading: -1, lastPosition: -1, lastUsedAt: -1 }
    const stream = {
      stream: name,
      keyId,
      revision: -1,
      ...last,
      barriers: [],
      barriersSincePurge: 0,
      purged: null,
      missingBefore: 0,
    }
    this.#streams.set(name, stream)
    return stream
  }
}

/** The position of the last reading. */
type Accepted = {
  readonly first: number
  readonly count: number
  readonly position: number
  readonly recordedAt: number
}

/** Missing revisions count as readings, because a purge has deleted them. */
const acceptedOf = ({ revision, barriersSincePurge, purged }: Stream): number =>
  (purged?.readings ?? 0) + revision + 1 - (purged?.keptFrom ?? 0) - barriersSincePurge

/** No error, because they can have been purged (`gaps`). */
const noteGap = (stream: Stream, revision: number): void => {
  if (revision > stream.revision + 1) stream.missingBefore = revision
}

/**
 * Finds rows that are missing between the rows of a read (docs/decisions/031-rows-carry-a-checksum.md). Only truncated events may be
 * missing: the first revisions of a stream that still has a later row.
 */
import { BoundedMap } from '../../../domain/bounded-map.ts'
import { storeStreamsRememberedMax } from '../../../limits.ts'
import { DamagedLog } from '../../event-log.ts'
import type { Row } from './row-checksum.ts'

export type StreamOfRows = {
  readonly name: string
  readonly keptFrom: number
}

/** Call it for each row, in order. @throws DamagedLog if earlier rows are missing */
export type OrderCheck = (row: Row, stream: StreamOfRows) => void

export type Neighbours = {
  /** The end of the row before `revision`: the revision after its last event. */
  endBefore(stream: number, revision: number): number | null
  /** The revision of the first row at or after `revision`. */
  startFrom(stream: number, revision: number): number | null
  /** A purge can have raised it since the stream was looked up. */
  keptFromNow(stream: number): number
  hasTruncations(): boolean
  /** The name of such a stream. `streamsMet` is the number of streams with rows. */
  streamWithoutRows(streamsMet: number): string | null
}

/** The first row must hold revision `first`, or lie before it. */
export const forwardsInStream = (first: number): OrderCheck => {
  let next: number | null = null
  return ({ position, revision, count }, { name }) => {
    const isJoined = next === null ? revision <= first : revision === next
    if (!isJoined) throw missing(name, { from: next ?? first, before: revision }, position)
    next = revision + count
  }
}

/** Begins at revision `last`. */
export const backwardsInStream = (last: number, neighbours: Neighbours): OrderCheck => {
  let edge: number | null = null
  return ({ position, stream, revision, count }, { name }) => {
    const end = revision + count
    const after = edge ?? (end > last ? end : (neighbours.startFrom(stream, end) ?? end))
    if (end !== after) throw missing(name, { from: end, before: after }, position)
    edge = revision
  }
}

/**
 * For a forwards read of the whole log, in pages. From the first position, it is exact: truncations must explain all
 * missing positions. A truncation meanwhile changes nothing, because the last row of a stream is never deleted.
 */
export class LogOrder {
  readonly #neighbours: Neighbours
  /** The read began at the first position. */
  readonly isWhole: boolean
  /** The end of the last row of each stream: without all, the count would be wrong. */
  readonly #ends = new Map<number, number>()
  /** The next row's position. `null`: the read began inside the log, and has met no row. */
  #next: number | null
  #mayRepeat = false
  #unexplained = 0
  #gaps: Range | null = null

  /** `next` is where the next row should begin, if known. */
  constructor(neighbours: Neighbours, next: number | null) {
    this.#neighbours = neighbours
    this.isWhole = next === 1
    this.#next = next
  }

  /** The first row can be the one at which the last page ended. */
  beginPage(): void {
    this.#mayRepeat = true
  }

  readonly check: OrderCheck = (row, stream) => {
    const { position, revision, count } = row
    const isMet = this.#mayRepeat && this.#next !== null && position + count <= this.#next
    this.#mayRepeat = false
    if (isMet) return
    if (this.#next !== null && this.#next !== position)
      this.#meetGap({ from: this.#next, before: position }, row, stream)
    this.#next = position + count
    const end = this.#endOf(row)
    if (end !== revision) {
      const gap = { from: end, before: revision }
      if (!isTruncated(gap, { ...stream, id: row.stream }, this.#neighbours)) throw missing(stream.name, gap, position)
      this.#unexplained -= revision - end
    }
    this.#ends.set(row.stream, revision + count)
  }

  /** @throws DamagedLog if events are missing that no truncation explains */
  assertComplete(): void {
    if (!this.isWhole) return
    const empty = this.#neighbours.streamWithoutRows(this.#ends.size)
    if (empty !== null) throw emptyStream(empty)
    if (this.#unexplained !== 0) throw unexplained(this.#unexplained, this.#gaps)
  }

  #meetGap(range: Range, { revision }: Row, { name }: StreamOfRows): void {
    assertNoGap(this.#neighbours, range, { name, revision })
    this.#unexplained += range.before - range.from
    this.#gaps = { from: this.#gaps?.from ?? range.from, before: range.before }
  }

  #endOf({ stream, revision }: Row): number {
    const end = this.#ends.get(stream)
    if (end !== undefined) return end
    if (this.isWhole || revision === 0) return 0
    return this.#neighbours.endBefore(stream, revision) ?? 0
  }
}

export const backwardsInLog = (neighbours: Neighbours): OrderCheck => {
  const starts = new BoundedMap<number, number>(storeStreamsRememberedMax)
  let edge: number | null = null
  return (row, stream) => {
    const { position, revision, count } = row
    const { name } = stream
    const end = revision + count
    if (edge !== null) assertNoGap(neighbours, { from: position + count, before: edge }, { name, revision })
    edge = position
    const start = starts.get(row.stream) ?? neighbours.startFrom(row.stream, end) ?? end
    const gap = { from: end, before: start }
    const isSound = end === start || isTruncated(gap, { ...stream, id: row.stream }, neighbours)
    if (!isSound) throw missing(name, gap, position)
    starts.set(row.stream, revision)
  }
}

/** The log begins at position 1, unless events are truncated. @throws DamagedLog */
export const assertBeginning = ({ position, revision }: Row, neighbours: Neighbours): void =>
  assertNoGap(neighbours, { from: 1, before: position }, { name: null, revision })

export const emptyStream = (stream: string): DamagedLog =>
  new DamagedLog({ stream, revision: 0, position: null }, 'all its events are missing')

type Range = { readonly from: number; readonly before: number }

const unexplained = (events: number, gaps: Range | null): DamagedLog => {
  const where = gaps === null ? '' : `, between positions ${gaps.from} and ${gaps.before - 1}`
  const isOne = events === 1
  const why =
    events > 0
      ? `${events} ${isOne ? 'event is' : 'events are'} missing, but no purge has deleted ${isOne ? 'it' : 'them'}${where}`
      : 'its positions do not fit the revisions of its streams'
  return new DamagedLog({ stream: null, revision: null, position: null }, why)
}

const isTruncated = (
  { from, before }: Range,
  { id, keptFrom }: StreamOfRows & { readonly id: number },
  { keptFromNow }: Neighbours,
): boolean => from < before && (before <= keptFrom || before <= keptFromNow(id))

const assertNoGap = (
  { hasTruncations }: Neighbours,
  { from, before }: Range,
  { name, revision }: { readonly name: string | null; readonly revision: number },
): void => {
  if (from === before) return
  if (from < before && hasTruncations()) return
  const why = from < before ? `the events at positions ${from} to ${before - 1} are missing` : 'two rows overlap'
  throw new DamagedLog({ stream: name, revision, position: before }, why)
}

const missing = (stream: string, { from, before }: Range, position: number): DamagedLog => {
  const why = from < before ? `the events up to revision ${before - 1} are missing` : 'two rows overlap'
  return new DamagedLog({ stream, revision: Math.min(from, before), position }, why)
}

/**
 * Finds events by the texts that people have: a position, a receipt or an id. All functions throw Outage and
 * UndecodableEvent.
 */
import type { ModelProgress } from '../../derived/follower-messages.ts'
import type { SearchReads } from '../../derived/questions/question.ts'
import type { RecordedEvent } from '../../domain/events.ts'
import { logReadPageEvents, readPageEventsMax } from '../../limits.ts'
import { Outage, StillSearching } from '../../log/event-log.ts'
import { ifUsable } from './ask-db.ts'
import { eventsAt } from './events-at.ts'
import { searchIsOver } from './list-events.ts'
import type { LogReads } from './patient-reads.ts'
import { positionBefore } from './position-of-instant.ts'

/** The events of a request are recorded within this time after its id was made: a reading is answered after 5 s at most. */
export const requestSearchMs = 60_000
/** The events of a minute at the highest rate. Comparing so many takes some seconds. */
export const requestSearchEventsMax = 1_000_000

export const eventAt = async (log: LogReads, position: number): Promise<RecordedEvent | null> => {
  try {
    const [before] = await log.readAll({ from: position, direction: 'backwards', limit: 1 })
    const [event] = await log.readAll({ ...(before === undefined ? {} : { from: before.position }), limit: 1 })
    return event?.position === position ? event : null
  } catch (error) {
    if (!(error instanceof Outage) || error instanceof StillSearching) throw error
    if (await isNoPosition(log, position)) return null
    throw error
  }
}

/** Somebody can have typed a position that no event in EventStoreDB has. @throws Outage if the log cannot be read at all */
export const isNoPosition = async (log: LogReads, position: number): Promise<boolean> => {
  if (log.lags !== true) return false
  await log.readAll({ direction: 'backwards', limit: 1 })
  try {
    await log.readAll({ from: position, direction: 'backwards', limit: 1 })
    return false
  } catch (error) {
    if (error instanceof Outage) return !(error instanceof StillSearching)
    throw error
  }
}

/** `first` and `last` are revisions, at most `batchReadingsMax` apart. */
export type Receipt = { readonly stream: string; readonly first: number; readonly last: number }

type OfReceipt =
  | { readonly kind: 'found'; readonly events: readonly RecordedEvent[] }
  | { readonly kind: 'no_stream' }
  /** The stream ends before the receipt. */
  | { readonly kind: 'not_written'; readonly lastRevision: number }
  /** By the retention: the stream begins after the receipt. */
  | { readonly kind: 'deleted'; readonly firstRevision: number }

export const eventsOfReceipt = async (log: LogReads, { stream, first, last }: Receipt): Promise<OfReceipt> => {
  const [oldest] = await log.read(stream, { limit: 1 })
  const [newest] = await log.read(stream, { direction: 'backwards', limit: 1 })
  if (oldest === undefined || newest === undefined) return { kind: 'no_stream' }
  if (first > newest.revision) return { kind: 'not_written', lastRevision: newest.revision }
  if (last < oldest.revision) return { kind: 'deleted', firstRevision: oldest.revision }
  const from = Math.max(first, oldest.revision)
  const events = await log.read(stream, { from, limit: Math.min(last, newest.revision) - from + 1 })
  return { kind: 'found', events }
}

export type OfId = {
  readonly events: readonly RecordedEvent[]
  readonly searched: number
  /**
   * False if the search ended at `requestSearchEventsMax`, or because `isOver` became true. The event can then lie further
   * on.
   */
  readonly isComplete: boolean
  readonly lookedTo: Pick<RecordedEvent, 'position' | 'recordedAt'> | null
}

type SearchNear = {
  readonly atMs: number
  /** A search that was ended goes on behind this position. Default: the search begins where events of the instant begin. */
  readonly after?: number | null
  readonly isOver?: () => boolean
}

/**
 * Begins at the instant that the id says (`instantOfRequestId`), and ends `requestSearchMs` after it. Readings of a request
 * lie together, so the search also ends behind them. `positionBefore` says how exact the beginning is.
 */
export const eventsOfId = async (
  { log, ask }: Pick<SearchReads, 'log' | 'ask'>,
  id: string,
  near: SearchNear,
): Promise<OfId> => {
  const { atMs, isOver = () => false } = near
  let after = near.after ?? (await positionBefore(log, atMs, ask))
  let searched = 0
  let laterInRow = 0
  let lookedTo: OfId['lookedTo'] = null
  const events: RecordedEvent[] = []
  while (searched < requestSearchEventsMax) {
    const page = await log.readAll({ ...(after === null ? {} : { from: after }), limit: logReadPageEvents })
    const last = page.at(-1)
    if (last === undefined) return { events, searched, isComplete: true, lookedTo }
    for (const event of page) {
      searched += 1
      lookedTo = event
      laterInRow = event.recordedAt > atMs + requestSearchMs ? laterInRow + 1 : 0
      if (event.id === id || event.metadata.requestId === id) events.push(event)
      else if (events.at(-1)?.type === 'ReadingAccepted') return { events, searched, isComplete: true, lookedTo }
    }
    if (laterInRow >= readPageEventsMax) return { events, searched, isComplete: true, lookedTo }
    if (events.length === 0 && isOver()) break
    after = last.position
  }
  return { events, searched, isComplete: false, lookedTo }
}

export type IdWanted = {
  /** In lower case. */
  readonly id: string
  readonly atMs: number | null
  /** A search that was ended goes on behind this position. `null`: the search begins. */
  readonly after: number | null
}

export type FoundId = {
  readonly index: ModelProgress | null
  /** In the order of the log, without readings. */
  readonly changes: readonly RecordedEvent[]
  /**
   * Only requests with an API key store readings. So the log is searched only if a key made the request, or if `ask.db`
   * does not know the id. `null`: the log was not searched.
   */
  readonly inLog: OfId | null
}

/** Asks `ask.db`, which has no readings, and then searches the log. @throws Outage, UndecodableEvent */
export const idHere = async (reads: SearchReads, { id, atMs, after }: IdWanted): Promise<FoundId> => {
  const { log, ask } = reads
  const isOf = ({ id: own, metadata }: RecordedEvent): boolean => own === id || metadata.requestId === id
  const found = ifUsable<readonly RecordedEvent[]>(after === null ? ask : null, [], async (index) =>
    eventsAt(log, await index.placesOfId(id)),
  )
  const changes = (await found).filter(isOf)
  const isOfKey = changes.some(({ metadata }) => metadata.by.kind === 'key')
  const index = (await ask?.progress()) ?? null
  if (atMs === null || (changes.length > 0 && !isOfKey)) return { index, changes, inLog: null }
  return { index, changes, inLog: await eventsOfId(reads, id, { atMs, after, isOver: searchIsOver(reads) }) }
}

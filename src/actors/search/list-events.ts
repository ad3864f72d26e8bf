/**
 * Lists events for the Log page. Events that are no reading come from the index `ask.db`: the index says where they lie, and the
 * log has the events themselves. What the index does not hold yet comes from the log, page by page. Single readings come from
 * their stream, or from the log.
 */
import type { RecordedEvent } from '../../domain/events.ts'
import { actorText, isOfCellar, keyOfEvent, kindOf, parseActor } from '../../domain/search/event-filter.ts'
import { readingsStream } from '../../domain/stream-names.ts'
import { listedAtOnceMax, logReadPageEvents, readPageEventsMax, recordedSkewMsMax } from '../../limits.ts'
import type { PlaceFilter } from '../../log/ask-index.ts'
import { StillSearching } from '../../log/event-log.ts'
import type { Ask, AskProgress } from '../core.ts'
import { firstRevision } from './first-revision.ts'
import type { LogReads } from './patient-reads.ts'
import { someEventSince } from './position-of-instant.ts'

export type ListParts = {
  readonly log: LogReads
  readonly ask: Ask | null
  /** Returns `null` if there is no such key. */
  readonly cellarOfKey: (keyId: string) => string | null
  /** Lets other work run. */
  readonly pause: () => Promise<void>
  /** True if the search must end with what it has. */
  readonly isOver: () => boolean
}

export type ListPage = {
  /** `backwards`: the newest events before `from`. `forwards`: the oldest events after it. */
  readonly direction: 'forwards' | 'backwards'
  /** A position. `null`: the end of the log that the direction begins at. */
  readonly from: number | null
  readonly limit: number
}

export type Listed = {
  /** In the direction of the page. */
  readonly events: readonly RecordedEvent[]
  readonly end: ListEnd
}

export type ListEnd =
  | { readonly kind: 'complete' }
  | { readonly kind: 'page_full' }
  /** The search compared all events up to this position, which `from` continues. `atMs`: when the event there was recorded. */
  | { readonly kind: 'time_over'; readonly position: number; readonly atMs: number | null }

/** True if the filter wants single readings. Otherwise readings are left out, because they are too many. */
export const wantsReadings = ({ kind, type, key, cellar, actor }: PlaceFilter): boolean =>
  (kind === 'readings' || type === 'ReadingAccepted') && (key !== null || cellar !== null || actor !== null)

/** @throws Outage, UndecodableEvent, AskUnusable */
export const listEvents = async (parts: ListParts, filter: PlaceFilter, page: ListPage): Promise<Listed> => {
  const search = new Search(parts, filter, page)
  const actor = filter.actor === null ? null : parseActor(filter.actor)
  const byKey = actor?.ok === true && actor.value.kind === 'key' ? actor.value.keyId : null
  // Only keys ask for readings. Those of a key are all in its stream.
  if (wantsReadings(filter) && (actor === null || byKey !== null)) {
    const keyId = filter.key ?? byKey
    return keyId === null ? search.inLog(null) : search.inStream(readingsStream(keyId))
  }
  const { ask } = parts
  await ask?.upTo()
  const { position: foldedTo, isBehind, trouble } = ask?.progress() ?? noIndex
  if (ask === null || foldedTo === null) return search.inLog(null)
  const hasAll = !isBehind && trouble === null
  const { direction, from } = page
  if (direction === 'backwards') {
    if (!hasAll && (from === null || from > foldedTo + 1)) await search.inLog(foldedTo)
    return search.isDone ? search.listed() : search.inIndex(ask, foldedTo + 1)
  }
  if (from === null || from < foldedTo) await search.inIndex(ask)
  return search.isDone || hasAll ? search.listed() : search.inLog(null, search.reachedAfter(foldedTo))
}

const noIndex: AskProgress = { position: null, isBehind: false, trouble: null }

class Search {
  readonly #parts: ListParts
  readonly #filter: PlaceFilter
  readonly #page: ListPage
  readonly #events: RecordedEvent[] = []
  #timeOver: { readonly position: number; readonly atMs: number | null } | null = null

  constructor(parts: ListParts, filter: PlaceFilter, page: ListPage) {
    this.#parts = parts
    this.#filter = filter
    this.#page = page
  }

  get isFull(): boolean {
    return this.#events.length >= this.#page.limit
  }

  get isDone(): boolean {
    return this.isFull || this.#timeOver !== null
  }

  listed(): Listed {
    const events = this.#events.slice(0, this.#page.limit)
    if (this.isFull) return { events, end: { kind: 'page_full' } }
    return { events, end: this.#timeOver === null ? { kind: 'complete' } : { kind: 'time_over', ...this.#timeOver } }
  }

  /** The index can have grown during the search. */
  reachedAfter(foldedTo: number): number {
    return Math.max(foldedTo, this.#events.at(-1)?.position ?? 0)
  }

  get #isBackwards(): boolean {
    return this.#page.direction === 'backwards'
  }

  /** Backwards, only events before position `end`: the log has already given those behind it. */
  async inIndex(ask: Ask, end = Number.POSITIVE_INFINITY): Promise<Listed> {
    const { direction, limit } = this.#page
    let from = end < (this.#page.from ?? Number.POSITIVE_INFINITY) ? end : this.#page.from
    while (!this.isDone) {
      const wanted = Math.min(limit - this.#events.length, listedAtOnceMax)
      const { places, lookedTo } = await ask.find(this.#filter, { direction, from, limit: wanted })
      this.#events.push(...(await ask.eventsAt(places)))
      if (lookedTo === null) break
      from = lookedTo
      if (!this.isFull && this.#parts.isOver()) {
        const atMs = ask.placeAt(lookedTo)?.recordedAt ?? places.at(-1)?.recordedAt ?? null
        this.#timeOver = { position: lookedTo, atMs }
      }
    }
    return this.listed()
  }

  /**
   * Reads the log. Backwards, ends at position `downTo`, which is not read. Forwards, begins after position `downTo` at the
   * earliest.
   */
  async inLog(downTo: number | null, after: number | null = null): Promise<Listed> {
    const { log } = this.#parts
    let from = await this.#beginInLog(after)
    let outsideInRow = 0
    while (!this.isDone && outsideInRow < readPageEventsMax) {
      const direction = this.#page.direction
      const asked = { ...(from === null ? {} : { from }), direction, limit: logReadPageEvents }
      const page = await log.readAll(asked).catch((error: unknown) => this.#endIfStillSearching(error))
      for (const event of page) {
        if (downTo !== null && event.position <= downTo) return this.listed()
        outsideInRow = this.#isOutside(event) ? outsideInRow + 1 : 0
        if (this.#matches(event)) this.#events.push(event)
        if (this.isFull) return this.listed()
      }
      const last = page.at(-1)
      if (last === undefined) break
      from = last.position
      await this.#endIfOver(last)
    }
    return this.listed()
  }

  /** Without an event or a position to go on from, the whole page says that the search goes on. */
  #endIfStillSearching(error: unknown): readonly RecordedEvent[] {
    if (!(error instanceof StillSearching) || error.lookedTo === null) throw error
    this.#timeOver = { position: error.lookedTo, atMs: null }
    return []
  }

  async #endIfOver({ position, recordedAt }: RecordedEvent): Promise<void> {
    await this.#parts.pause()
    if (this.#parts.isOver()) this.#timeOver = { position, atMs: recordedAt }
  }

  async #beginInLog(after: number | null): Promise<number | null> {
    const { from } = this.#page
    if (from !== null || after !== null) return after === null ? from : Math.max(from ?? 0, after)
    const { until } = this.#filter
    if (until === null) return null
    const { log, ask } = this.#parts
    return (await someEventSince(log, until + recordedSkewMsMax, ask))?.position ?? null
  }

  async inStream(stream: string): Promise<Listed> {
    const { log } = this.#parts
    let revision = await this.#beginInStream(stream)
    // Most lists want all events of the stream, so the first page is often enough.
    let limit = Math.min(this.#page.limit, logReadPageEvents)
    while (!this.isDone && revision >= 0) {
      const page = await log.read(stream, { from: revision, direction: this.#page.direction, limit })
      limit = logReadPageEvents
      for (const event of page) {
        if (this.#isOutside(event)) return this.listed()
        if (this.#matches(event)) this.#events.push(event)
        if (this.isFull) return this.listed()
      }
      const last = page.at(-1)
      if (last === undefined) break
      revision = last.revision + (this.#isBackwards ? -1 : 1)
      await this.#endIfOver(last)
    }
    return this.listed()
  }

  /** Positions of a stream grow with its revisions, so a binary search finds the place. The newest events need no search. */
  async #beginInStream(stream: string): Promise<number> {
    const { log } = this.#parts
    const { from } = this.#page
    const { until } = this.#filter
    if (!this.#isBackwards) return firstRevision(log, stream, ({ position }) => position > (from ?? -1))
    const isPast = ({ position, recordedAt }: RecordedEvent): boolean =>
      (from !== null && position >= from) || (until !== null && recordedAt >= until)
    const [newest] = await log.read(stream, { direction: 'backwards', limit: 1 })
    if (newest === undefined || !isPast(newest)) return newest?.revision ?? -1
    return (await firstRevision(log, stream, isPast)) - 1
  }

  /** True if the event lies so far behind the wanted time that the search can end soon. */
  #isOutside({ recordedAt }: RecordedEvent): boolean {
    const { since, until } = this.#filter
    if (this.#isBackwards) return since !== null && recordedAt < since - recordedSkewMsMax
    return until !== null && recordedAt >= until + recordedSkewMsMax
  }

  #matches(event: RecordedEvent): boolean {
    if (event.type === 'ReadingAccepted' && !wantsReadings(this.#filter)) return false
    const { key, cellar } = this.#filter
    const keyId = keyOfEvent(event)
    if (!matchesFields(event, this.#filter) || (key !== null && keyId !== key)) return false
    const answer = cellar === null ? true : isOfCellar(event, cellar)
    return answer === 'ask_key' ? this.#parts.cellarOfKey(keyId ?? '') === cellar : answer
  }
}

const matchesFields = (event: RecordedEvent, { stream, kind, type, actor, since, until }: PlaceFilter): boolean =>
  (stream === null || event.stream === stream) &&
  (kind === null || kindOf(event) === kind) &&
  (type === null || event.type === type) &&
  (actor === null || actorText(event.metadata.by) === actor) &&
  (since === null || event.recordedAt >= since) &&
  (until === null || event.recordedAt < until)

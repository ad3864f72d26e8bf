import { declarationOf, type RecordedEvent } from '../../domain/events.ts'
import type { LogFilter } from '../../domain/search/event-filter.ts'
import { type StateBefore, unknownBefore } from '../../domain/search/state-before.ts'
import { logReadPageEvents, logSearchMs } from '../../limits.ts'
import type { AskProgress } from './ask-db.ts'
import { statesBefore } from './event-context.ts'
import { eventsOfId, type OfId } from './find-events.ts'
import { ifUsable } from './if-usable.ts'
import { type Listed, type ListPage, type ListParts, listEvents } from './list-events.ts'
import type { LogReads } from './patient-reads.ts'

/** Then a list stops to fold what was before its events. The other rows say only the new values. */
const logComparedMs = 50

export type ListWanted = {
  readonly filter: LogFilter
  readonly page: ListPage
  /** Not in the log yet. */
  readonly also?: readonly RecordedEvent[]
}

/** `before`: what was before the events of `also`, then before those that were found. */
export type ListedHere = Listed & {
  readonly before: readonly StateBefore[]
  readonly isIndexed: boolean
}

export type HereParts = Omit<ListParts, 'isOver' | 'onUnusable'> & {
  readonly passedMs: () => number
  /** Default: the search ends after `logSearchMs` with what it has. */
  readonly isPatient?: boolean
}

/** @throws Outage, UndecodableEvent */
export const listHere = async (parts: HereParts, { filter, page, also = [] }: ListWanted): Promise<ListedHere> => {
  let isIndexed = parts.ask !== null
  const search: ListParts = {
    ...parts,
    isOver: searchIsOver(parts),
    onUnusable: () => {
      isIndexed = false
    },
  }
  const listed = await listEvents(search, filter, page)
  const isOver = overAfter(logComparedMs, parts.passedMs)
  return { ...listed, before: await comparedStates(parts.log, [...also, ...listed.events], isOver), isIndexed }
}

const searchIsOver = ({ passedMs, isPatient = false }: Pick<HereParts, 'passedMs' | 'isPatient'>): (() => boolean) =>
  overAfter(isPatient ? Number.POSITIVE_INFINITY : logSearchMs, passedMs)

const overAfter = (ms: number, passedMs: () => number): (() => boolean) => {
  const beganMs = passedMs()
  return () => passedMs() - beganMs >= ms
}

const comparedStates = async (
  log: LogReads,
  events: readonly RecordedEvent[],
  isOver: () => boolean,
): Promise<readonly StateBefore[]> => {
  const compared = events.filter(
    ({ type, revision }) =>
      declarationOf(type).comparesState === true && (type === 'ReadingsRefused' || revision < logReadPageEvents),
  )
  const states = await statesBefore(log, compared, isOver)
  const known = new Map(compared.map((event, index) => [event, states[index]]))
  return events.map((event) => known.get(event) ?? unknownBefore)
}

export type IdWanted = {
  /** In lower case. */
  readonly id: string
  readonly atMs: number | null
  /** Behind it, an ended search goes on. `null`: the search begins. */
  readonly after: number | null
}

export type FoundId = {
  readonly index: AskProgress | null
  /** In the order of the log, without readings. */
  readonly changes: readonly RecordedEvent[]
  /** Only requests of keys accept readings, so the log is not searched for others. `null`: it was not searched. */
  readonly inLog: OfId | null
}

/** Asks `ask.db`, which has no readings, and then searches the log. @throws Outage, UndecodableEvent */
export const idHere = async (
  { log, ask, ...parts }: Pick<HereParts, 'log' | 'ask' | 'passedMs' | 'isPatient'>,
  { id, atMs, after }: IdWanted,
): Promise<FoundId> => {
  const isOf = ({ id: own, metadata }: RecordedEvent): boolean => own === id || metadata.requestId === id
  const found = ifUsable<readonly RecordedEvent[]>(after === null ? ask : null, [], async (index) =>
    index.eventsAt(await index.placesOfId(id)),
  )
  const changes = (await found).filter(isOf)
  const isOfKey = changes.some(({ metadata }) => metadata.by.kind === 'key')
  const index = (await ask?.progress()) ?? null
  if (atMs === null || (changes.length > 0 && !isOfKey)) return { index, changes, inLog: null }
  const near = { atMs, after, isOver: searchIsOver(parts) }
  return { index, changes, inLog: await eventsOfId({ log, ask }, id, near) }
}

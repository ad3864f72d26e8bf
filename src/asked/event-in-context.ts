/** All that the page of an event shows, except names, which only the event loop knows. */
import { type AuditEvent, type KeyAt, stateAt } from '../../projections/audit-trail.ts'
import { ifUsable } from '../actors/search/ask-db.ts'
import { eventsOfSameRequest, stateBefore } from '../actors/search/event-context.ts'
import { eventsAt } from '../actors/search/events-at.ts'
import { type LogReads, unlessSearching } from '../actors/search/patient-reads.ts'
import type { SearchReads } from '../derived/questions/question.ts'
import type { RecordedEvent } from '../domain/events.ts'
import { anyEvent, keyOfEvent } from '../domain/search/event-filter.ts'
import type { StateBefore } from '../domain/search/state-before.ts'
import { askPlacesOfIdMax } from '../log/ask-index/queries/places-of-id.ts'
import { readKeyEvents, sealsOf } from './read-key-events.ts'

const sameRequestShownMax = 20
/** Sign-ins that are compared with the session of an event. */
const signInsSearchedMax = 50

type Place = Pick<RecordedEvent, 'stream' | 'revision'>
type Neighbours = { readonly before: Place | null; readonly after: Place | null }

export type EventInContext = {
  readonly event: RecordedEvent
  readonly before: StateBefore
  /** `null`: the event is of no key, or too many events lie before it. */
  readonly keyAfter: KeyAt | null
  /** At most `sameRequestShownMax` of all `count`. */
  readonly sameRequest: {
    readonly events: readonly RecordedEvent[]
    readonly count: number
    readonly isComplete: boolean
    /** The recorded times of the first and the last event of many. `null`: of few. */
    readonly span: { readonly firstMs: number; readonly lastMs: number } | null
  }
  readonly inStream: Neighbours
  readonly inLog: Neighbours
  /** Such records are deleted after some time. */
  readonly signIn: RecordedEvent<'SignInSeen'> | null
}

/** `null`: no such revision. @throws Outage, UndecodableEvent */
export const eventInContext = async (
  { log, ask }: SearchReads,
  { stream, revision }: Place,
): Promise<EventInContext | null> => {
  const [event] = await log.read(stream, { from: revision, limit: 1 })
  if (event?.revision !== revision) return null
  const before = await stateBefore(log, event)
  return {
    event,
    before,
    keyAfter: before.isKnown ? await keyAfter(log, event) : null,
    sameRequest: await sameRequest({ log, ask }, event),
    inStream: await neighboursInStream(log, event),
    inLog: await neighboursInLog(log, event),
    signIn: await signInOf({ log, ask }, event),
  }
}

/**
 * `stateBefore` has read the key's events already. A key has few, so reading them again costs less code than passing them
 * on.
 */
const keyAfter = async (log: LogReads, event: RecordedEvent): Promise<KeyAt | null> => {
  const keyId = keyOfEvent(event)
  if (keyId === null) return null
  const events: readonly AuditEvent[] = [
    ...(await readKeyEvents(log, keyId, ({ position }) => position >= event.position)),
    ...(await sealsOf(log, keyId)),
  ]
  const known = events.filter(({ position }) => position <= event.position)
  const then = stateAt(known, event.recordedAt, event.recordedAt)
  return then.ok ? then.value : null
}

const neighboursInStream = async (log: LogReads, { stream, revision }: RecordedEvent): Promise<Neighbours> => {
  const [before] = revision === 0 ? [] : await log.read(stream, { from: revision - 1, limit: 1 })
  const [after] = await log.read(stream, { from: revision + 1, limit: 1 })
  return { before: before?.revision === revision - 1 ? placeOf(before) : null, after: placeOf(after) }
}

const neighboursInLog = async (log: LogReads, { position }: RecordedEvent): Promise<Neighbours> => {
  const [before] = await unlessSearching(log.readAll({ from: position, direction: 'backwards', limit: 1 }), [])
  const [after] = await unlessSearching(log.readAll({ from: position, limit: 1 }), [])
  return { before: placeOf(before), after: placeOf(after) }
}

const placeOf = (event: RecordedEvent | undefined): Place | null =>
  event === undefined ? null : { stream: event.stream, revision: event.revision }

/**
 * A change of many keys can have thousands of events, with readings between them. `ask.db` knows those that a person caused,
 * and others with a similar id.
 */
const sameRequest = async (
  { log, ask }: Pick<SearchReads, 'log' | 'ask'>,
  event: RecordedEvent,
): Promise<EventInContext['sameRequest']> => {
  const { by, requestId } = event.metadata
  const isOfPerson = by.kind === 'operator' || by.kind === 'cli'
  const places = await ifUsable(isOfPerson ? ask : null, [], (index) => index.placesOfId(requestId))
  const known = (await eventsAt(log, places)).filter(({ metadata }) => metadata.requestId === requestId)
  const [first, last] = [known[0], known.at(-1)]
  const isMany = first !== undefined && last !== undefined && known.length > sameRequestShownMax
  const { events, isComplete } = isMany
    ? { events: known, isComplete: places.length < askPlacesOfIdMax }
    : await eventsOfSameRequest(log, event)
  const others = events.filter(({ position }) => position !== event.position)
  return {
    events: others.slice(0, sameRequestShownMax),
    count: others.length,
    isComplete,
    span: isMany ? { firstMs: first.recordedAt, lastMs: last.recordedAt } : null,
  }
}

const signInOf = async (
  { log, ask }: Pick<SearchReads, 'log' | 'ask'>,
  event: RecordedEvent,
): Promise<EventInContext['signIn']> => {
  const { by } = event.metadata
  if (by.kind !== 'operator' || by.session === undefined) return null
  const { email, session } = by
  const filter = { ...anyEvent, type: 'SignInSeen', actor: email } as const
  const page = { direction: 'backwards', from: event.position, limit: signInsSearchedMax } as const
  const isSignIn = (one: RecordedEvent): one is RecordedEvent<'SignInSeen'> =>
    one.type === 'SignInSeen' && one.data.sessionId === session.id && one.data.email === email
  return ifUsable<EventInContext['signIn']>(ask, null, async (index) => {
    const events = await eventsAt(log, (await index.find(filter, page)).places)
    return events.find(isSignIn) ?? null
  })
}

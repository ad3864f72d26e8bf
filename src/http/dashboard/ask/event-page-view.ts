import { type AuditEvent, stateAt } from '../../../../projections/audit-trail.ts'
import type { AboutFilter, EventLink, EventPageView, Neighbours, SessionFrom } from '../../../../views/log/log-types.ts'
import { refusalWords } from '../../../../views/log/refusal-words.ts'
import { sentenceOf } from '../../../../views/log/sentence.ts'
import { paths } from '../../../../views/paths.ts'
import type { Core } from '../../../actors/core.ts'
import { readKeyEvents } from '../../../actors/key/key-events.ts'
import type { Ask } from '../../../actors/search/ask-db.ts'
import { eventsOfSameRequest, readsOfKnown, stateBefore } from '../../../actors/search/event-context.ts'
import { readsOfPage, unlessSearching } from '../../../actors/search/patient-reads.ts'
import type { EventType, RecordedEvent } from '../../../domain/events.ts'
import { changesOf } from '../../../domain/search/event-changes.ts'
import { anyEvent, keyOfEvent, kindOf } from '../../../domain/search/event-filter.ts'
import { type StateBefore, stateAfter, unknownBefore } from '../../../domain/search/state-before.ts'
import { categoryOf, keyIdOf, keyStream } from '../../../domain/stream-names.ts'
import { eventView } from '../../../export/event-view.ts'
import { sameRequestShownMax, signInsSearchedMax, stateBeforeEventsMax } from '../../../limits.ts'
import { namesAt } from '../show/event-names.ts'
import type { Pause } from '../show/pauses.ts'
import { statusThen } from '../show/status-then.ts'
import { byView } from './by-view.ts'
import { ifUsable } from './if-usable.ts'

type Parts = { readonly core: Core; readonly nowMs: number; readonly pause: Pause }

/** Gathers what the page of an event shows. @throws Outage, UndecodableEvent */
export const eventPageView = async (parts: Parts, event: RecordedEvent): Promise<EventPageView> => {
  const { core, pause } = parts
  const keyEvents = await keyEventsUpTo(parts, event)
  const before = await stateBefore(
    keyEvents === null ? core.log : readsOfKnown(core.log, keyEvents.stream, keyEvents.events),
    event,
  )
  await pause()
  return {
    kind: kindOf(event),
    type: event.type,
    stream: event.stream,
    revision: event.revision,
    position: event.position,
    at: event.recordedAt,
    sentence: sentenceOf(event, before, namesAt(core, event.position)),
    by: byView(core, event),
    session: await sessionView(core, event),
    requestId: event.metadata.requestId,
    changes: changesOf(event, before),
    after: await stateView(parts, event, { before, keyEvents }),
    inForceAt: inForceAt(core, event),
    sameRequest: await sameRequest(core, event),
    inStream: await neighboursInStream(core, event),
    inLog: await neighboursInLog(core, event),
    about: aboutEvent(core, event, before),
    samples: samplesOf(event),
    json: JSON.stringify(eventView(event), null, 2),
  }
}

const neighboursInStream = async ({ log }: Core, { stream, revision }: RecordedEvent): Promise<Neighbours> => {
  const [before] = revision === 0 ? [] : await log.read(stream, { from: revision - 1, limit: 1 })
  const [after] = await log.read(stream, { from: revision + 1, limit: 1 })
  return {
    before: before?.revision === revision - 1 ? hrefOf(before) : null,
    after: after === undefined ? null : hrefOf(after),
  }
}

const neighboursInLog = async (core: Core, { position }: RecordedEvent): Promise<Neighbours> => {
  const log = readsOfPage(core.log)
  const [before] = await unlessSearching(log.readAll({ from: position, direction: 'backwards', limit: 1 }), [])
  const [after] = await unlessSearching(log.readAll({ from: position, limit: 1 }), [])
  return { before: before === undefined ? null : hrefOf(before), after: after === undefined ? null : hrefOf(after) }
}

const hrefOf = ({ stream, revision }: RecordedEvent): string => paths.event(stream, revision)

const sameRequest = async (core: Core, event: RecordedEvent): Promise<EventPageView['sameRequest']> => {
  const { events, isComplete } = await eventsOfSameRequest(readsOfPage(core.log), event)
  const others = events.filter(({ stream, revision }) => stream !== event.stream || revision !== event.revision)
  const linkOf = (other: RecordedEvent): EventLink => ({
    words: sentenceOf(other, unknownBefore, namesAt(core, other.position)),
    place: `${other.stream}@${other.revision}`,
    href: hrefOf(other),
  })
  return { events: others.slice(0, sameRequestShownMax).map(linkOf), count: others.length, isComplete }
}

/** The types of events that can take a right away, which a fence ends (docs/protocol.md, "Taking a right away"). */
const mayTakeAway: ReadonlySet<EventType> = new Set([
  'KeySuspended',
  'KeyExpirySet',
  'KeySuperseded',
  'KeyLimitChanged',
])

/**
 * Only the fence or the seal of the event itself says when every node had the change. A later fence of another change would say a time
 * that is much too late.
 */
const inForceAt = ({ projections }: Core, event: RecordedEvent): number | null => {
  if (categoryOf(event.stream) !== 'key') return null
  const barriers = projections.readings.barriers(keyIdOf(event.stream))
  // A seal comes before its revocation.
  if (event.type === 'KeyRevoked') return barriers.find(({ id }) => id === event.data.sealId)?.recordedAt ?? null
  const fence = barriers.find(({ type, data }) => type === 'ReadingsFenced' && data.keyRevision === event.revision)
  return fence === undefined || !mayTakeAway.has(event.type) ? null : Math.max(fence.recordedAt, event.recordedAt)
}

type KeyEvents = { readonly stream: string; readonly events: readonly AuditEvent[] }

/**
 * Reads what was recorded of the key of the event, once for the whole page. `null`: the event is of no key, or the key has so many
 * events that the page may need only few of them.
 */
const keyEventsUpTo = async ({ core, pause }: Parts, event: RecordedEvent): Promise<KeyEvents | null> => {
  const keyId = keyOfEvent(event)
  const key = keyId === null ? null : core.projections.keys.get(keyId)
  if (key === null || key.revision >= stateBeforeEventsMax) return null
  return {
    stream: keyStream(key.keyId),
    events: await readKeyEvents(core, key.keyId, { isEnough: isBehind(event), pause }),
  }
}

/** The state at the last refusal of a summary counts, and events of that time can lie behind the summary. */
const isBehind =
  (event: RecordedEvent) =>
  ({ position, recordedAt }: RecordedEvent): boolean =>
    position >= event.position && (event.type !== 'ReadingsRefused' || recordedAt > event.data.to)

type Known = { readonly before: StateBefore; readonly keyEvents: KeyEvents | null }

const stateView = async (
  { core, nowMs, pause }: Parts,
  event: RecordedEvent,
  { before, keyEvents }: Known,
): Promise<EventPageView['after']> => {
  const keyId = keyOfEvent(event)
  if (keyId !== null && before.isKnown) {
    const events = keyEvents?.events ?? (await readKeyEvents(core, keyId, { isEnough: isBehind(event), pause }))
    const known = events.filter(({ position }) => position <= event.position)
    const then = stateAt(known, event.recordedAt, Math.max(nowMs, event.recordedAt))
    return then.ok ? { of: 'key', state: statusThen(then.value) } : null
  }
  const { operator } = stateAfter(before, event)
  if (operator === null) return null
  const role = operator.account?.role
  return { of: 'account', words: role === undefined ? 'no access' : `role ${role}` }
}

/** The sign-in of a session is a record, which is deleted after some time. */
const sessionView = async ({ ask }: Core, event: RecordedEvent): Promise<EventPageView['session']> => {
  const { by } = event.metadata
  if (by.kind !== 'operator' || by.session === undefined) return null
  const { id } = by.session
  return { id, from: await ifUsable(ask, null, (index) => signInOf(index, event, { id, email: by.email })) }
}

const signInOf = async (
  ask: Ask,
  { position }: RecordedEvent,
  session: { readonly id: string; readonly email: string },
): Promise<SessionFrom | null> => {
  const filter = { ...anyEvent, type: 'SignInSeen', actor: session.email } as const
  const { places } = await ask.find(filter, { direction: 'backwards', from: position, limit: signInsSearchedMax })
  for (const seen of await ask.eventsAt(places)) {
    if (seen.type !== 'SignInSeen' || seen.data.sessionId !== session.id || seen.data.email !== session.email) continue
    return { at: seen.recordedAt, address: seen.data.address, browser: seen.data.browser }
  }
  return null
}

const aboutEvent = ({ projections }: Core, event: RecordedEvent, before: StateBefore): AboutFilter | null => {
  const keyId = keyOfEvent(event)
  const key = keyId === null ? null : projections.keys.get(keyId)
  if (key !== null) return { words: 'All of the key', name: key.label, href: paths.log({ key: key.keyId }) }
  const cellar = projections.cellars.ofStream(event.stream)
  if (cellar !== null)
    return { words: 'All of the cellar', name: cellar.title, href: paths.log({ cellar: cellar.cellar }) }
  const email = before.operator?.email ?? projections.operators.emailOf(event.stream)
  return email === null ? null : { words: 'All that was done by', name: email, href: paths.log({ actor: email }) }
}

const samplesOf = (event: RecordedEvent): EventPageView['samples'] =>
  event.type !== 'ReadingsRefused'
    ? []
    : event.data.samples.map(({ requestId, atMs, code, rack, keg }) => ({
        at: atMs,
        code,
        words: refusalWords(code),
        rack,
        keg,
        requestId,
        href: paths.refusedRequest(requestId),
      }))

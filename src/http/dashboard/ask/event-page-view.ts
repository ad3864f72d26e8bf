import type { AboutFilter, EventLink, EventPageView, Neighbours } from '../../../../views/log/log-types.ts'
import { refusalWords } from '../../../../views/log/refusal-words.ts'
import { sentenceOf } from '../../../../views/log/sentence.ts'
import { valueText } from '../../../../views/parts/value.tsx'
import { paths } from '../../../../views/paths.ts'
import type { Core } from '../../../actors/core-interface.ts'
import type { EventInContext } from '../../../asked/event-in-context.ts'
import { instantText } from '../../../domain/calendar.ts'
import { declarationOf, type RecordedEvent } from '../../../domain/events.ts'
import { type Change, changesOf } from '../../../domain/search/event-changes.ts'
import { actorText, keyOfEvent, kindOf } from '../../../domain/search/event-filter.ts'
import { type StateBefore, stateAfter, unknownBefore } from '../../../domain/search/state-before.ts'
import { categoryOf, keyIdOf } from '../../../domain/stream-names.ts'
import { eventView } from '../../../export/event-view.ts'
import { unitIn } from '../show/cellar-views.ts'
import { namesAt } from '../show/event-names.ts'
import { statusThen } from '../show/status-then.ts'
import { byView } from './by-view.ts'

export const eventPageView = (core: Core, found: EventInContext): EventPageView => {
  const { event, before } = found
  return {
    kind: kindOf(event),
    type: event.type,
    stream: event.stream,
    revision: event.revision,
    position: event.position,
    at: event.recordedAt,
    sentence: sentenceOf(event, before, namesAt(core, event.position)),
    by: byView(core, event),
    session: sessionView(found),
    requestId: event.metadata.requestId,
    changes: changesOf(event, before).map((change) => withUnit(core, event, change)),
    after: stateView(found),
    inForceAt: inForceAt(core, event),
    sameRequest: sameRequestView(core, found),
    inStream: linked(found.inStream),
    inLog: linked(found.inLog),
    about: aboutEvent(core, event, before),
    keg: event.type === 'ReadingAccepted' ? event.data : null,
    samples: samplesOf(event),
    json: JSON.stringify(eventView(event), null, 2),
  }
}

const sameRequestView = (core: Core, { event, sameRequest }: EventInContext): EventPageView['sameRequest'] => {
  const { events, count, isComplete, span } = sameRequest
  const listed = span && {
    actor: actorText(event.metadata.by),
    from: instantText(span.firstMs),
    to: isComplete ? instantText(span.lastMs + 1) : '',
  }
  const listHref = listed && paths.log(listed)
  return { events: events.map((other) => eventLink(core, other)), count, isComplete, listHref }
}

const withUnit = (core: Core, { type, data }: RecordedEvent, change: Change): Change =>
  type === 'ReadingAccepted' && change.field === 'value'
    ? { ...change, to: valueText(data.value, unitIn(core, data.cellar, data.keg)) }
    : change

const linked = ({ before, after }: EventInContext['inLog']): Neighbours => ({
  before: before && hrefOf(before),
  after: after && hrefOf(after),
})

const hrefOf = ({ stream, revision }: Pick<RecordedEvent, 'stream' | 'revision'>): string =>
  paths.event(stream, revision)

const eventLink = (core: Core, event: RecordedEvent): EventLink => ({
  words: sentenceOf(event, unknownBefore, namesAt(core, event.position)),
  place: `${event.stream}@${event.revision}`,
  href: hrefOf(event),
})

/**
 * Only the event's own fence or seal says when every node had the change. A later fence would say a time that is much too
 * late.
 */
const inForceAt = ({ projections }: Core, event: RecordedEvent): number | null => {
  if (categoryOf(event.stream) !== 'key') return null
  const barriers = projections.readings.barriers(keyIdOf(event.stream))
  // A seal comes before its revocation.
  if (event.type === 'KeyRevoked') return barriers.find(({ id }) => id === event.data.sealId)?.recordedAt ?? null
  const fence = barriers.find(({ type, data }) => type === 'ReadingsFenced' && data.keyRevision === event.revision)
  return fence === undefined || declarationOf(event.type).mayTakeAway !== true
    ? null
    : Math.max(fence.recordedAt, event.recordedAt)
}

const stateView = ({ event, before, keyAfter }: EventInContext): EventPageView['after'] => {
  if (keyAfter !== null) return { of: 'key', state: statusThen(keyAfter) }
  const { operator } = stateAfter(before, event)
  if (operator === null) return null
  const role = operator.account?.role
  return { of: 'account', words: role === undefined ? 'no access' : `role ${role}` }
}

const sessionView = ({ event, signIn }: EventInContext): EventPageView['session'] => {
  const { by } = event.metadata
  if (by.kind !== 'operator' || by.session === undefined) return null
  const from = signIn && { at: signIn.recordedAt, address: signIn.data.address, browser: signIn.data.browser }
  return { id: by.session.id, from }
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

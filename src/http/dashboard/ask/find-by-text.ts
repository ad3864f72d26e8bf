import type { FoundView } from '../../../../views/log/log-types.ts'
import { countOf } from '../../../../views/parts/quantity.ts'
import { dateText, exactText } from '../../../../views/parts/time-words.ts'
import { paths } from '../../../../views/paths.ts'
import { answerOf, answerOr } from '../../../actors/ask/answer-of.ts'
import { whyIdNotFound } from '../../../actors/ask/why-id-not-found.ts'
import type { Core } from '../../../actors/core-interface.ts'
import { dayMs, instantText } from '../../../domain/calendar.ts'
import type { CellarState } from '../../../domain/cellar.ts'
import { eventTypes, type RecordedEvent } from '../../../domain/events.ts'
import { assertNever } from '../../../domain/refusal.ts'
import { canBePart, everyMeaning, type Meaning } from '../../../domain/search/every-meaning.ts'
import { likeText } from '../../../domain/search/like-text.ts'
import { instantExamples } from '../../../domain/search/near-instant.ts'
import { instantOfRequestId } from '../../../domain/search/request-id.ts'
import { type Time, thingAndTime } from '../../../domain/search/thing-and-time.ts'
import { rackTyped } from '../../../domain/search/what-to-find.ts'
import type { LogListParts } from './log-list-parts.ts'

/** `Key 1` can be the label of a key in each cellar. */
export const labelChoicesMax = 20
const namesOfferedMax = 10

type Choice = FoundView['choices'][number]
type Sought = Choice | { readonly missing: string | null; readonly next?: readonly Choice[] }

/** A search that took too long goes on behind `after`. @throws Outage, UndecodableEvent */
export const findByText = async (
  parts: LogListParts,
  text: string,
  after: number | null = null,
): Promise<FoundView> => {
  const { nowMs } = parts
  const typed = text.trim()
  const found = await seekAll(parts, await meaningsOf(parts, typed), after)
  const dated = found.choices.length === 0 ? thingAndTime(typed, nowMs) : null
  if (dated === null) return { typed, choices: found.choices, missing: found.missing ?? nothingMeant(typed) }
  const things = (await meaningsOf(parts, dated.thing)).filter(hasList)
  const { choices, missing } = await seekAll(parts, things, null, dated.time)
  return { typed, choices, missing: missing ?? found.missing ?? nothingMeant(typed) }
}

/** If a cellar or a label has exactly this name, names that only contain it are not meant. */
const meaningsOf = async (parts: LogListParts, typed: string): Promise<readonly Meaning[]> => {
  const { core, nowMs } = parts
  const rack = rackTyped(typed)
  if (rack !== null) return racksInLog(parts, rack)
  const meanings = everyMeaning(typed, {
    nowMs,
    cellarsNamed: (name) => cellarsNamed(core, name),
    keysLabelled: (label) => core.projections.keys.labelled(label).map(({ keyId }) => keyId),
  })
  if (typed === '' || !canBePart(meanings)) return meanings
  const isNamed = meanings.some(({ kind }) => kind === 'cellar' || kind === 'labelled')
  const pattern = likeText(typed, { isWhole: isNamed })
  if (pattern === null) return meanings
  const named = isNamed ? [] : namesLike(core, pattern)
  const types = eventTypes.filter((type) => pattern.test(type)).map((type) => ({ kind: 'type', type }) as const)
  return [...meanings, ...named, ...(await racksLike(parts, pattern)), ...types]
}

const namesLike = ({ projections: { cellars, keys } }: Core, pattern: RegExp): readonly Meaning[] => {
  const isLike = ({ cellar, title }: CellarState): boolean => pattern.test(cellar) || pattern.test(title)
  const keyIds = keys.labelledLike(pattern).map(({ keyId }) => keyId)
  return [
    ...cellars
      .list()
      .filter(isLike)
      .slice(0, namesOfferedMax)
      .map(({ cellar }) => ({ kind: 'cellar', cellar }) as const),
    ...(keyIds.length > 0 ? [{ kind: 'labelled', keyIds } as const] : []),
  ]
}

const racksLike = async ({ core, owner }: LogListParts, pattern: RegExp) => {
  const found = await core.questions.ask('racksByName', { pattern, limit: namesOfferedMax }, { owner })
  return answerOr(found, []).map((rack) => ({ kind: 'rack', ...rack }) as const)
}

/** With a rack of exactly this name, racks with a part of it are not meant. */
const racksInLog = async (parts: LogListParts, rack: string): Promise<readonly Meaning[]> => {
  for (const isWhole of [true, false]) {
    const pattern = likeText(rack, { isWhole })
    const found = pattern === null ? [] : await racksLike(parts, pattern)
    if (found.length > 0) return found.map((one) => ({ ...one, kind: 'rack_in_log' }))
  }
  return []
}

/** A time can narrow down only these. */
const hasList = ({ kind }: Meaning): boolean =>
  kind === 'key' ||
  kind === 'labelled' ||
  kind === 'cellar' ||
  kind === 'operator' ||
  kind === 'rack_in_log' ||
  kind === 'type'

type SoughtAll = {
  readonly choices: readonly Choice[]
  readonly missing: readonly string[] | null
}

const seekAll = async (
  parts: LogListParts,
  meanings: readonly Meaning[],
  after: number | null,
  time: Time | null = null,
): Promise<SoughtAll> => {
  const [choices, missing]: [Choice[], string[]] = [[], []]
  for (const meaning of meanings) {
    const sought = meaning.kind === 'id' ? await seekId(parts, meaning.id, after) : await seek(parts, meaning, time)
    if (!('missing' in sought)) choices.push(sought)
    else {
      if (sought.missing !== null) missing.push(sought.missing)
      choices.push(...(sought.next ?? []))
    }
  }
  return { choices, missing: meanings.length === 0 ? null : missing }
}

const nothingMeant = (typed: string): readonly string[] =>
  typed === ''
    ? ['The box was empty.']
    : [
        'There is no cellar, no key, no rack and no type of event with such a name.',
        'The text is no receipt (like readings-7Qp2mZ4k@976), no id of a request or an event, no key (like clr_7Qp2mZ4k) and no e-mail.',
        `The text is no time (like ${instantExamples}).`,
      ]

const cellarsNamed = ({ projections }: Core, text: string): readonly string[] => {
  const wanted = text.toLowerCase()
  return projections.cellars
    .list()
    .filter(({ cellar, title }) => cellar === text || title.toLowerCase() === wanted)
    .map(({ cellar }) => cellar)
}

const seek = async (
  parts: LogListParts,
  meaning: Exclude<Meaning, { readonly kind: 'id' }>,
  time: Time | null,
): Promise<Sought> => {
  const { core } = parts
  const { cellars, operators } = core.projections
  const when = time === null ? {} : chosenTime(time)
  switch (meaning.kind) {
    case 'receipt':
      return seekReceipt(parts, meaning)
    case 'position':
      return seekPosition(parts, meaning.position)
    case 'key':
      return keyChoice(core, meaning.keyId, when) ?? { missing: `There is no key with the id ${meaning.keyId}.` }
    case 'labelled':
      return seekLabelled(core, meaning.keyIds, when)
    case 'cellar':
      return {
        what: 'The cellar',
        name: cellars.get(meaning.cellar)?.title ?? meaning.cellar,
        href: paths.log({ cellar: meaning.cellar, ...when }),
      }
    case 'operator':
      return operators.get(meaning.email) === null && !operators.wasRemoved(meaning.email)
        ? { missing: `There is no operator with the e-mail ${meaning.email}.` }
        : { what: 'The operator', name: meaning.email, href: paths.log({ actor: meaning.email, ...when }) }
    case 'rack':
      return {
        what: 'The rack',
        name: `${meaning.rack} of ${cellars.get(meaning.cellar)?.title ?? meaning.cellar}, with its kegs`,
        href: paths.rack(meaning.cellar, meaning.rack),
      }
    case 'rack_in_log':
      return {
        what: 'Everything about the rack',
        name: `${meaning.rack} of ${cellars.get(meaning.cellar)?.title ?? meaning.cellar}`,
        href: paths.log({ cellar: meaning.cellar, rack: meaning.rack, ...when }),
      }
    case 'type':
      return { what: 'The events of the type', name: meaning.type, href: paths.log({ type: meaning.type, ...when }) }
    case 'span': {
      const { since, until } = meaning
      const isDay = since % dayMs === 0 && until - since === dayMs
      return {
        what: isDay ? 'The day' : 'The time',
        name: isDay ? dateText(since) : `${exactText(since)} to ${exactText(until)}`,
        href: paths.log(chosenTime(meaning)),
      }
    }
    case 'instant':
      return { what: 'The time', name: exactText(meaning.atMs), href: paths.log(chosenTime(meaning)) }
    default:
      return assertNever(meaning)
  }
}

type When = Parameters<typeof paths.log>[0]

/** Keys of several cellars can have the same label. */
const keyChoice = ({ projections }: Core, keyId: string, when: When): Choice | null => {
  const key = projections.keys.get(keyId)
  if (key === null) return null
  const title = projections.cellars.get(key.cellar)?.title ?? key.cellar
  const name = `${key.label} (clr_${keyId}_…) of ${title}`
  return { what: 'The key', name, href: paths.log({ ...when, key: keyId }) }
}

const seekLabelled = (core: Core, keyIds: readonly string[], when: When): Sought => {
  const next = keyIds.slice(0, labelChoicesMax).flatMap((keyId) => keyChoice(core, keyId, when) ?? [])
  const missing =
    keyIds.length > next.length
      ? `${countOf(keyIds.length, 'key has', 'keys have')} this label. The list has the newest ${next.length}.`
      : null
  return { missing, next }
}

const chosenTime = (time: Time) =>
  time.kind === 'span' ? { from: spanText(time.since), to: spanText(time.until) } : { at: instantText(time.atMs) }

const spanText = (atMs: number): string => (atMs % dayMs === 0 ? dateText(atMs) : instantText(atMs))

const eventChoice = ({ stream, revision, type }: RecordedEvent): Choice => ({
  what: 'The event',
  name: `${type}, ${stream}@${revision}`,
  href: paths.event(stream, revision),
})

const seekReceipt = async (
  { core, owner }: LogListParts,
  receipt: Extract<Meaning, { readonly kind: 'receipt' }>,
): Promise<Sought> => {
  const found = answerOf(await core.questions.ask('receipt', receipt, { owner, isAtOnce: true }))
  const { stream } = receipt
  switch (found.kind) {
    case 'found': {
      const [first] = found.events
      return first === undefined ? { missing: `There is no event at ${stream}@${receipt.first}.` } : eventChoice(first)
    }
    case 'no_stream':
      return { missing: `There is no stream "${stream}" in the log.` }
    case 'not_written':
      return {
        missing: `There is no event ${stream}@${receipt.first} yet. The last one is ${stream}@${found.lastRevision}.`,
      }
    case 'deleted':
      return {
        missing: `The retention has deleted this event. The first one that is left is ${stream}@${found.firstRevision}.`,
      }
    default:
      return assertNever(found)
  }
}

const seekPosition = async ({ core, owner }: LogListParts, position: number): Promise<Sought> => {
  const event = answerOf(await core.questions.ask('position', position, { owner, isAtOnce: true }))
  return event === null ? { missing: `No event has the position ${position}.` } : eventChoice(event)
}

/**
 * A request without events may have been refused, which a page of its own explains. A search in a busy minute takes
 * seconds.
 */
const seekId = async ({ core, owner }: LogListParts, id: string, after: number | null): Promise<Sought> => {
  const atMs = instantOfRequestId(id)
  const { index, changes, inLog } = answerOf(await core.questions.ask('findId', { id, atMs, after }, { owner }))
  const event = changes[0] ?? inLog?.events[0]
  if (event !== undefined) return eventChoice(event)
  if (inLog === null) return { missing: `Cannot find the id ${id}: ${whyIdNotFound(index)}` }
  const request = { what: 'The request', name: id, href: paths.refusedRequest(id) }
  const { isComplete, lookedTo } = inLog
  if (isComplete || lookedTo === null) return request
  const reached = exactText(lookedTo.recordedAt)
  return {
    missing: `The search for the event took too long, so it stopped at ${reached}. It found no event with the id ${id}.`,
    next: [
      { what: 'Go on searching', name: `after ${reached}`, href: paths.found(id, lookedTo.position) },
      { ...request, what: 'If it was refused: the request' },
    ],
  }
}

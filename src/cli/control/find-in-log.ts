import type { Ask } from '../../actors/search/ask-db.ts'
import { changesOfId, refusalOfRequest } from '../../actors/search/ask-for-events.ts'
import { eventAt, eventsOfId, eventsOfReceipt, type Receipt } from '../../actors/search/find-events.ts'
import { firstEventSince } from '../../actors/search/position-of-instant.ts'
import type { RecordedEvent } from '../../domain/events.ts'
import { assertNever } from '../../domain/refusal.ts'
import { requestIdFacts } from '../../domain/search/request-id.ts'
import { meaningsOf, type ToFind } from '../../domain/search/what-to-find.ts'
import { eventView } from '../../export/event-view.ts'
import { AskBusy, AskUnusable } from '../../log/ask-index.ts'
import { type EventLog, Outage } from '../../log/event-log.ts'
import { type End, exitCodes } from '../exit-codes.ts'
import { isoOf, type Line } from '../show/lines.ts'

export type FindParts = {
  readonly log: EventLog
  /** `null` without a running service, or if the service has no `ask.db`. Then the log itself is searched. */
  readonly ask: Ask | null
  /** Returns `null` if there is no key with this id. */
  keyLine(keyId: string): Promise<Line | null>
}

type Found = { readonly lines: readonly Line[]; readonly note: string | null }
/** Says what was looked for in vain. */
type Missing = { readonly missing: string }

/** Yields the events or the key that `what` can mean (`meaningsOf`). The end says what was looked for if nothing was found. */
export async function* findInLog(what: string, parts: FindParts): AsyncGenerator<Line, End> {
  const missing: string[] = []
  for (const meaning of meaningsOf(what)) {
    const found = await find(meaning, parts)
    if ('missing' in found) {
      missing.push(found.missing)
      continue
    }
    yield* found.lines
    return { exitCode: exitCodes.done, message: found.note }
  }
  return { exitCode: exitCodes.refused, message: `Cannot find "${what}": ${missing.join('; ')}` }
}

const find = async (meaning: ToFind, { log, ask, keyLine }: FindParts): Promise<Found | Missing> => {
  switch (meaning.kind) {
    case 'receipt':
      return findReceipt(log, meaning)
    case 'position':
      return findPosition(log, meaning.position)
    case 'id':
      return findId({ log, ask }, meaning.id)
    case 'key': {
      const line = await keyLine(meaning.keyId)
      return line === null ? { missing: `there is no key "${meaning.keyId}"` } : { lines: [line], note: null }
    }
    case 'instant': {
      const event = await firstEventSince(log, meaning.atMs, ask)
      return event === null
        ? { missing: `no event was recorded at ${isoOf(meaning.atMs)} or later` }
        : foundEvents([event], null)
    }
    default:
      return assertNever(meaning)
  }
}

const foundEvents = (events: readonly RecordedEvent[], note: string | null): Found => ({
  lines: events.map((event) => ({ kind: 'event', value: eventView(event) })),
  note,
})

const findReceipt = async (log: EventLog, receipt: Receipt): Promise<Found | Missing> => {
  const { stream, first, last } = receipt
  const found = await eventsOfReceipt(log, receipt)
  switch (found.kind) {
    case 'found': {
      const lacking = last - first + 1 - found.events.length
      return foundEvents(
        found.events,
        lacking === 0 ? null : `${lacking} more events of this receipt are not in the log`,
      )
    }
    case 'no_stream':
      return { missing: `there is no stream "${stream}"` }
    case 'not_written':
      return { missing: `the last revision of "${stream}" is ${found.lastRevision}` }
    case 'deleted':
      return {
        missing: `the retention has deleted it. The first revision of "${stream}" is ${found.firstRevision} now`,
      }
    default:
      return assertNever(found)
  }
}

const findPosition = async (log: EventLog, position: number): Promise<Found | Missing> => {
  const missing = { missing: `no event has the position ${position}` }
  try {
    const event = await eventAt(log, position)
    return event === null ? missing : foundEvents([event], null)
  } catch (error) {
    // EventStoreDB answers a read at any other position with an error. The log is healthy then.
    if (error instanceof Outage && log.lags === true && log.health().ok) return missing
    throw error
  }
}

type Sources = Pick<FindParts, 'log' | 'ask'>

const findId = async ({ log, ask }: Sources, id: string): Promise<Found | Missing> => {
  const changes = (await asked(ask, (it) => changesOfId(it, id))) ?? []
  // Only requests of keys accept readings, which are in the log alone.
  if (changes.length > 0 && !changes.some(({ metadata }) => metadata.by.kind === 'key'))
    return foundEvents(changes, null)
  const facts = requestIdFacts(id)
  switch (facts.kind) {
    case 'made_at': {
      const { events, searched, isComplete } = await eventsOfId({ log, ask }, id, { atMs: facts.atMs })
      const limit = `the search ended after ${searched.toLocaleString('en')} events`
      if (events.length > 0) return foundEvents(events, isComplete ? null : `There can be more: ${limit}`)
      if (changes.length > 0) return foundEvents(changes, null)
      const refused = await asked(ask, (it) => findRefused(it, id, facts.atMs))
      if (refused !== null) return refused
      const about = `none of ${searched.toLocaleString('en')} events recorded about ${isoOf(facts.atMs)} has this id. A refused request stores no event`
      return { missing: isComplete ? about : `${about}; ${limit}` }
    }
    case 'no_request_id':
      if (changes.length > 0) return foundEvents(changes, null)
      return { missing: `${whyNotFound(ask)} To search the whole log, run: cellarbook log read --json | grep ${id}` }
    default:
      return assertNever(facts)
  }
}

/** Returns `null` if no refusals were counted at this time. */
const findRefused = async (ask: Ask, id: string, atMs: number): Promise<Found | null> => {
  const refused = await refusalOfRequest(ask, id, atMs)
  if (refused.kind === 'sample')
    return foundEvents([refused.summary], 'The request was refused: it is a sample of this event')
  const { summaries } = refused
  if (summaries.length === 0) return null
  const shown = summaries.slice(0, summariesShownMax)
  const more = summaries.length - shown.length
  const rest = more === 0 ? '' : ` (${more} more are not shown)`
  return foundEvents(shown, `No event has this id. If the request was refused, one of these events counts it${rest}`)
}

const summariesShownMax = 20

const whyNotFound = (ask: Ask | null): string => {
  const progress = ask?.progress() ?? null
  if (progress === null)
    return 'this id says no instant: it is the id of an event that is no reading, or older than version 7 of these ids.'
  if (progress.isBehind || progress.trouble !== null)
    return `this id says no instant, and ask.db has no events after position ${progress.position ?? 0} yet.`
  return 'no event has this id, except perhaps a reading from before version 7 of these ids.'
}

/** Returns `null` if there is no `ask.db`, or if it is damaged or locked. The service builds a damaged one again. */
const asked = async <T>(ask: Ask | null, use: (ask: Ask) => Promise<T>): Promise<T | null> => {
  if (ask === null) return null
  try {
    return await use(ask)
  } catch (error) {
    if (error instanceof AskUnusable || error instanceof AskBusy) return null
    throw error
  }
}

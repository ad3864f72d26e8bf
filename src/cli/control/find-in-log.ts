import { answerOf } from '../../actors/ask/answer-of.ts'
import { whyIdNotFound } from '../../actors/ask/why-id-not-found.ts'
import type { Core } from '../../actors/core-interface.ts'
import type { Receipt } from '../../actors/search/find-events.ts'
import type { Listed, ListPage } from '../../actors/search/list-events.ts'
import type { AskOptions } from '../../derived/questions/question.ts'
import type { RecordedEvent } from '../../domain/events.ts'
import { assertNever } from '../../domain/refusal.ts'
import { anyEvent } from '../../domain/search/event-filter.ts'
import { instantOfRequestId } from '../../domain/search/request-id.ts'
import { meaningsOf, type ToFind } from '../../domain/search/what-to-find.ts'
import { eventView } from '../../export/event-view.ts'
import { recordedSkewMsMax, summariesSearchedMax } from '../../limits.ts'
import { type End, exitCodes } from '../exit-codes.ts'
import { isoOf, type Line } from '../show/lines.ts'

export type FindParts = {
  readonly questions: Core['questions']
  readonly signal: AbortSignal
  keyLine(keyId: string): Promise<Line | null>
}

type Asking = Pick<FindParts, 'questions'> & { readonly options: AskOptions }

type Found = { readonly lines: readonly Line[]; readonly note: string | null }
type Missing = { readonly missing: string }

/** The end says what was looked for if nothing was found. */
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

const find = async (meaning: ToFind, { questions, keyLine, signal }: FindParts): Promise<Found | Missing> => {
  const asking: Asking = { questions, options: { owner: 'cli', isPatient: true, signal } }
  switch (meaning.kind) {
    case 'receipt':
      return findReceipt(asking, meaning)
    case 'position':
      return findPosition(asking, meaning.position)
    case 'id':
      return findId(asking, meaning.id)
    case 'key': {
      const line = await keyLine(meaning.keyId)
      return line === null ? { missing: `there is no key "${meaning.keyId}"` } : { lines: [line], note: null }
    }
    case 'instant': {
      const { event } = answerOf(await questions.ask('firstSince', meaning.atMs, asking.options))
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

const findReceipt = async ({ questions, options }: Asking, receipt: Receipt): Promise<Found | Missing> => {
  const { stream, first, last } = receipt
  const found = answerOf(await questions.ask('receipt', receipt, { ...options, isAtOnce: true }))
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

const findPosition = async ({ questions, options }: Asking, position: number): Promise<Found | Missing> => {
  const event = answerOf(await questions.ask('position', position, { ...options, isAtOnce: true }))
  return event === null ? { missing: `no event has the position ${position}` } : foundEvents([event], null)
}

const findId = async ({ questions, options }: Asking, id: string): Promise<Found | Missing> => {
  const atMs = instantOfRequestId(id)
  const { index, changes, inLog } = answerOf(await questions.ask('findId', { id, atMs, after: null }, options))
  if (inLog === null || atMs === null)
    return changes.length > 0
      ? foundEvents(changes, null)
      : { missing: `${whyIdNotFound(index)} To search the whole log, run: cellarbook log read --json | grep ${id}` }
  const searched = inLog.searched.toLocaleString('en')
  const limit = `the search ended after ${searched} events`
  if (inLog.events.length > 0) return foundEvents(inLog.events, inLog.isComplete ? null : `There can be more: ${limit}`)
  if (changes.length > 0) return foundEvents(changes, null)
  const refused = await findRefused({ questions, options }, id, atMs)
  if (refused !== null) return refused
  const about = `none of ${searched} events recorded about ${isoOf(atMs)} has this id. A refused request stores no event`
  return { missing: inLog.isComplete ? about : `${about}; ${limit}` }
}

const findRefused = async ({ questions, options }: Asking, id: string, atMs: number): Promise<Found | null> => {
  // The id is made when the request begins. The request is refused later, when its body has come.
  const filter = { ...anyEvent, type: 'ReadingsRefused', since: atMs, until: atMs + recordedSkewMsMax + 1 } as const
  const isSample = ({ type, data }: RecordedEvent): boolean =>
    type === 'ReadingsRefused' && data.samples.some(({ requestId }) => requestId === id)
  const shown: RecordedEvent[] = []
  let count = 0
  for (let from: number | null = null, isMore = true; isMore; ) {
    const page: ListPage = { direction: 'forwards', from, limit: summariesSearchedMax }
    const { events, end }: Listed = answerOf(await questions.ask('findEvents', { filter, page }, options))
    const sample = events.find(isSample)
    if (sample !== undefined) return foundEvents([sample], 'The request was refused: it is a sample of this event')
    shown.push(...events.slice(0, summariesShownMax - shown.length))
    count += events.length
    from = events.at(-1)?.position ?? from
    isMore = end.kind === 'page_full'
  }
  if (shown.length === 0) return null
  const more = count - shown.length
  const rest = more === 0 ? '' : ` (${more} more are not shown)`
  return foundEvents(shown, `No event has this id. If the request was refused, one of these events counts it${rest}`)
}

const summariesShownMax = 20

/**
 * Summaries of refusals have only samples of request ids. For any other id, the page offers the summaries of its instant,
 * which the id says.
 */
import type { ExplainedSample, ExplainedView, SummaryLink } from '../../../../views/log/log-types.ts'
import { refusalWords } from '../../../../views/log/refusal-words.ts'
import { sentenceOf } from '../../../../views/log/sentence.ts'
import { limitWords, type Part, type Sentence, say } from '../../../../views/log/sentence-parts.ts'
import { countOf } from '../../../../views/parts/quantity.ts'
import { durationWords, exactClockText } from '../../../../views/parts/time-words.ts'
import { paths } from '../../../../views/paths.ts'
import { answerOf } from '../../../actors/ask/answer-of.ts'
import type { Core } from '../../../actors/core-interface.ts'
import type { RefusedThen } from '../../../asked/refused-then.ts'
import type { Limit, RecordedEvent } from '../../../domain/events.ts'
import type { KeyState } from '../../../domain/key.ts'
import type { RefusalSample } from '../../../domain/refusals/waiting-refusals.ts'
import { anyEvent, keyOfEvent } from '../../../domain/search/event-filter.ts'
import { instantOfRequestId } from '../../../domain/search/request-id.ts'
import { nothingBefore } from '../../../domain/search/state-before.ts'
import { refusalSummaryMsMax, summariesSearchedMax } from '../../../limits.ts'
import { deviceProblems, problemOf } from '../../problem.ts'
import { namesAt } from '../show/event-names.ts'
import { statusThen } from '../show/status-then.ts'
import { byView } from './by-view.ts'
import type { LogListParts } from './log-list-parts.ts'
import { remedyOf, ruleWords } from './refusal-remedies.ts'
import { isWritten, type Summary, unwrittenRefusals, writtenAmong } from './unwritten-refusals.ts'

const summariesOfferedMax = 20

/** A search that was ended goes on behind `after`. @throws Outage, UndecodableEvent */
export const explainRefusal = async (
  parts: LogListParts,
  requestId: string,
  after: number | null = null,
): Promise<ExplainedView> => {
  const atMs = instantOfRequestId(requestId)
  if (atMs === null) return { kind: 'not_an_id', requestId }
  const waiting = unwrittenRefusals(parts.core, sinceAbout(atMs))
  const { summaries: written, nextAfter } = await summariesSince(parts, atMs, after)
  const isWrittenNow = writtenAmong(written)
  const summaries = [...written, ...waiting.filter((summary) => !isWrittenNow(summary))]
  for (const summary of summaries) {
    const sample = summary.data.samples.find((known) => known.requestId === requestId)
    if (sample !== undefined) return { kind: 'sample', ...(await explained(parts, summary, sample)) }
  }
  const covering = summaries.filter(({ data }) => isNear(data, atMs)).slice(0, summariesOfferedMax)
  const links = covering.map((summary) => summaryLink(parts.core, summary))
  const goOnHref = nextAfter === null ? null : paths.refusedRequest(requestId, nextAfter)
  return { kind: 'summaries', requestId, at: atMs, summaries: links, goOnHref }
}

/** The id and the summary have times of the same node, a moment apart. */
const isNear = ({ from, to }: Summary['data'], atMs: number): boolean => from - nearMs <= atMs && atMs <= to + nearMs
const nearMs = 60_000

const sinceAbout = (atMs: number) => ({ ...anyEvent, type: 'ReadingsRefused', since: atMs - nearMs }) as const

/** A summary is written after its refusals, sometimes long after them. */
const summariesSince = async (parts: LogListParts, atMs: number, after: number | null) => {
  const { questions } = parts.core
  const { owner } = parts
  const from = after ?? answerOf(await questions.ask('positionBefore', atMs, { owner }))
  const page = { direction: 'forwards', from, limit: summariesSearchedMax } as const
  const { events, end } = answerOf(await questions.ask('findEvents', { filter: sinceAbout(atMs), page }, { owner }))
  const last = end.kind === 'time_over' ? { position: end.position, recordedAt: end.atMs ?? atMs } : events.at(-1)
  const isDone = end.kind === 'complete' || last === undefined || last.recordedAt > atMs + refusalSummaryMsMax
  return { summaries: events.filter(isSummary), nextAfter: isDone ? null : last.position }
}

const isSummary = (event: RecordedEvent): event is Summary => event.type === 'ReadingsRefused'

const summaryLink = (core: Core, summary: Summary): SummaryLink => {
  const key = keyOf(core, summary)
  return {
    key: key === null ? null : { id: key.keyId, label: labelAt(core, key, summary) },
    from: summary.data.from,
    to: summary.data.to,
    refusals: sentenceOf(summary, nothingBefore, namesAt(core, summary.position)),
    href: isWritten(summary) ? paths.event(summary.stream, summary.revision) : null,
  }
}

const keyOf = ({ projections }: Core, event: RecordedEvent): KeyState | null => {
  const keyId = keyOfEvent(event)
  return keyId === null ? null : projections.keys.get(keyId)
}

const explained = async (parts: LogListParts, summary: Summary, sample: RefusalSample): Promise<ExplainedSample> => {
  const { core } = parts
  const { requestId, atMs, code, rack, keg } = sample
  const key = keyOf(core, summary)
  const then = key === null ? null : await thenOf(parts, key, summary, atMs)
  const around = summaryLink(core, summary)
  const named = key && around.key && { ...around.key, cellar: key.cellar }
  return {
    requestId,
    at: atMs,
    status: statusOfCode(code),
    code,
    sentence: titleOf(sample, named, then?.limit ?? null),
    rule: ruleWords(sample),
    key: named,
    rack,
    keg,
    keyThen: then?.key ? statusThen(then.key) : null,
    limitThen: then?.limit ? { words: limitWords(then.limit), used: then.used } : null,
    changed: (then?.changes ?? []).map(({ event, before }) => ({
      at: event.recordedAt,
      words: sentenceOf(event, before, namesAt(core, event.position)),
      by: byView(core, event),
      href: paths.event(event.stream, event.revision),
    })),
    around,
    remedy: remedyOf(sample, key),
  }
}

const thenOf = async (
  { core, nowMs, owner }: LogListParts,
  { keyId, cellar }: KeyState,
  { data }: Summary,
  atMs: number,
): Promise<RefusedThen> => {
  const isLimited = data.counts.some(({ code }) => code === 'RATE_LIMITED')
  const barriersMs = isLimited ? core.projections.readings.barriers(keyId).map(({ recordedAt }) => recordedAt) : null
  const wanted = { keyId, cellar, atMs, nowMs, barriersMs }
  return answerOf(await core.questions.ask('refusedThen', wanted, { owner, isAtOnce: true }))
}

const labelAt = ({ projections }: Core, { keyId }: KeyState, { position }: Summary): string =>
  projections.keys.labelAt(keyId, position) ?? `clr_${keyId}_…`

const titleOf = (
  { atMs, code, rule, rack }: RefusalSample,
  key: ExplainedSample['key'],
  limit: Limit | null,
): Sentence => {
  const what: Sentence = rack === null ? say`a request` : say`a reading of ${{ kind: 'typed', text: rack }}`
  const status = statusOfCode(code)
  const named: Part | string = key === null ? 'the key' : { kind: 'key', keyId: key.id, label: key.label }
  const answer = status === null ? '' : ` with ${status}`
  const begin = say`At ${exactClockText(atMs)}, ${what} was refused${answer}:`
  if (code !== 'RATE_LIMITED') return say`${begin} ${refusalWords(code)}.`
  if (rule === 'cost') return say`${begin} ${named} had sent too many requests that stored nothing.`
  if (limit === null) return say`${begin} ${named} had used up its limit.`
  return say`${begin} ${named} had used its ${countOf(limit.readings, 'reading', 'readings')} of the last ${durationWords(limit.windowMs)}.`
}

const statusOfCode = (code: string): number | null => {
  if (code.startsWith('KEY_')) return problemOf({ kind: 'key_missing' }).status
  const found = Object.entries(deviceProblems).find(([kind]) => kind.toUpperCase() === code)
  return found === undefined ? null : found[1].status
}

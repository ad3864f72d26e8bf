/**
 * Explains why a request was refused. A summary of refusals has samples with the ids of their requests. Other requests are only
 * counted, so the page offers the summaries of that time. A request id says its instant, which tells where to look.
 */
import { type AuditEvent, stateAt } from '../../../../projections/audit-trail.ts'
import type { ExplainedSample, ExplainedView, SummaryLink } from '../../../../views/log/log-types.ts'
import { refusalWords } from '../../../../views/log/refusal-words.ts'
import { sentenceOf } from '../../../../views/log/sentence.ts'
import { limitWords, type Part, type Sentence, say } from '../../../../views/log/sentence-parts.ts'
import { countOf } from '../../../../views/parts/quantity.ts'
import { durationWords, exactClockText } from '../../../../views/parts/time-words.ts'
import { paths } from '../../../../views/paths.ts'
import type { Core } from '../../../actors/core.ts'
import { readKeyEvents } from '../../../actors/key/key-events.ts'
import { readsOfKnown, stateAtInstant, statesBefore } from '../../../actors/search/event-context.ts'
import { firstRevision } from '../../../actors/search/first-revision.ts'
import type { Limit, RecordedEvent } from '../../../domain/events.ts'
import type { KeyState } from '../../../domain/key.ts'
import type { RefusalSample } from '../../../domain/refusals/waiting-refusals.ts'
import { anyEvent, keyOfEvent } from '../../../domain/search/event-filter.ts'
import { requestIdFacts } from '../../../domain/search/request-id.ts'
import { nothingBefore, stateAfter, unknownBefore } from '../../../domain/search/state-before.ts'
import { cellarStream, keyStream, readingsStream } from '../../../domain/stream-names.ts'
import {
  changesBeforeRefusalMax,
  changesBeforeRefusalMs,
  keyLimitDefault,
  readPageEventsMax,
  refusalSummaryMsMax,
  summariesOfferedMax,
  summariesSearchedMax,
} from '../../../limits.ts'
import { namesAt } from '../show/event-names.ts'
import { statusThen } from '../show/status-then.ts'
import { findBefore, findList } from './asked-searches.ts'
import { byView } from './by-view.ts'
import type { LogListParts } from './log-list.ts'
import { remedyOf, ruleWords } from './refusal-remedies.ts'
import { statusOfCode } from './status-of-code.ts'
import { isWritten, type Summary, unwrittenRefusals } from './unwritten-refusals.ts'

/** `after` is the position behind which an ended search goes on. @throws Outage, UndecodableEvent */
export const explainRefusal = async (
  parts: LogListParts,
  requestId: string,
  after: number | null = null,
): Promise<ExplainedView> => {
  const facts = requestIdFacts(requestId)
  switch (facts.kind) {
    case 'no_request_id':
      return { kind: 'not_an_id', requestId }
    default: {
      const { summaries: written, nextAfter } = await summariesSince(parts, facts.atMs, after)
      const summaries = [...written, ...unwrittenRefusals(parts.core, sinceAbout(facts.atMs))]
      for (const summary of summaries) {
        const sample = summary.data.samples.find((known) => known.requestId === requestId)
        if (sample !== undefined) return { kind: 'sample', ...(await explained(parts, summary, sample)) }
      }
      const covering = summaries.filter(({ data }) => isNear(data, facts.atMs)).slice(0, summariesOfferedMax)
      const links = covering.map((summary) => summaryLink(parts.core, summary))
      const goOnHref = nextAfter === null ? null : paths.refusedRequest(requestId, nextAfter)
      return { kind: 'summaries', requestId, at: facts.atMs, summaries: links, goOnHref }
    }
  }
}

/** The instant of the id and that of the refusal are those of one node, a moment apart. */
const isNear = ({ from, to }: Summary['data'], atMs: number): boolean => from - nearMs <= atMs && atMs <= to + nearMs
const nearMs = 60_000

const sinceAbout = (atMs: number) => ({ ...anyEvent, type: 'ReadingsRefused', since: atMs - nearMs }) as const

/** A summary is written after its refusals, sometimes long after them, so the search goes forwards. */
const summariesSince = async (parts: LogListParts, atMs: number, after: number | null) => {
  const from = after ?? (await findBefore(parts, atMs))
  const page = { direction: 'forwards', from, limit: summariesSearchedMax } as const
  const { events, end } = await findList(parts, { filter: sinceAbout(atMs), page })
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

const explained = async (
  { core, nowMs, pause }: LogListParts,
  summary: Summary,
  sample: RefusalSample,
): Promise<ExplainedSample> => {
  const { requestId, atMs, code, rack, keg } = sample
  const key = keyOf(core, summary)
  const events = key === null ? [] : await readKeyEvents(core, key.keyId, { pause })
  const state = key === null ? null : stateAt(events, atMs, Math.max(nowMs, atMs))
  const then = key === null ? null : await limitThen(core, key, { events, atMs })
  const named = key === null ? null : { id: key.keyId, label: labelAt(core, key, summary), cellar: key.cellar }
  await pause()
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
    keyThen: state === null || !state.ok ? null : statusThen(state.value),
    limitThen:
      then === null ? null : { words: limitWords(then.limit), used: await usedThen(core, summary, { then, atMs }) },
    changed: key === null ? [] : await changedBefore(core, key, { events, atMs }),
    around: {
      from: summary.data.from,
      to: summary.data.to,
      refusals: sentenceOf(summary, nothingBefore, namesAt(core, summary.position)),
      href: isWritten(summary) ? paths.event(summary.stream, summary.revision) : null,
    },
    remedy: remedyOf(sample, key),
  }
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

type Then = { readonly events: readonly AuditEvent[]; readonly atMs: number }

/** A key without a limit of its own has the limit that its cellar had then. `null` if that is not known. */
const limitThen = async (
  { log }: Core,
  { cellar }: KeyState,
  { events, atMs }: Then,
): Promise<{ limit: Limit } | null> => {
  const known = events.filter(({ recordedAt }) => recordedAt <= atMs).toSorted((a, b) => a.position - b.position)
  const own = known.reduce(stateAfter, nothingBefore).key?.limit ?? null
  if (own !== null) return { limit: own }
  const ofCellar = await stateAtInstant(log, cellarStream(cellar), atMs)
  return ofCellar.isKnown ? { limit: ofCellar.cellar?.policy.limit ?? keyLimitDefault } : null
}

/** Counts the readings of the key in the rate window that ended then. `null` if the refusal was about something else. */
const usedThen = async (
  { log, projections }: Core,
  summary: Summary,
  { then, atMs }: { readonly then: { readonly limit: Limit }; readonly atMs: number },
): Promise<number | null> => {
  const keyId = keyOfEvent(summary)
  if (keyId === null || !summary.data.counts.some(({ code }) => code === 'RATE_LIMITED')) return null
  const stream = readingsStream(keyId)
  const fromMs = atMs - then.limit.windowMs
  const first = await firstRevision(log, stream, ({ recordedAt }) => recordedAt > fromMs)
  const last = await firstRevision(log, stream, ({ recordedAt }) => recordedAt > atMs)
  const isInWindow = ({ recordedAt }: RecordedEvent): boolean => recordedAt > fromMs && recordedAt <= atMs
  return last - first - projections.readings.barriers(keyId).filter(isInWindow).length
}

/** Readings, fences and purges change nothing of the key. */
const changedBefore = async (core: Core, { keyId, cellar }: KeyState, { events, atMs }: Then) => {
  const isBefore = ({ recordedAt }: RecordedEvent): boolean =>
    recordedAt <= atMs && recordedAt > atMs - changesBeforeRefusalMs
  const ofKey = events.filter(({ type }) => type.startsWith('Key'))
  const page = await core.log.read(cellarStream(cellar), { direction: 'backwards', limit: readPageEventsMax })
  const ofCellar = page.filter(({ type }) => type === 'CellarPolicyChanged')
  const changes: RecordedEvent[] = [...ofKey, ...ofCellar].filter(isBefore)
  const newest = changes.toSorted((a, b) => b.position - a.position).slice(0, changesBeforeRefusalMax)
  const states = await statesBefore(readsOfKnown(core.log, keyStream(keyId), events), newest)
  return newest.map((event, index) => ({
    at: event.recordedAt,
    words: sentenceOf(event, states[index] ?? unknownBefore, namesAt(core, event.position)),
    by: byView(core, event),
    href: paths.event(event.stream, event.revision),
  }))
}

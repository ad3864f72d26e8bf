import { AttentionPage } from '../../../../../views/attention/attention-page.tsx'
import type { AttentionQuery, AttentionRow, AttentionView } from '../../../../../views/attention/attention-types.ts'
import { RestPage } from '../../../../../views/attention/rest-page.tsx'
import { attentionFields, paths } from '../../../../../views/paths.ts'
import type { Core, CurrentLine } from '../../../../actors/core-interface.ts'
import { attentionKinds, byUrgency } from '../../../../domain/attention/attention-lines.ts'
import { dayMs } from '../../../../domain/calendar.ts'
import { type Faults, htmlPage, noFaults, placedFaults, refusedPage, seeOther } from '../../page-answers.tsx'
import { healthView } from '../../show/health-view.ts'
import { askerOf, type DashboardDeps, type SignedInVisit } from '../../visit.ts'
import { webhookViews } from './webhook-pages.tsx'

/** In each of the two lists. */
export const attentionLinesShownMax = 200

/** So many cellars have links of their own. */
const cellarLinksMax = 12

export const showAttention = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  await deps.core.attention.load()
  await deps.core.webhooks.load()
  const attention = attentionView(deps.core, attentionQueryOf(deps.core, visit.query))
  const health = healthView(deps.facts(), deps.settings)
  const webhooks = webhookViews(deps.core)
  return htmlPage(visit, <AttentionPage shell={visit.shell} {...{ attention, health, webhooks }} />)
}

export const attentionQueryOf = ({ projections }: Core, query: URLSearchParams): AttentionQuery => ({
  cellar: projections.cellars.get(query.get('cellar') ?? '')?.cellar ?? null,
  kind: attentionKinds.find((kind) => kind === query.get('kind')) ?? null,
})

export const attentionView = (core: Core, query: AttentionQuery): AttentionView => {
  const all = core.attention.current()
  const isOfKind = ({ line }: CurrentLine) => query.kind === null || line.kind === query.kind
  const isOfCellar = ({ cellar }: CurrentLine) => query.cellar === null || cellar === query.cellar
  const sorted = all.filter((line) => isOfKind(line) && isOfCellar(line)).toSorted((a, b) => byUrgency(a.line, b.line))
  const awake = sorted.filter(({ rest }) => rest === null)
  const resting = sorted.filter(({ rest }) => rest !== null)
  const shown = [awake, resting].map((lines) => lines.slice(0, attentionLinesShownMax))
  const [awakeShown = [], restingShown = []] = shown.map((lines) => lines.map((line) => rowOf(core, line)))
  const notShown = awake.length - awakeShown.length + resting.length - restingShown.length
  const allAwake = all.filter(({ rest }) => rest === null)
  const cellars = cellarsOf(core, allAwake.filter(isOfKind), query)
  return {
    query,
    kinds: kindsOf(allAwake.filter(isOfCellar), query),
    cellars: cellars.slice(0, cellarLinksMax),
    moreCellars: Math.max(0, cellars.length - cellarLinksMax),
    awake: awakeShown,
    resting: restingShown,
    more: notShown + core.attention.more(),
    count: allAwake.length + core.attention.more(),
  }
}

/** The chosen kind or cellar has a link even if it has no line. */
const kindsOf = (lines: readonly CurrentLine[], { kind: chosen }: AttentionQuery): AttentionView['kinds'] => {
  const counts = Map.groupBy(lines, ({ line }) => line.kind)
  return attentionKinds
    .map((kind) => ({ kind, count: counts.get(kind)?.length ?? 0 }))
    .filter(({ kind, count }) => count > 0 || kind === chosen)
}

const cellarsOf = (
  { projections }: Core,
  lines: readonly CurrentLine[],
  { cellar: chosen }: AttentionQuery,
): AttentionView['cellars'] => {
  const counts = new Map<string, number>(chosen === null ? [] : [[chosen, 0]])
  for (const { cellar } of lines) if (cellar !== null) counts.set(cellar, (counts.get(cellar) ?? 0) + 1)
  return [...counts]
    .map(([cellar, count]) => ({ cellar, title: projections.cellars.get(cellar)?.title ?? cellar, count }))
    .toSorted((a, b) => Number(b.cellar === chosen) - Number(a.cellar === chosen) || b.count - a.count)
}

const rowOf = ({ projections: { cellars, keys } }: Core, { cellar, line, rest }: CurrentLine): AttentionRow => ({
  cellar,
  cellarTitle: (cellar === null ? null : cellars.get(cellar)?.title) ?? '',
  keyLabel: (line.keyId === undefined ? null : keys.get(line.keyId)?.label) ?? null,
  line,
  rest,
})

export const showRest = (deps: DashboardDeps, visit: SignedInVisit): Response | Promise<Response> => {
  const line = lineOf(deps, visit)
  return line === null ? gone(visit) : htmlPage(visit, restPage(deps, visit, line))
}

export const rest = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const current = lineOf(deps, visit)
  if (current === null) return gone(visit)
  const again = (faults: Faults) => restPage(deps, visit, current, faults)
  const days = visit.form('days')
  if (!daysOffered(current, visit.nowMs).includes(days))
    return htmlPage(visit, again({ days: 'Choose one of these.' }), 422)
  if (days === '0' && current.rest === null) return seeOther(visit, paths.attention, { notice: 'was_not_at_rest' })
  const { cellar, line } = current
  const untilMs = visit.nowMs + Number(days) * dayMs
  const rested = await deps.core.attention.rest({ ...line, cellar }, untilMs, askerOf(visit))
  if (rested.ok) return seeOther(visit, paths.attention, { notice: days === '0' ? 'rest_ended' : 'line_rests' })
  if (rested.refusal.kind === 'attention_line_not_found') return gone(visit)
  return refusedPage(visit, rested.refusal, { back: { href: paths.attention, words: 'Back' }, again })
}

/** 0 ends a rest. A longer rest than a day ends before the due date, so that somebody is told in time. */
const daysOffered = ({ line: { dueMs } }: CurrentLine, nowMs: number): readonly string[] => [
  '1',
  ...['7', '30'].filter((days) => dueMs === undefined || nowMs + Number(days) * dayMs < dueMs),
  '0',
]

const lineOf = ({ core }: DashboardDeps, { form, query }: SignedInVisit): CurrentLine | null => {
  const isSent = form('kind') !== ''
  const asked = (name: string): string => (isSent ? form(name) : (query.get(name) ?? ''))
  const isAsked = (line: CurrentLine) => attentionFields(line).every(([name, text]) => asked(name) === text)
  return core.attention.current().find(isAsked) ?? null
}

const gone = (visit: SignedInVisit): Response => seeOther(visit, paths.attention, { notice: 'line_is_gone' })

const restPage = (
  { core }: DashboardDeps,
  visit: SignedInVisit,
  line: CurrentLine,
  faults: Faults = noFaults,
): JSX.Element => {
  const offered = daysOffered(line, visit.nowMs)
  const values = { days: visit.form('days') || (offered.includes('7') ? '7' : '1') }
  const form = { values, faults: placedFaults(values, faults) }
  return <RestPage shell={visit.shell} row={rowOf(core, line)} {...{ offered, form }} />
}

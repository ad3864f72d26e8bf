import { AttentionPage } from '../../../../views/attention/attention-page.tsx'
import type { AttentionRow, AttentionView } from '../../../../views/attention/attention-types.ts'
import { RestPage } from '../../../../views/attention/rest-page.tsx'
import { attentionFields, paths } from '../../../../views/paths.ts'
import type { Core, CurrentLine } from '../../../actors/core-interface.ts'
import { byUrgency } from '../../../domain/attention/attention-lines.ts'
import { dayMs } from '../../../domain/calendar.ts'
import { type Faults, htmlPage, noFaults, placedFaults, refusedPage, seeOther } from '../page-answers.tsx'
import { askerOf, type DashboardDeps, type SignedInVisit } from '../visit.ts'

/** In each of the two lists. */
export const attentionLinesShownMax = 200

export const showAttention = async ({ core }: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  await core.attention.load()
  return htmlPage(visit, <AttentionPage shell={visit.shell} attention={attentionView(core)} />)
}

export const attentionView = (core: Core): AttentionView => {
  const sorted = core.attention.current().toSorted((a, b) => byUrgency(a.line, b.line))
  const awake = sorted.filter(({ rest }) => rest === null)
  const resting = sorted.filter(({ rest }) => rest !== null)
  const shown = [awake, resting].map((lines) => lines.slice(0, attentionLinesShownMax))
  const [awakeShown = [], restingShown = []] = shown.map((lines) => lines.map((line) => rowOf(core, line)))
  const count = awake.length + core.attention.more()
  return {
    awake: awakeShown,
    resting: restingShown,
    more: count - awakeShown.length + resting.length - restingShown.length,
    count,
  }
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
  if (!daysOffered.includes(days)) return htmlPage(visit, again({ days: 'Choose one of these.' }), 422)
  const { cellar, line } = current
  const untilMs = visit.nowMs + Number(days) * dayMs
  const rested = await deps.core.attention.rest({ ...line, cellar }, untilMs, askerOf(visit))
  if (rested.ok) return seeOther(visit, paths.attention, { notice: days === '0' ? 'rest_ended' : 'line_rests' })
  if (rested.refusal.kind === 'attention_line_not_found') return gone(visit)
  return refusedPage(visit, rested.refusal, { back: { href: paths.attention, words: 'Back' }, again })
}

/** 0 ends a rest. */
const daysOffered: readonly string[] = ['1', '7', '30', '0']

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
  const values = { days: visit.form('days') || '7' }
  return (
    <RestPage shell={visit.shell} row={rowOf(core, line)} form={{ values, faults: placedFaults(values, faults) }} />
  )
}

import type { PastView } from '../../../../../views/attention/attention-types.ts'
import { PastPage } from '../../../../../views/attention/past-lines.tsx'
import { answerOr } from '../../../../actors/ask/answer-of.ts'
import { recordsKeptMs, recordsKeptMsOf } from '../../../../actors/cellar/record-retention.ts'
import { attentionKinds, type LineScope } from '../../../../domain/attention/attention-lines.ts'
import { dayMs } from '../../../../domain/calendar.ts'
import { Outage } from '../../../../log/event-log.ts'
import { htmlPage, notFound } from '../../page-answers.tsx'
import type { DashboardDeps, SignedInVisit } from '../../visit.ts'

/** On the page of a keg or rack, where all 30 days would take too long to read. */
export const pastOfKegMs = 7 * dayMs

type About = { readonly cellar: string | null; readonly scope: LineScope }

export const pastView = async (
  { core }: DashboardDeps,
  { session, nowMs, request }: SignedInVisit,
  { pastMs = recordsKeptMs.refusals, ...about }: About & { readonly pastMs?: number },
): Promise<PastView> => {
  const cellar = about.cellar === null ? null : core.projections.cellars.get(about.cellar)
  const keptMs = cellar === null ? pastMs : Math.min(pastMs, recordsKeptMsOf(cellar.policy))
  const fromMs = Math.max(nowMs - keptMs, cellar?.createdAt ?? 0)
  const wanted = { ...about, fromMs, toMs: nowMs + 1 }
  const asker = { owner: session.email, signal: request.signal }
  try {
    return answerOr(await core.questions.ask('attentionHistory', wanted, asker), null)
  } catch (error) {
    if (error instanceof Outage) return null
    throw error
  }
}

/** Of any line, whether or not it needs attention now. */
export const showPast = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const { cellars, keys } = deps.core.projections
  const about = aboutIn(visit.query)
  const cellar = about?.cellar == null ? null : cellars.get(about.cellar)
  if (about === null || (about.cellar !== null && cellar === null)) return notFound(visit)
  const { keyId } = about.scope
  const page = {
    ...about,
    cellarTitle: cellar?.title ?? '',
    keyLabel: (keyId === undefined ? null : keys.get(keyId)?.label) ?? null,
    past: await pastView(deps, visit, about),
  }
  return htmlPage(visit, <PastPage shell={visit.shell} page={page} />)
}

/** As `attentionFields` writes it. */
const aboutIn = (query: URLSearchParams): About | null => {
  const kind = attentionKinds.find((one) => one === query.get('kind'))
  if (kind === undefined) return null
  const text = (name: string): string | null => query.get(name) || null
  const [cellar, rack, keg, keyId, node] = [text('cellar'), text('rack'), text('keg'), text('key'), text('node')]
  if ((cellar === null) === (node === null)) return null
  const names = { ...(rack !== null && { rack }), ...(keg !== null && { keg }) }
  return { cellar, scope: { kind, ...names, ...(keyId !== null && { keyId }), ...(node !== null && { node }) } }
}

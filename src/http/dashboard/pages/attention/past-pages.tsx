import type { PastView } from '../../../../../views/attention/attention-types.ts'
import { PastPage } from '../../../../../views/attention/past-lines.tsx'
import { answerOr } from '../../../../actors/ask/answer-of.ts'
import { attentionKinds, type LineScope } from '../../../../domain/attention/attention-lines.ts'
import { dayMs } from '../../../../domain/calendar.ts'
import { htmlPage, notFound } from '../../page-answers.tsx'
import type { DashboardDeps, SignedInVisit } from '../../visit.ts'

const pastMs = 30 * dayMs

type About = { readonly cellar: string | null; readonly scope: LineScope }

export const pastView = async (
  { core }: DashboardDeps,
  { session, nowMs, request }: SignedInVisit,
  about: About,
): Promise<PastView> => {
  const wanted = { ...about, fromMs: nowMs - pastMs, toMs: nowMs + 1 }
  const asker = { owner: session.email, signal: request.signal }
  return answerOr(await core.questions.ask('attentionHistory', wanted, asker), null)
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
  const names = { ...(rack !== null && { rack }), ...(keg !== null && { keg }) }
  return { cellar, scope: { kind, ...names, ...(keyId !== null && { keyId }), ...(node !== null && { node }) } }
}

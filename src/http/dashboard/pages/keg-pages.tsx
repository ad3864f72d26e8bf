import { KegPage } from '../../../../views/kegs/keg-page.tsx'
import type { KegPageView } from '../../../../views/kegs/keg-types.ts'
import { RackPage } from '../../../../views/kegs/rack-page.tsx'
import { paths } from '../../../../views/paths.ts'
import { rulesAround } from '../../../domain/attention/silence-rules.ts'
import { htmlPage, notFound, problemPage } from '../page-answers.tsx'
import { cellarView } from '../show/cellar-views.ts'
import { kegInPath, kegQueryOf } from '../show/keg-query.ts'
import { kegPageOf } from '../show/keg-views.ts'
import { requestedPage } from '../show/paging.ts'
import { waitForTurn } from '../show/pauses.ts'
import { rackPageOf } from '../show/rack-views.ts'
import { cellarInPath, type DashboardDeps, type SignedInVisit } from '../visit.ts'
import { pastOfKegMs, pastView } from './attention/past-pages.tsx'

export const showKeg = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const cellar = cellarInPath(deps, visit)
  if (cellar === null) return notFound(visit)
  const name = kegInPath(visit)
  const asked = { cellar: cellar.cellar, name, query: kegQueryOf(visit.query, name) }
  const asker = { nowMs: visit.nowMs, owner: visit.session.email, signal: visit.request.signal }
  const scope = { kind: 'silent', ...name } as const
  const [page, past] = await Promise.all([
    kegPageOf(deps, asked, asker),
    pastView(deps, visit, { cellar: cellar.cellar, scope, pastMs: pastOfKegMs }),
  ])
  if (page === null) {
    const back = { href: paths.cellar(cellar.cellar), words: 'Go to the readings of the cellar' }
    return problemPage(visit, { problem: 'keg_not_found', status: 404, back })
  }
  await waitForTurn()
  const silence = rulesAround(cellar.silence, name)
  const shown = { shell: visit.shell, cellar: cellarView(cellar), page, past, silence }
  const body = <KegPage {...shown} turn={waitForTurn} />
  return htmlPage(visit, body, statusOf(page))
}

export const showRack = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const cellar = cellarInPath(deps, visit)
  if (cellar === null) return notFound(visit)
  const { rack } = kegInPath(visit)
  const { range, from, to, isPaused } = kegQueryOf(visit.query, { rack, keg: '' })
  const asked = { cellar: cellar.cellar, rack, range: { range, from, to, isPaused }, page: requestedPage(visit.query) }
  const asker = { nowMs: visit.nowMs, owner: visit.session.email, signal: visit.request.signal }
  const scope = { kind: 'silent', rack } as const
  const [page, past] = await Promise.all([
    rackPageOf(deps, asked, asker),
    pastView(deps, visit, { cellar: cellar.cellar, scope, pastMs: pastOfKegMs }),
  ])
  if (page === null) {
    const back = { href: paths.cellar(cellar.cellar), words: 'Go to the readings of the cellar' }
    return problemPage(visit, { problem: 'rack_not_found', status: 404, back })
  }
  await waitForTurn()
  const silence = rulesAround(cellar.silence, { rack, keg: null })
  const shown = { shell: visit.shell, cellar: cellarView(cellar), page, past, silence }
  const body = <RackPage {...shown} turn={waitForTurn} />
  return htmlPage(visit, body, statusOf(page))
}

const statusOf = ({ faults }: Pick<KegPageView, 'faults'>): number => (Object.keys(faults).length > 0 ? 422 : 200)

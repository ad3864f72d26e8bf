import { KegPage } from '../../../../views/kegs/keg-page.tsx'
import type { KegPageView } from '../../../../views/kegs/keg-types.ts'
import { RackPage } from '../../../../views/kegs/rack-page.tsx'
import { paths } from '../../../../views/paths.ts'
import { htmlPage, notFound, problemPage } from '../page-answers.tsx'
import { cellarView } from '../show/cellar-views.ts'
import { kegInPath, kegQueryOf } from '../show/keg-query.ts'
import { kegPageOf } from '../show/keg-views.ts'
import { requestedPage } from '../show/paging.ts'
import { waitForTurn } from '../show/pauses.ts'
import { rackPageOf } from '../show/rack-views.ts'
import { cellarInPath, type DashboardDeps, type SignedInVisit } from '../visit.ts'

export const showKeg = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const cellar = cellarInPath(deps, visit)
  if (cellar === null) return notFound(visit)
  const name = kegInPath(visit)
  const asked = { cellar: cellar.cellar, name, query: kegQueryOf(visit.query, name) }
  const asker = { nowMs: visit.nowMs, owner: visit.session.email, signal: visit.request.signal }
  const page = await kegPageOf(deps, asked, asker)
  if (page === null) {
    const back = { href: paths.cellar(cellar.cellar), words: 'Go to the readings of the cellar' }
    return problemPage(visit, { problem: 'keg_not_found', status: 404, back })
  }
  await waitForTurn()
  const body = <KegPage shell={visit.shell} cellar={cellarView(cellar)} page={page} turn={waitForTurn} />
  return htmlPage(visit, body, statusOf(page))
}

export const showRack = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const cellar = cellarInPath(deps, visit)
  if (cellar === null) return notFound(visit)
  const { rack } = kegInPath(visit)
  const { range, from, to, isPaused } = kegQueryOf(visit.query, { rack, keg: '' })
  const asked = { cellar: cellar.cellar, rack, range: { range, from, to, isPaused }, page: requestedPage(visit.query) }
  const asker = { nowMs: visit.nowMs, owner: visit.session.email, signal: visit.request.signal }
  const page = await rackPageOf(deps, asked, asker)
  if (page === null) {
    const back = { href: paths.cellar(cellar.cellar), words: 'Go to the readings of the cellar' }
    return problemPage(visit, { problem: 'rack_not_found', status: 404, back })
  }
  await waitForTurn()
  const body = <RackPage shell={visit.shell} cellar={cellarView(cellar)} page={page} turn={waitForTurn} />
  return htmlPage(visit, body, statusOf(page))
}

const statusOf = ({ faults }: Pick<KegPageView, 'faults'>): number => (Object.keys(faults).length > 0 ? 422 : 200)

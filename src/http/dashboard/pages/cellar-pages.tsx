import { CellarsPage } from '../../../../views/cellars/cellars-page.tsx'
import { NewCellarPage } from '../../../../views/cellars/new-cellar.tsx'
import { ReadingsPage } from '../../../../views/cellars/readings-page.tsx'
import { paths } from '../../../../views/paths.ts'
import { refusalsToday } from '../ask/refusals-shown.ts'
import { htmlPage, noFaults, notFound, placedFaults, refusedPage, seeOther, toCellars } from '../page-answers.tsx'
import { cellarListOf, cellarView } from '../show/cellar-views.ts'
import { requestedPage } from '../show/paging.ts'
import { waitForTurn } from '../show/pauses.ts'
import { readingsOf, readingsQuery } from '../show/reading-views.ts'
import { askerOf, cellarInPath, type DashboardDeps, type SignedInVisit } from '../visit.ts'

export const showCellars = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const { nowMs } = visit
  const { cellars, page, pages } = await cellarListOf(deps, requestedPage(visit.query), { nowMs, pause: waitForTurn })
  await waitForTurn()
  const list = { cellars, page, pages }
  return htmlPage(visit, <CellarsPage shell={visit.shell} {...list} logCheck={deps.logCheck()} />)
}

export const showNewCellar = (_: DashboardDeps, visit: SignedInVisit): Promise<Response> =>
  htmlPage(visit, newCellarPage(visit))

export const createCellar = async ({ core }: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const input = { cellar: visit.form('cellar'), title: visit.form('title') }
  const created = await core.cellars.create(input, askerOf(visit))
  if (created.ok) return seeOther(visit, paths.keys(created.value.cellar), { notice: 'cellar_created' })
  return refusedPage(visit, created.refusal, { back: toCellars, again: (faults) => newCellarPage(visit, faults) })
}

const newCellarPage = (visit: SignedInVisit, faults = noFaults): JSX.Element => {
  const values = { cellar: visit.form('cellar'), title: visit.form('title') }
  return <NewCellarPage shell={visit.shell} form={{ values, faults: placedFaults(values, faults) }} />
}

export const leadToReadings = (deps: DashboardDeps, visit: SignedInVisit): Response | Promise<Response> => {
  const cellar = cellarInPath(deps, visit)
  return cellar === null ? notFound(visit) : seeOther(visit, paths.cellar(cellar.cellar))
}

export const showReadings = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const cellar = cellarInPath(deps, visit)
  if (cellar === null) return notFound(visit)
  const { words, page, ...asked } = readingsQuery(visit.query)
  const wanted = { cellar: cellar.cellar, words, page }
  const asker = { nowMs: visit.nowMs, owner: visit.session.email }
  const { cellar: _, ...shown } = await readingsOf(deps, wanted, { ...asker, signal: visit.request.signal })
  const refusals = await refusalsToday({ core: deps.core, ...asker }, cellar.cellar)
  return htmlPage(
    visit,
    <ReadingsPage shell={visit.shell} cellar={cellarView(cellar)} {...asked} refusals={refusals} {...shown} />,
  )
}

import { CellarsPage } from '../../../../views/cellars/cellars-page.tsx'
import { NewCellarPage } from '../../../../views/cellars/new-cellar.tsx'
import { ReadingsPage } from '../../../../views/cellars/readings-page.tsx'
import { paths } from '../../../../views/paths.ts'
import type { CellarState } from '../../../domain/cellar.ts'
import { parseLabel } from '../../../domain/text.ts'
import { refusalsToday } from '../ask/refusals-shown.ts'
import {
  type Faults,
  htmlPage,
  noFaults,
  notFound,
  placedFaults,
  refusedPage,
  seeOther,
  toCellars,
} from '../page-answers.tsx'
import { cellarListOf, cellarView } from '../show/cellar-views.ts'
import { waitForTurn } from '../show/pauses.ts'
import { readingsOf, readingsQuery } from '../show/reading-views.ts'
import { askerOf, cellarInPath, type DashboardDeps, type SignedInVisit } from '../visit.ts'
import { keyShownOnce, sentKeyId, wasShown } from './key-shown-once.tsx'

export const showCellars = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const { nowMs } = visit
  const asked = readingsQuery(visit.query)
  const list = await cellarListOf(deps, asked, { nowMs, pause: waitForTurn })
  await waitForTurn()
  return htmlPage(visit, <CellarsPage shell={visit.shell} {...list} typed={asked.typed} />)
}

export const showNewCellar = (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> =>
  htmlPage(visit, newCellarPage(visit, sentKeyId(deps, visit), { first_key: visit.form('first_key') || 'now' }))

/** The first key is a command of its own. If it fails, the cellar stays, and its list of keys says so. */
export const createCellar = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const { core } = deps
  const [cellar, keyId, first_key] = [visit.form('cellar'), sentKeyId(deps, visit), visit.form('first_key')]
  const again = (faults: Faults) => newCellarPage(visit, keyId, { first_key, faults })
  const hasKey = first_key === 'now'
  const label = parseLabel(hasKey ? visit.form('label') : '')
  if (!label.ok) return refusedPage(visit, label.refusal, { back: toCellars, again })
  const created = await core.cellars.create({ cellar, title: visit.form('title') }, askerOf(visit))
  if (!created.ok) {
    const isSpent = created.refusal.kind === 'cellar_exists'
    const shown = isSpent ? wasShown(deps, visit, (key) => key.cellar === cellar) : null
    if (shown !== null) return shown
    const existing = created.refusal.kind === 'cellar_exists' ? core.projections.cellars.get(cellar) : null
    const withLink = (faults: Faults) => newCellarPage(visit, keyId, { first_key, faults, existing })
    return refusedPage(visit, created.refusal, { back: toCellars, again: withLink })
  }
  if (!hasKey) return seeOther(visit, paths.keys(cellar), { notice: 'cellar_created' })
  const firstKey = { cellar, label: label.value, note: '', limit: null, expiresAt: null, keyId }
  const made = await core.keys.create(firstKey, askerOf(visit))
  if (!made.ok) return seeOther(visit, paths.keys(cellar), { notice: 'first_key_not_created' })
  return keyShownOnce(deps, visit, { created: made.value, cellar: created.value, replaced: null })
}

type Typed = { readonly first_key: string; readonly faults?: Faults; readonly existing?: CellarState | null }

const newCellarPage = (
  visit: SignedInVisit,
  keyId: string,
  { first_key, faults = noFaults, existing = null }: Typed,
): JSX.Element => {
  const values = { cellar: visit.form('cellar'), title: visit.form('title'), first_key, label: visit.form('label') }
  const form = { values, faults: placedFaults(values, faults) }
  return <NewCellarPage shell={visit.shell} form={form} keyId={keyId} existing={existing} />
}

export const leadToReadings = (deps: DashboardDeps, visit: SignedInVisit): Response | Promise<Response> => {
  const cellar = cellarInPath(deps, visit)
  return cellar === null ? notFound(visit) : seeOther(visit, paths.cellar(cellar.cellar))
}

export const showReadings = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const cellar = cellarInPath(deps, visit)
  if (cellar === null) return notFound(visit)
  const { words, page, order, ...asked } = readingsQuery(visit.query)
  const wanted = { cellar: cellar.cellar, words, page, order }
  const asker = { nowMs: visit.nowMs, owner: visit.session.email }
  const { cellar: _, ...shown } = await readingsOf(deps, wanted, { ...asker, signal: visit.request.signal })
  const refusals = await refusalsToday({ core: deps.core, ...asker }, cellar.cellar)
  return htmlPage(
    visit,
    <ReadingsPage shell={visit.shell} cellar={cellarView(cellar)} {...asked} refusals={refusals} {...shown} />,
  )
}

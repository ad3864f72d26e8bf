import { UnitPage } from '../../../../views/cellars/units.tsx'
import { paths } from '../../../../views/paths.ts'
import { type CellarState, unitOf } from '../../../domain/cellar.ts'
import { cellarStream } from '../../../domain/stream-names.ts'
import { isChanged, shownFieldOf, shownValues } from '../forms/changed-fields.ts'
import { changedMeanwhile, quoted } from '../forms/changed-meanwhile.ts'
import { type Faults, htmlPage, noFaults, notFound, placedFaults, refusedPage, seeOther } from '../page-answers.tsx'
import { cellarView } from '../show/cellar-views.ts'
import { askerOf, cellarInPath, type DashboardDeps, type SignedInVisit } from '../visit.ts'

type Typed = { readonly rack: string; readonly keg: string; readonly unit: string }

export const showUnit = (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const cellar = cellarInPath(deps, visit)
  if (cellar === null) return notFound(visit)
  const { form, query } = visit
  const isSent = form('_shown') !== ''
  const [rack, keg] = isSent ? [form('rack'), form('keg')] : [query.get('rack') ?? '', query.get('keg') ?? '']
  const now = { unit: unitOf(cellar, keg) ?? '' }
  const typed = { rack, keg, unit: isSent ? form('unit') : now.unit }
  return htmlPage(visit, unitPage(visit, cellar, typed, { shown: shownValues(form, now), faults: noFaults }))
}

export const setUnit = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const cellar = cellarInPath(deps, visit)
  if (cellar === null) return notFound(visit)
  const { form } = visit
  const typed = { rack: form('rack'), keg: form('keg'), unit: form('unit') }
  const shown = shownValues(form, { unit: unitOf(cellar, typed.keg) ?? '' })
  const back = backOf(cellar, typed)
  if (!isChanged(form, shown, ['unit'])) return seeOther(visit, back.href, { notice: 'nothing_typed' })
  const overtaken = await changedMeanwhile(deps, visit, {
    shown,
    now: { unit: unitOf(cellar, typed.keg) ?? '' },
    groups: [{ typed: ['unit'], now: quoted(unitOf(cellar, typed.keg) ?? '') }],
    stream: cellarStream(cellar.cellar),
    valuesIn: ({ type, data }) => (type === 'CellarUnitSet' && data.keg === typed.keg ? { unit: data.unit } : {}),
  })
  if (overtaken !== null) return htmlPage(visit, unitPage(visit, cellar, typed, overtaken), 409)
  const set = await deps.core.cellars.setUnit(cellar.cellar, typed, askerOf(visit))
  if (set.ok) {
    const isRemoved = unitOf(set.value, typed.keg) === null
    return seeOther(visit, back.href, { notice: isRemoved ? 'unit_removed' : 'unit_set' })
  }
  const again = (faults: Faults) => unitPage(visit, cellar, typed, { shown, faults })
  return refusedPage(visit, set.refusal, { back, again })
}

type Sent = { readonly shown: Readonly<Record<string, string>>; readonly faults: Faults }

const unitPage = (
  visit: SignedInVisit,
  cellar: CellarState,
  { rack, keg, unit }: Typed,
  { shown, faults }: Sent,
): JSX.Element => {
  const values = { keg, unit }
  return (
    <UnitPage
      shell={visit.shell}
      cellar={cellarView(cellar)}
      isKegGiven={keg !== '' && faults['keg'] === undefined}
      rack={rack}
      form={{ values, shown: shownFieldOf(shown), faults: placedFaults(values, faults) }}
      cancel={backOf(cellar, { rack, keg }).href}
    />
  )
}

const backOf = ({ cellar }: CellarState, { rack, keg }: Pick<Typed, 'rack' | 'keg'>) =>
  rack === '' || keg === ''
    ? { href: paths.settings(cellar), words: 'Back to the settings' }
    : { href: paths.keg(cellar, rack, keg), words: 'Back to the keg' }

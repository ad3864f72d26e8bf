import { paths } from '../../../views/paths.ts'
import { SettingsPage } from '../../../views/settings.tsx'
import { durationText } from '../../../views/time-words.ts'
import type { Form, PolicyField } from '../../../views/types.ts'
import { parseDurationMs } from '../../domain/amounts.ts'
import type { CellarState } from '../../domain/cellar.ts'
import type { CellarPolicy } from '../../domain/events.ts'
import { done } from '../../domain/refusal.ts'
import type { Typed } from '../../domain/text.ts'
import { keyLimitDefault } from '../../limits.ts'
import { htmlPage, notFound, refusedPage, seeOther } from './answers.tsx'
import { cellarView } from './cellar-views.ts'
import type { FormFields } from './form-fields.ts'
import { type Faults, placedFaults } from './forms.ts'
import { limitValues, typedLimit } from './limit-fields.ts'
import { cellarOf } from './named.ts'
import { askerOf, type DashboardDeps, type Route, type SignedInVisit } from './visit.ts'

export const settingsRoutes = (deps: DashboardDeps): readonly Route[] => [
  {
    path: '/cellars/:cellar/settings',
    get: { access: 'operator', answer: (visit) => showSettings(deps, visit) },
  },
  { path: '/cellars/:cellar/title', post: { access: 'admin', answer: (visit) => rename(deps, visit) } },
  { path: '/cellars/:cellar/policy', post: { access: 'admin', answer: (visit) => changePolicy(deps, visit) } },
]

const showSettings = (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const cellar = cellarOf(deps, visit)
  return cellar === null ? notFound(visit) : htmlPage(visit, settingsPage(visit, cellar))
}

const rename = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const cellar = cellarOf(deps, visit)
  if (cellar === null) return notFound(visit)
  const renamed = await deps.core.cellars.rename(cellar.cellar, visit.form('title'), askerOf(visit))
  if (renamed.ok) return seeOther(visit, paths.settings(cellar.cellar), { notice: 'cellar_renamed' })
  const values = { title: visit.form('title') }
  const again = (faults: Faults) =>
    settingsPage(visit, cellar, { rename: { values, faults: placedFaults(values, faults) } })
  return refusedPage(visit, renamed.refusal, { back: backTo(cellar), again })
}

const changePolicy = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const cellar = cellarOf(deps, visit)
  if (cellar === null) return notFound(visit)
  const { form } = visit
  const values = {
    limit_readings: form('limit_readings'),
    limit_seconds: form('limit_seconds'),
    age_max: form('age_max'),
    ahead_max: form('ahead_max'),
  }
  const again = (faults: Faults) =>
    settingsPage(visit, cellar, { policy: { values, faults: placedFaults(values, faults) } })
  const bounds = typedBounds(form)
  if (!bounds.ok) return refusedPage(visit, bounds.refusal, { back: backTo(cellar), again })
  const policy = { ...bounds.value, retentionMs: cellar.policy.retentionMs }
  const changed = await deps.core.cellars.changePolicy(cellar.cellar, policy, askerOf(visit))
  if (changed.ok) return seeOther(visit, paths.settings(cellar.cellar), { notice: 'policy_changed' })
  return refusedPage(visit, changed.refusal, { back: backTo(cellar), again })
}

const typedBounds = (form: FormFields): Typed<Omit<CellarPolicy, 'retentionMs'>> => {
  const limit = typedLimit(form)
  if (!limit.ok) return limit
  const age = durationOrNone(form, 'age_max')
  if (!age.ok) return age
  const ahead = durationOrNone(form, 'ahead_max')
  if (!ahead.ok) return ahead
  return done({ limit: limit.value, readingAgeMsMax: age.value, readingAheadMsMax: ahead.value })
}

const durationOrNone = (form: FormFields, field: PolicyField): Typed<number | null> => {
  const typed = form(field).trim()
  return typed === '' ? done(null) : parseDurationMs(typed, field)
}

type Typing = { readonly rename?: Form<'title'>; readonly policy?: Form<PolicyField> }

/** Both forms of the page: the one that was sent as it was typed, the other as it is. */
const settingsPage = (visit: SignedInVisit, cellar: CellarState, typing: Typing = {}): JSX.Element => (
  <SettingsPage
    shell={visit.shell}
    cellar={cellarView(cellar)}
    rename={typing.rename ?? { values: { title: cellar.title }, faults: {} }}
    policy={typing.policy ?? { values: policyValues(cellar.policy), faults: {} }}
    defaultLimit={keyLimitDefault}
  />
)

const policyValues = ({ limit, readingAgeMsMax, readingAheadMsMax }: CellarPolicy) => ({
  ...limitValues(limit),
  age_max: typedDuration(readingAgeMsMax),
  ahead_max: typedDuration(readingAheadMsMax),
})

/** As the field takes it back: `30 d` is shown, `30d` is typed. */
const typedDuration = (ms: number | null): string =>
  ms === null ? '' : durationText(ms).replace(' min', 'm').replace(' ', '')

const backTo = ({ cellar }: CellarState) => ({ href: paths.settings(cellar), words: 'Back to the settings' })

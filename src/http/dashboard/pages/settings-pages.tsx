import { ConfirmRetentionPage } from '../../../../views/cellars/retention-form.tsx'
import { SettingsPage } from '../../../../views/cellars/settings-page.tsx'
import { paths } from '../../../../views/paths.ts'
import type { EditForm, Form, PolicyField, RetentionField } from '../../../../views/types.ts'
import { durationTyped, parseDurationMs, retentionWithin } from '../../../domain/amounts.ts'
import type { CellarState } from '../../../domain/cellar.ts'
import { purgeBefore } from '../../../domain/cellar.ts'
import type { CellarPolicy, RecordedEvent } from '../../../domain/events.ts'
import { done } from '../../../domain/refusal.ts'
import { cellarStream } from '../../../domain/stream-names.ts'
import { invalidField, type Typed } from '../../../domain/text.ts'
import { keyLimitDefault, retentionMsMin } from '../../../limits.ts'
import { isChanged, shownFieldOf, shownValues } from '../forms/changed-fields.ts'
import { changedMeanwhile, type Held, limitGroup, quoted } from '../forms/changed-meanwhile.ts'
import { limitValues, typedLimit } from '../forms/key-fields.ts'
import type { FormFields } from '../forms/read-form.ts'
import { type Faults, htmlPage, noFaults, notFound, placedFaults, refusedPage, seeOther } from '../page-answers.tsx'
import { cellarView } from '../show/cellar-views.ts'
import { askerOf, cellarInPath, type DashboardDeps, type SignedInVisit } from '../visit.ts'

export const showSettings = (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const cellar = cellarInPath(deps, visit)
  return cellar === null ? notFound(visit) : htmlPage(visit, settingsPage(visit, cellar))
}

export const rename = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const cellar = cellarInPath(deps, visit)
  if (cellar === null) return notFound(visit)
  const shown = shownValues(visit.form, titleValues(cellar))
  if (!isChanged(visit.form, shown, ['title'])) return nothingTyped(visit, cellar)
  const overtaken = await changedMeanwhile(deps, visit, {
    ...heldOf(cellar, shown),
    groups: [{ typed: ['title'], now: quoted(cellar.title) }],
  })
  if (overtaken !== null) return htmlPage(visit, titleAgain(visit, cellar, overtaken.shown)(overtaken.faults), 409)
  const renamed = await deps.core.cellars.rename(cellar.cellar, visit.form('title'), askerOf(visit))
  if (renamed.ok) return seeOther(visit, paths.settings(cellar.cellar), { notice: 'cellar_renamed' })
  return refusedPage(visit, renamed.refusal, { back: backTo(cellar), again: titleAgain(visit, cellar) })
}

const titleAgain =
  (visit: SignedInVisit, cellar: CellarState, shown = shownValues(visit.form, titleValues(cellar))) =>
  (faults: Faults) => {
    const values = { title: visit.form('title') }
    const rename = { values, shown: shownFieldOf(shown), faults: placedFaults(values, faults) }
    return settingsPage(visit, cellar, { rename })
  }

const heldOf = (cellar: CellarState, shown: Held['shown']) => ({
  shown,
  now: { ...titleValues(cellar), ...policyValues(cellar.policy), ...retentionValues(cellar.policy) },
  stream: cellarStream(cellar.cellar),
  valuesIn: (event: RecordedEvent): Held['now'] => {
    if (event.type === 'CellarRenamed') return event.data
    if (event.type !== 'CellarPolicyChanged') return {}
    return { ...policyValues(event.data.policy), ...retentionValues(event.data.policy) }
  },
})

const reopened =
  (again: (visit: SignedInVisit, cellar: CellarState) => (faults: Faults) => JSX.Element) =>
  (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
    const cellar = cellarInPath(deps, visit)
    return cellar === null ? notFound(visit) : htmlPage(visit, again(visit, cellar)(noFaults))
  }

export const changePolicy = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const cellar = cellarInPath(deps, visit)
  if (cellar === null) return notFound(visit)
  const again = policyAgain(visit, cellar)
  const shown = shownValues(visit.form, policyValues(cellar.policy))
  const bounds = typedBounds(visit.form, shown)
  if (!bounds.ok) return refusedPage(visit, bounds.refusal, { back: backTo(cellar), again })
  if (Object.keys(bounds.value).length === 0) return nothingTyped(visit, cellar)
  const { age_max, ahead_max } = policyValues(cellar.policy)
  const overtaken = await changedMeanwhile(deps, visit, {
    ...heldOf(cellar, shown),
    groups: [
      limitGroup(cellar.policy.limit),
      { typed: ['age_max'], now: quoted(age_max) },
      { typed: ['ahead_max'], now: quoted(ahead_max) },
    ],
  })
  if (overtaken !== null) return htmlPage(visit, policyAgain(visit, cellar, overtaken.shown)(overtaken.faults), 409)
  const changed = await deps.core.cellars.changePolicy(cellar.cellar, bounds.value, askerOf(visit))
  if (changed.ok) return seeOther(visit, paths.settings(cellar.cellar), { notice: 'policy_changed' })
  return refusedPage(visit, changed.refusal, { back: backTo(cellar), again })
}

const policyAgain =
  (visit: SignedInVisit, cellar: CellarState, shown = shownValues(visit.form, policyValues(cellar.policy))) =>
  (faults: Faults) => {
    const { form } = visit
    const values = {
      limit_readings: form('limit_readings'),
      limit_seconds: form('limit_seconds'),
      age_max: form('age_max'),
      ahead_max: form('ahead_max'),
    }
    const policy = { values, shown: shownFieldOf(shown), faults: placedFaults(values, faults) }
    return settingsPage(visit, cellar, { policy })
  }

export const [reopenTitle, reopenPolicy] = [reopened(titleAgain), reopened(policyAgain)]

export const showRetentionConfirmation = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const cellar = cellarInPath(deps, visit)
  if (cellar === null) return notFound(visit)
  const typed = visit.query.get('days') ?? visit.form('days')
  const retention = typedRetention(typed)
  if (retention.ok) return htmlPage(visit, confirmPage(visit, cellar, { typed, retentionMs: retention.value }))
  return refusedPage(visit, retention.refusal, { back: backTo(cellar), again: retentionAgain(visit, cellar, typed) })
}

export const changeRetention = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const cellar = cellarInPath(deps, visit)
  if (cellar === null) return notFound(visit)
  const typed = visit.form('days')
  const again = retentionAgain(visit, cellar, typed)
  const retention = typedRetention(typed)
  if (!retention.ok) return refusedPage(visit, retention.refusal, { back: backTo(cellar), again })
  const shown = shownValues(visit.form, retentionValues(cellar.policy))
  // Somebody else can have set another since, and a purge cannot be undone.
  if (!isChanged(visit.form, shown, ['days'])) return nothingTyped(visit, cellar)
  const overtaken = await changedMeanwhile(deps, visit, {
    ...heldOf(cellar, shown),
    groups: [{ typed: ['days'], now: keptWords(cellar.policy) }],
  })
  const asked = { typed, retentionMs: retention.value }
  if (overtaken !== null) return htmlPage(visit, confirmPage(visit, cellar, { ...asked, ...overtaken }), 409)
  const changed = await deps.core.cellars.changePolicy(cellar.cellar, { retentionMs: retention.value }, askerOf(visit))
  if (changed.ok) return seeOther(visit, paths.settings(cellar.cellar), { notice: 'retention_changed' })
  return refusedPage(visit, changed.refusal, { back: backTo(cellar), again })
}

const typedRetention = (typed: string): Typed<number | null> => {
  const days = typed.trim()
  if (days === '') return done(null)
  const retention = retentionWithin(/^\d{1,6}$/.test(days) ? Number(days) * retentionMsMin : Number.NaN)
  return retention.ok ? retention : invalidField('days', retention.refusal.rule)
}

const retentionAgain = (visit: SignedInVisit, cellar: CellarState, days: string) => (faults: Faults) =>
  settingsPage(visit, cellar, { retention: { values: { days }, faults: placedFaults({ days }, faults) } })

type Confirmed = {
  readonly typed: string
  readonly retentionMs: number | null
  readonly faults?: Faults
  readonly shown?: Held['shown']
}

const confirmPage = (
  visit: SignedInVisit,
  cellar: CellarState,
  { typed, retentionMs, faults = noFaults, shown = shownValues(visit.form, retentionValues(cellar.policy)) }: Confirmed,
): JSX.Element => (
  <ConfirmRetentionPage
    shell={visit.shell}
    cellar={cellarView(cellar)}
    retentionMs={retentionMs}
    purgeBefore={retentionMs === null ? null : purgeBefore(visit.nowMs, retentionMs)}
    form={{ values: { days: typed.trim() }, shown: shownFieldOf(shown), faults }}
  />
)

const nothingTyped = (visit: SignedInVisit, cellar: CellarState): Response =>
  seeOther(visit, paths.settings(cellar.cellar), { notice: 'nothing_typed' })

const typedBounds = (form: FormFields, shown: Readonly<Record<string, string>>): Typed<Partial<CellarPolicy>> => {
  const isTyped = (...fields: readonly PolicyField[]) => isChanged(form, shown, fields)
  const limit = isTyped('limit_readings', 'limit_seconds') ? typedLimit(form) : null
  if (limit?.ok === false) return limit
  const age = isTyped('age_max') ? durationOrNone(form, 'age_max') : null
  if (age?.ok === false) return age
  const ahead = isTyped('ahead_max') ? durationOrNone(form, 'ahead_max') : null
  if (ahead?.ok === false) return ahead
  return done({
    ...(limit === null ? {} : { limit: limit.value }),
    ...(age === null ? {} : { readingAgeMsMax: age.value }),
    ...(ahead === null ? {} : { readingAheadMsMax: ahead.value }),
  })
}

const durationOrNone = (form: FormFields, field: PolicyField): Typed<number | null> => {
  const typed = form(field).trim()
  return typed === '' ? done(null) : parseDurationMs(typed, field)
}

type SentForm = {
  readonly rename?: EditForm<'title'>
  readonly policy?: EditForm<PolicyField>
  readonly retention?: Form<RetentionField>
}

const settingsPage = (visit: SignedInVisit, cellar: CellarState, sent: SentForm = {}): JSX.Element => (
  <SettingsPage
    shell={visit.shell}
    cellar={cellarView(cellar)}
    rename={sent.rename ?? savedForm(titleValues(cellar))}
    policy={sent.policy ?? savedForm(policyValues(cellar.policy))}
    retention={sent.retention ?? { values: { days: daysOf(cellar.policy.retentionMs) }, faults: {} }}
    defaultLimit={keyLimitDefault}
  />
)

const savedForm = <Values extends Readonly<Record<string, string>>>(values: Values) => ({
  values,
  shown: shownFieldOf(values),
  faults: {},
})

const titleValues = ({ title }: CellarState) => ({ title })

const policyValues = ({ limit, readingAgeMsMax, readingAheadMsMax }: CellarPolicy) => ({
  ...limitValues(limit),
  age_max: readingAgeMsMax === null ? '' : durationTyped(readingAgeMsMax),
  ahead_max: readingAheadMsMax === null ? '' : durationTyped(readingAheadMsMax),
})

const retentionValues = ({ retentionMs }: CellarPolicy) => ({ days: daysOf(retentionMs) })

const keptWords = ({ retentionMs }: CellarPolicy): string =>
  retentionMs === null ? '“for ever”' : `“${daysOf(retentionMs)}” days`

const daysOf = (retentionMs: number | null): string =>
  retentionMs === null ? '' : String(retentionMs / retentionMsMin)

const backTo = ({ cellar }: CellarState) => ({ href: paths.settings(cellar), words: 'Back to the settings' })

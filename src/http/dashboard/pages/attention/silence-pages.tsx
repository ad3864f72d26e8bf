import { SilencePage } from '../../../../../views/cellars/silence-rule.tsx'
import { paths } from '../../../../../views/paths.ts'
import { durationTyped, parseDurationMs } from '../../../../domain/amounts.ts'
import { afterMsMax, type RuleAround, rulesAround } from '../../../../domain/attention/silence-rules.ts'
import type { CellarState } from '../../../../domain/cellar.ts'
import { done } from '../../../../domain/refusal.ts'
import { cellarStream } from '../../../../domain/stream-names.ts'
import { invalidField, type Typed } from '../../../../domain/text.ts'
import { isChanged, shownFieldOf, shownValues } from '../../forms/changed-fields.ts'
import { changedMeanwhile, quoted } from '../../forms/changed-meanwhile.ts'
import type { FormFields } from '../../forms/read-form.ts'
import { type Faults, htmlPage, noFaults, notFound, placedFaults, refusedPage, seeOther } from '../../page-answers.tsx'
import { cellarView } from '../../show/cellar-views.ts'
import { askerOf, cellarInPath, type DashboardDeps, type SignedInVisit } from '../../visit.ts'

type After = RuleAround['after']
type Values = Readonly<Record<'silence' | 'after', string>>
/** `around`: of the page that led here. `rule` is one of these. */
type Asked = { readonly around: readonly [RuleAround, ...RuleAround[]]; readonly rule: RuleAround }

export const showSilence = (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const cellar = cellarInPath(deps, visit)
  if (cellar === null) return notFound(visit)
  const isSent = visit.form('_shown') !== ''
  const asked = askedIn(cellar, isSent ? visit.form : (name) => visit.query.get(name) ?? '')
  const now = valuesOf(asked.rule.after)
  const typed = isSent ? typedIn(visit.form) : now
  return htmlPage(visit, silencePage(visit, cellar, { ...asked, typed, shown: shownValues(visit.form, now) }))
}

export const setSilence = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const cellar = cellarInPath(deps, visit)
  if (cellar === null) return notFound(visit)
  const { form } = visit
  const [asked, typed] = [askedIn(cellar, form), typedIn(form)]
  const now = valuesOf(asked.rule.after)
  const { rack, keg } = asked.rule
  const shown = shownValues(form, now)
  const back = backOf(cellar, asked)
  const again = (faults: Faults) => silencePage(visit, cellar, { ...asked, typed, shown, faults })
  if (!isChanged(form, shown, ['silence', 'after'])) return seeOther(visit, back.href, { notice: 'nothing_typed' })
  const after = typedAfter(typed)
  if (!after.ok) return refusedPage(visit, after.refusal, { back, again })
  const overtaken = await changedMeanwhile(deps, visit, {
    shown,
    now,
    groups: [{ typed: ['silence', 'after'], now: quoted(now.silence === 'after' ? now.after : now.silence) }],
    stream: cellarStream(cellar.cellar),
    valuesIn: ({ type, data }) =>
      type === 'SilenceRuleSet' && data.rack === rack && data.keg === keg ? valuesOf(data.after) : {},
  })
  if (overtaken !== null) return htmlPage(visit, silencePage(visit, cellar, { ...asked, typed, ...overtaken }), 409)
  const set = await deps.core.attention.setRule(cellar.cellar, { rack, keg, after: after.value }, askerOf(visit))
  if (set.ok) return seeOther(visit, back.href, { notice: 'silence_set' })
  return refusedPage(visit, set.refusal, { back, again })
}

const askedIn = ({ silence }: CellarState, field: FormFields): Asked => {
  const around = rulesAround(silence, { rack: field('rack') || null, keg: field('keg') || null })
  return { around, rule: around.find(({ of }) => of === field('of')) ?? around[0] }
}

const typedIn = (form: FormFields): Values => ({ silence: form('silence'), after: form('after').trim() })

const valuesOf = (after: After): Values => {
  if (after === null) return { silence: 'usual', after: '' }
  return after === 'never' ? { silence: 'never', after: '' } : { silence: 'after', after: durationTyped(after) }
}

const typedAfter = ({ silence, after }: Values): Typed<After> => {
  if (silence === 'after') return parseDurationMs(after, 'after', afterMsMax)
  if (silence === 'never') return done('never')
  return silence === 'usual' ? done(null) : invalidField('silence', 'Choose one of these.')
}

type Shown = Asked & {
  readonly typed: Values
  readonly shown: Readonly<Record<string, string>>
  readonly faults?: Faults
}

const silencePage = (
  visit: SignedInVisit,
  cellar: CellarState,
  { around, rule, typed, shown, faults = noFaults }: Shown,
): JSX.Element => (
  <SilencePage
    shell={visit.shell}
    cellar={cellarView(cellar)}
    around={around}
    rule={rule}
    form={{ values: typed, shown: shownFieldOf(shown), faults: placedFaults(typed, faults) }}
    cancel={backOf(cellar, { around }).href}
  />
)

const backOf = ({ cellar }: CellarState, { around }: Pick<Asked, 'around'>) => {
  const { rack, keg } = around[0]
  if (rack === null) return { href: paths.settings(cellar), words: 'Back to the settings' }
  return keg === null
    ? { href: paths.rack(cellar, rack), words: 'Back to the rack' }
    : { href: paths.keg(cellar, rack, keg), words: 'Back to the keg' }
}

import type { RuleAround, SilenceRule, SilenceScope } from '../../src/domain/attention/silence-rules.ts'
import { capitalised } from '../attention/attention-sentences.ts'
import { Layout } from '../frame/layout.tsx'
import { HiddenFields } from '../parts/ask-form.tsx'
import { Choices, FieldFault, inputOf, PostForm } from '../parts/field.tsx'
import { attribute, Name } from '../parts/name.tsx'
import { NavLinks } from '../parts/nav-links.tsx'
import { Table } from '../parts/table.tsx'
import { durationWords } from '../parts/time-words.ts'
import { paths } from '../paths.ts'
import type { CellarView, EditForm, Shell } from '../types.ts'
import { Breadcrumbs } from './cellar-frame.tsx'

const whose: Readonly<Record<RuleAround['of'], string>> = {
  keg: 'this keg',
  name: 'all kegs of this name',
  rack: 'this rack',
  cellar: 'the whole cellar',
}

/** `about`: of the page that leads to the form. */
const silenceFields = (about: SilenceScope, of: RuleAround['of'] | null) =>
  [
    ['rack', about.rack ?? ''],
    ['keg', about.keg ?? ''],
    ['of', of ?? ''],
  ] as const

/** The first rule of these holds. */
const ruleWords = (around: readonly RuleAround[]): string => {
  const rule = around.find(({ after }) => after !== null)
  if (rule === undefined || rule.after === null)
    return 'it counts as silent after ten times its usual pause, from 1 minute to 1 day.'
  const { of, after } = rule
  const words = after === 'never' ? 'it may be silent' : `it counts as silent ${afterWords({ after })}`
  return `${words}, as set for ${whose[of]}.`
}

const afterWords = ({ after }: Pick<SilenceRule, 'after'>): string =>
  after === 'never' ? 'never' : `after ${durationWords(after)} without a reading`

/** On the page of a keg or rack. */
export const SilenceOf = (props: {
  readonly cellar: string
  readonly around: readonly [RuleAround, ...RuleAround[]]
  readonly isAdmin: boolean
}): JSX.Element => {
  const { cellar, around } = props
  return (
    <section class="card" aria-labelledby="silence-title">
      <h2 id="silence-title">How long may it be silent?</h2>
      <p>
        <span safe>{capitalised(ruleWords(around))}</span>{' '}
        {props.isAdmin ? (
          <a href={attribute(paths.silence(cellar, silenceFields(around[0], null)))}>
            Change<span class="visually-hidden"> how long it may be silent</span>
          </a>
        ) : null}
      </p>
    </section>
  )
}

/** Among the settings of a cellar. */
export const SilenceCard = (props: { readonly cellar: CellarView; readonly isAdmin: boolean }): JSX.Element => {
  const { cellar, silence } = props.cellar
  const change = (scope: SilenceScope) => attribute(paths.silence(cellar, silenceFields(scope, null)))
  return (
    <section class="card" aria-labelledby="silence-title">
      <h2 id="silence-title">Silence</h2>
      {silence.length === 0 ? (
        <p class="quiet">A keg counts as silent after ten times its usual pause, from 1 minute to 1 day.</p>
      ) : (
        <Table
          rows={silence}
          columns={[
            { head: 'Kegs', cell: (rule) => <Kegs {...rule} /> },
            { head: 'Silent', cell: (rule) => <span safe>{afterWords(rule)}</span> },
            props.isAdmin
              ? {
                  head: 'Actions',
                  isHeadHidden: true,
                  cell: (rule) => (
                    <a class="action" href={change(rule)}>
                      Change
                    </a>
                  ),
                }
              : null,
          ]}
        />
      )}
      {props.isAdmin ? (
        <a class="action" href={change({ rack: null, keg: null })}>
          Set for the whole cellar
        </a>
      ) : null}
    </section>
  )
}

const Kegs = ({ rack, keg }: SilenceScope): JSX.Element =>
  rack === null && keg === null ? (
    <span>The whole cellar</span>
  ) : keg === null ? (
    <span>
      Rack <Name text={rack ?? ''} />
    </span>
  ) : rack === null ? (
    <span>
      All kegs named <Name text={keg} />
    </span>
  ) : (
    <Name text={`${rack} / ${keg}`} />
  )

type FormProps = {
  readonly shell: Shell
  readonly cellar: CellarView
  /** Of the page that led here. */
  readonly around: readonly [RuleAround, ...RuleAround[]]
  /** One of these. */
  readonly rule: RuleAround
  readonly form: EditForm<'silence' | 'after'>
  readonly cancel: string
}

export const SilencePage = (props: FormProps): JSX.Element => {
  const { cellar, around, rule } = props
  return (
    <Layout shell={props.shell} title={`Silence · ${cellar.title}`} section="cellars" narrow>
      <Breadcrumbs cellar={cellar} tab="settings" />
      <h1>When does it count as silent?</h1>
      {around.length === 1 ? null : (
        <NavLinks
          class="filters"
          label="For which kegs"
          links={around.map(({ of }) => ({
            words: capitalised(whose[of]),
            href: paths.silence(cellar.cellar, silenceFields(around[0], of)),
            isCurrent: of === rule.of,
          }))}
        />
      )}
      <SilenceForm {...props} />
    </Layout>
  )
}

const SilenceForm = ({ shell, cellar, around, rule, form, cancel }: FormProps): JSX.Element => (
  <PostForm
    action={paths.silence(cellar.cellar)}
    csrf={shell.csrf}
    form={form}
    above={
      <h2>
        <Kegs {...rule} />
      </h2>
    }
    button="Save"
    cancel={attribute(cancel)}
  >
    <HiddenFields fields={silenceFields(around[0], rule.of)} />
    <Choices
      name="silence"
      legend="It counts as silent"
      hint={`Without a rule of its own, ${ruleWords(around.slice(around.indexOf(rule) + 1))}`}
      choices={[
        ['usual', 'As usual'],
        ['after', 'After this time'],
        ['never', 'Never'],
      ]}
      chosen={form.values.silence}
      fault={form.faults.silence}
      isRefused={form.faults.after !== undefined}
    >
      <div class="choice-detail">
        <label for="field-after">Time without a reading, like 10m, 2h or 3d</label>
        <input
          {...inputOf({ name: 'after', fault: form.faults.after })}
          type="text"
          value={attribute(form.values.after)}
          autocomplete="off"
          autocapitalize="off"
          spellcheck="false"
          data-chooses="#silence-after"
        />
        <FieldFault name="after" fault={form.faults.after} />
      </div>
    </Choices>
    <p class="hint">The rule of a keg comes before that of its name, its rack and its cellar.</p>
  </PostForm>
)

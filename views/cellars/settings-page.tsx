import type { Limit } from '../../src/domain/events.ts'
import { LimitFields } from '../keys/key-form.tsx'
import { ByWhom } from '../parts/by.tsx'
import { Fact } from '../parts/fact.tsx'
import { PostForm, TextField } from '../parts/field.tsx'
import { Name } from '../parts/name.tsx'
import { limitText } from '../parts/quantity.ts'
import { Instant } from '../parts/time.tsx'
import { TimeForm } from '../parts/time-form.tsx'
import { durationWords } from '../parts/time-words.ts'
import { paths } from '../paths.ts'
import type { CellarView, EditForm, Form, PolicyField, RetentionField, Shell } from '../types.ts'
import { CellarFrame } from './cellar-frame.tsx'
import { keptText, RetentionForm } from './retention-form.tsx'
import { SilenceCard } from './silence-rule.tsx'
import { UnitsCard } from './units.tsx'

export const SettingsPage = (props: {
  readonly shell: Shell
  readonly cellar: CellarView
  readonly rename: EditForm<'title'>
  readonly policy: EditForm<PolicyField>
  readonly retention: Form<RetentionField>
  /** Without a limit of the key or its cellar. */
  readonly defaultLimit: Limit
}): JSX.Element => {
  const sent = { csrf: props.shell.csrf, cellar: props.cellar.cellar }
  return (
    <CellarFrame shell={props.shell} cellar={props.cellar} tab="settings" title="Settings">
      <div class="columns">
        <div>
          <CellarFacts cellar={props.cellar} defaultLimit={props.defaultLimit} title="Current settings" />
          <UnitsCard
            title="Units"
            cellar={props.cellar}
            csrf={props.shell.operator?.role === 'admin' ? props.shell.csrf : null}
          />
          <SilenceCard cellar={props.cellar} isAdmin={props.shell.operator?.role === 'admin'} />
          <section class="card" aria-labelledby="cellar-at-title">
            <h2 id="cellar-at-title">Settings and keys at a certain time</h2>
            <TimeForm
              action={paths.cellarThen(props.cellar.cellar)}
              at={null}
              refused={null}
              nowMs={props.shell.nowMs}
            />
          </section>
        </div>
        {props.shell.operator?.role === 'admin' ? (
          <div>
            <RenameForm {...sent} form={props.rename} />
            <PolicyForm {...sent} form={props.policy} defaultLimit={props.defaultLimit} />
            <RetentionForm cellar={props.cellar} form={props.retention} />
          </div>
        ) : null}
      </div>
    </CellarFrame>
  )
}

export const CellarFacts = (props: {
  readonly cellar: CellarView
  readonly defaultLimit: Limit
  readonly title: string
}): JSX.Element => {
  const { cellar } = props
  const { limit, readingAgeMsMax, readingAheadMsMax, retentionMs } = cellar.policy
  return (
    <section class="card" aria-labelledby="facts-title">
      <h2 id="facts-title" safe>
        {props.title}
      </h2>
      <dl class="facts">
        <Fact term="Identifier (never changes)" isWide>
          <code>
            <Name text={cellar.cellar} />
          </code>
        </Fact>
        <Fact term="Default limit per key">
          <span safe>{limitText(limit ?? props.defaultLimit)}</span>
        </Fact>
        <Fact term="Maximum age of a reading">
          <span safe>{ageText(readingAgeMsMax, retentionMs)}</span>
        </Fact>
        <Fact term="Maximum time in the future">
          <span safe>
            {readingAheadMsMax === null
              ? 'No maximum. More than 10 minutes ahead: marked “clock ahead”'
              : durationWords(readingAheadMsMax)}
          </span>
        </Fact>
        <Fact term="Readings are kept">
          <span safe>{keptText(retentionMs)}</span>
          {retentionMs === null ? null : <span class="under">then deleted permanently</span>}
        </Fact>
        <Fact term="Created">
          <Instant at={cellar.createdAt} />
          <span class="under">
            by <ByWhom by={cellar.createdBy} />
          </span>
        </Fact>
      </dl>
    </section>
  )
}

/** The service refuses readings that are older than either, so the page shows the smaller. */
const ageText = (ageMsMax: number | null, retentionMs: number | null): string => {
  const bounds = [ageMsMax, retentionMs].filter((bound) => bound !== null)
  return bounds.length === 0 ? 'No maximum' : durationWords(Math.min(...bounds))
}

type CellarForm<Field extends string> = {
  readonly csrf: string
  readonly cellar: string
  readonly form: EditForm<Field>
}

const RenameForm = (props: CellarForm<'title'>): JSX.Element => (
  <PostForm
    action={paths.rename(props.cellar)}
    csrf={props.csrf}
    form={props.form}
    above={<h2>Title</h2>}
    button="Save title"
  >
    <TextField
      form={props.form}
      name="title"
      label="Title"
      hint="The dashboard shows this name. Devices do not use it."
      required
    />
  </PostForm>
)

const PolicyForm = (props: CellarForm<PolicyField> & { readonly defaultLimit: Limit }): JSX.Element => (
  <PostForm
    action={paths.policy(props.cellar)}
    csrf={props.csrf}
    form={props.form}
    above={<h2>Rules for readings</h2>}
    button="Save rules"
  >
    <LimitFields form={props.form} legend="Default limit per key" defaultLimit={props.defaultLimit} />
    <TextField
      form={props.form}
      name="age_max"
      label="Maximum age of a reading"
      hint="For example 30d, 12h or 90m. Older readings are refused with TIMESTAMP_TOO_OLD. Default: no maximum. Readings older than the retention are always refused."
      placeholder="30d"
    />
    <TextField
      form={props.form}
      name="ahead_max"
      label="Maximum time in the future"
      hint="For example 10m. Readings further in the future are refused with TIMESTAMP_IN_FUTURE. Default: no maximum. Readings more than 10 minutes ahead are then marked “clock ahead”, and never become the latest value."
      placeholder="10m"
    />
  </PostForm>
)

import type { Limit } from '../../src/domain/events.ts'
import { Breadcrumbs } from '../cellars/cellar-frame.tsx'
import { Layout } from '../frame/layout.tsx'
import { Choices, FieldFault, inputOf, NoteField, PostForm, TextField } from '../parts/field.tsx'
import { Name } from '../parts/name.tsx'
import { limitText } from '../parts/quantity.ts'
import { secondText } from '../parts/time-words.ts'
import { paths } from '../paths.ts'
import type { CellarView, EditForm, EditKeyField, ExpiryChoice, Form, KeyView, NewKeyField, Shell } from '../types.ts'

export const NewKeyPage = (props: {
  readonly shell: Shell
  readonly cellar: CellarView
  readonly form: Form<NewKeyField>
  /** Chosen before the form is sent, so a form that is sent twice creates only one key. */
  readonly keyId: string
  /** If the form sets none. */
  readonly cellarLimit: Limit
}): JSX.Element => (
  <Layout shell={props.shell} title={`Create New Key · ${props.cellar.title}`} section="cellars" narrow>
    <Breadcrumbs cellar={props.cellar} />
    <h1>Create New Key</h1>
    <PostForm
      action={paths.newKey(props.cellar.cellar)}
      csrf={props.shell.csrf}
      form={props.form}
      button="Create key"
      cancel={paths.keys(props.cellar.cellar)}
    >
      <input type="hidden" name="_key_id" value={props.keyId} />
      <KeyText form={props.form} isNew />
      <ExpiryField form={props.form} choices={newChoices} expiresAt={null} />
      <LimitFields form={props.form} legend="Limit" defaultLimit={props.cellarLimit} />
    </PostForm>
  </Layout>
)

export const EditKeyPage = (props: {
  readonly shell: Shell
  readonly cellar: CellarView
  readonly apiKey: KeyView
  readonly form: EditForm<EditKeyField>
  readonly cellarLimit: Limit
}): JSX.Element => {
  const { apiKey } = props
  return (
    <Layout shell={props.shell} title={`Edit ${apiKey.label}`} section="cellars" narrow>
      <Breadcrumbs cellar={props.cellar} apiKey={apiKey} />
      <h1>
        Edit <Name text={apiKey.label} />
      </h1>
      <p class="identifier">
        <code safe>{`clr_${apiKey.keyId}_…`}</code>
      </p>
      <PostForm
        action={paths.editKey(apiKey.keyId)}
        csrf={props.shell.csrf}
        form={props.form}
        button="Save changes"
        cancel={paths.key(apiKey.keyId)}
      >
        <KeyText form={props.form} isNew={false} />
        <ExpiryField form={props.form} choices={editChoices} expiresAt={apiKey.expiresAt} />
        <LimitFields form={props.form} legend="Limit" defaultLimit={props.cellarLimit} />
        <p class="hint">An earlier expiry or a lower limit takes effect on every node as soon as it is saved.</p>
      </PostForm>
    </Layout>
  )
}

const KeyText = (props: { readonly form: Form<NewKeyField>; readonly isNew: boolean }): JSX.Element => (
  <>
    <TextField
      form={props.form}
      name="label"
      label="Label"
      hint={`Name the application that uses this key.${props.isNew ? ' Default: “Key” and a number.' : ''}`}
      placeholder="Fermentation controller"
      required={!props.isNew}
      autofocus
    />
    <NoteField form={props.form} name="note" label="Note" rows={2} />
  </>
)

export const newChoices: readonly ExpiryChoice[] = ['1y', '90d', '30d', '7d', 'never', 'date']
const editChoices: readonly ExpiryChoice[] = ['keep', ...newChoices]

const choiceWords: Readonly<Record<ExpiryChoice, string>> = {
  keep: 'No change',
  never: 'Never',
  '7d': 'In 7 days',
  '30d': 'In 30 days',
  '90d': 'In 90 days',
  '1y': 'In 1 year',
  date: 'On a date',
}

export const ExpiryField = (props: {
  readonly form: Form<'expires' | 'expires_on'>
  readonly choices: readonly ExpiryChoice[]
  readonly expiresAt: number | null
}): JSX.Element => {
  const { values, faults } = props.form
  return (
    <Choices
      name="expires"
      legend="Expires"
      hint={props.expiresAt === null ? undefined : `Currently: ${secondText(props.expiresAt)}`}
      choices={props.choices.map((choice) => [choice, choiceWords[choice]])}
      chosen={values.expires}
      fault={faults.expires}
      isRefused={faults.expires_on !== undefined}
    >
      <div class="choice-detail">
        <label for="field-expires_on">Last valid day (until 24:00 UTC)</label>
        <input
          {...inputOf({ name: 'expires_on', fault: faults.expires_on })}
          type="date"
          value={dateOnly(values.expires_on)}
          data-chooses="#expires-date"
        />
        <FieldFault name="expires_on" fault={faults.expires_on} />
      </div>
    </Choices>
  )
}

const dateOnly = (typed: string): string => (/^\d{4}-\d\d-\d\d$/.test(typed) ? typed : '')

export const LimitFields = (props: {
  readonly form: Form<'limit_readings' | 'limit_seconds'>
  readonly legend: string
  /** `null`: that of each key's cellar. */
  readonly defaultLimit: Limit | null
}): JSX.Element => (
  <fieldset class="field">
    <legend>
      <span safe>{props.legend}</span> <span class="optional">optional</span>
    </legend>
    <p class="hint" safe>
      {`Maximum readings per period. Default: ${props.defaultLimit === null ? 'the limit of its cellar' : limitText(props.defaultLimit)}.`}
    </p>
    <div class="pair">
      <TextField form={props.form} name="limit_readings" label="Readings" numeric isQuiet />
      <TextField form={props.form} name="limit_seconds" label="Period in seconds" numeric isQuiet />
    </div>
  </fieldset>
)

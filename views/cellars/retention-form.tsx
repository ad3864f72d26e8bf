import { Layout } from '../frame/layout.tsx'
import { ConfirmCard } from '../parts/confirm-card.tsx'
import { FormFault, Shown, TextField } from '../parts/field.tsx'
import { attribute, Name } from '../parts/name.tsx'
import { countOf } from '../parts/quantity.ts'
import { Instant } from '../parts/time.tsx'
import { dayMs } from '../parts/time-words.ts'
import { paths } from '../paths.ts'
import type { CellarView, EditForm, Form, RetentionField, Shell } from '../types.ts'
import { Breadcrumbs } from './cellar-frame.tsx'

/** By GET, because sending it changes nothing: the next page asks for confirmation. */
export const RetentionForm = (props: {
  readonly cellar: CellarView
  readonly form: Form<RetentionField>
}): JSX.Element => (
  <form method="get" action={paths.retention(props.cellar.cellar)} class="card">
    <h2>Retention</h2>
    <p>
      Readings are kept <b safe>{keptText(props.cellar.policy.retentionMs)}</b>.
    </p>
    <FormFault fault={props.form.faults.form} />
    <TextField
      form={props.form}
      name="days"
      label="Days to keep readings"
      hint="Older readings are deleted permanently, day by day. Leave blank to keep readings for ever."
      placeholder="365"
      numeric
    />
    <div class="form-end">
      <button type="submit" class="secondary">
        Review change
      </button>
    </div>
  </form>
)

export const ConfirmRetentionPage = (props: {
  readonly shell: Shell
  readonly cellar: CellarView
  /** `null`: readings are never deleted. */
  readonly retentionMs: number | null
  /** `null`: no readings will be deleted. */
  readonly purgeBefore: number | null
  readonly form: EditForm<RetentionField>
}): JSX.Element => {
  const { cellar, retentionMs, purgeBefore } = props
  return (
    <Layout shell={props.shell} title={`Retention · ${cellar.title}`} section="cellars" narrow>
      <Breadcrumbs cellar={cellar} tab="settings" />
      <ConfirmCard
        title={<span safe>{`Keep readings ${keptText(retentionMs)}?`}</span>}
        csrf={props.shell.csrf}
        action={paths.retention(cellar.cellar)}
        fault={props.form.faults.form ?? props.form.faults.days}
        fields={
          <>
            <Shown text={props.form.shown} />
            <input type="hidden" name="days" value={attribute(props.form.values.days)} />
          </>
        }
        button={retentionMs === null ? 'Keep for ever' : `Delete after ${daysText(retentionMs)}`}
        isDangerous={retentionMs !== null}
        cancel={paths.settings(cellar.cellar)}
      >
        <p class="identifier">
          <Name text={cellar.title} />{' '}
          <code>
            <Name text={cellar.cellar} />
          </code>
        </p>
        <p>
          Currently, readings are kept <b safe>{keptText(cellar.policy.retentionMs)}</b>.
        </p>
        {retentionMs === null || purgeBefore === null ? (
          <p>No more readings will be deleted. Deleted readings do not come back.</p>
        ) : (
          <WhatGoes retentionMs={retentionMs} purgeBefore={purgeBefore} />
        )}
      </ConfirmCard>
    </Layout>
  )
}

const WhatGoes = (props: { readonly retentionMs: number; readonly purgeBefore: number }): JSX.Element => (
  <>
    <p class="last-use in-use">
      <strong>Older readings are deleted permanently.</strong> Readings accepted before{' '}
      <Instant at={props.purgeBefore} /> are deleted at once. After that, one more day of readings is deleted every day.
      This cannot be undone.
    </p>
    <ul>
      <li
        safe
      >{`New readings are refused with TIMESTAMP_TOO_OLD if their timestamp is more than ${daysText(props.retentionMs)} old.`}</li>
      <li>The last reading of each key is kept, because it shows when the key was last used.</li>
      <li>
        The event log records how many readings of which key were deleted, and when the newest of them was accepted.
      </li>
    </ul>
  </>
)

export const keptText = (retentionMs: number | null): string =>
  retentionMs === null ? 'for ever' : `for ${daysText(retentionMs)}`

const daysText = (retentionMs: number): string => countOf(retentionMs / dayMs, 'day', 'days')

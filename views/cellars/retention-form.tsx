import { Layout } from '../frame/layout.tsx'
import { attribute } from '../parts/attribute.ts'
import { ConfirmCard } from '../parts/confirm-card.tsx'
import { FormFault, TextField } from '../parts/field.tsx'
import { Name } from '../parts/name.tsx'
import { countOf } from '../parts/quantity.ts'
import { Instant } from '../parts/time.tsx'
import { paths } from '../paths.ts'
import type { CellarView, Form, RetentionField, Shell } from '../types.ts'
import { Breadcrumbs } from './cellar-frame.tsx'

/** How long readings are kept, asked for by a plain GET: the next page says what it means before anything is done. */
export const RetentionForm = (props: {
  readonly cellar: CellarView
  readonly form: Form<RetentionField>
}): JSX.Element => (
  <form method="get" action={paths.retention(props.cellar.cellar)} class="card">
    <h2>Retention</h2>
    <p>
      Now: readings are kept <b safe>{keptText(props.cellar.policy.retentionMs)}</b>.
    </p>
    <FormFault fault={props.form.faults.form} />
    <TextField
      form={props.form}
      name="days"
      label="Days to keep readings"
      hint="Older ones go for good, a day at a time. Blank: kept for ever."
      placeholder="365"
      numeric
    />
    <div class="form-end">
      <button type="submit" class="secondary">
        Review the change
      </button>
    </div>
  </form>
)

/** Asks before it acts: what goes can't be had back. */
export const ConfirmRetentionPage = (props: {
  readonly shell: Shell
  readonly cellar: CellarView
  /** As it shall be. */
  readonly retentionMs: number | null
  /** Whatever was accepted before then goes with the next sweep; `null` if nothing does. */
  readonly purgeBefore: number | null
  readonly form: Form<RetentionField>
}): JSX.Element => {
  const { cellar, retentionMs, purgeBefore } = props
  return (
    <Layout shell={props.shell} title={`Retention · ${cellar.title}`} section="cellars" narrow>
      <Breadcrumbs cellar={cellar} />
      <ConfirmCard
        title={<span safe>{`Keep readings ${keptText(retentionMs)}?`}</span>}
        csrf={props.shell.csrf}
        action={paths.retention(cellar.cellar)}
        fault={props.form.faults.form ?? props.form.faults.days}
        fields={<input type="hidden" name="days" value={attribute(props.form.values.days)} />}
        button={retentionMs === null ? 'Keep for ever' : `Keep ${daysText(retentionMs)}, let older ones go`}
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
          Now they are kept <b safe>{keptText(cellar.policy.retentionMs)}</b>.
        </p>
        {retentionMs === null || purgeBefore === null ? (
          <p>From then on nothing more goes. What has gone already does not come back.</p>
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
      <strong>Older readings go for good:</strong> at once those accepted before <Instant at={props.purgeBefore} />, of
      every key of this cellar, and then each day those of one day more. This can’t be undone.
    </p>
    <ul>
      <li
        safe
      >{`A reading whose timestamp is over ${daysText(props.retentionMs)} old is refused as TIMESTAMP_TOO_OLD.`}</li>
      <li>The last reading of each key stays, since it says when the key was used.</li>
      <li>The log keeps a record of what went: how many readings, of which key, from when.</li>
    </ul>
  </>
)

/** `for ever`, `for 365 days`. */
export const keptText = (retentionMs: number | null): string =>
  retentionMs === null ? 'for ever' : `for ${daysText(retentionMs)}`

const daysText = (retentionMs: number): string => countOf(retentionMs / dayMs, 'day', 'days')

const dayMs = 86_400_000

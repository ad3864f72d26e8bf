import type { ExportedListName, ExportFormat } from '../../src/domain/events.ts'
import { Layout } from '../frame/layout.tsx'
import { Choices, Csrf, FormFault, TextField } from '../parts/field.tsx'
import { attribute } from '../parts/name.tsx'
import { paths } from '../paths.ts'
import type { ExportField, Form, Shell } from '../types.ts'

type ExportFormProps = {
  readonly shell: Shell
  /** The first is chosen already. */
  readonly lists: readonly ExportedListName[]
  /** Sent, but not shown. */
  readonly filter: Readonly<Partial<Record<ExportField, string>>>
  /** For the operator to fill in. */
  readonly fields: readonly ExportField[]
  /** Chosen already. Default: JSON lines. */
  readonly format?: ExportFormat
  /** Default: an empty form. */
  readonly form?: Form<ExportField>
}

/** `app.js` lets a form be sent once. A form with `data-download` is an exception: its page stays open, and people may export again. */
export const ExportForm = (props: ExportFormProps): JSX.Element => (
  <details class="card export">
    <summary>Export</summary>
    <ExportFields {...props} />
  </details>
)

/** After a refusal. */
export const ExportPage = (props: ExportFormProps): JSX.Element => (
  <Layout shell={props.shell} title="Export" narrow>
    <h1>Export</h1>
    <div class="card">
      <ExportFields {...props} />
    </div>
  </Layout>
)

const ExportFields = ({ shell, lists, filter, fields, ...props }: ExportFormProps): JSX.Element => {
  const { form = emptyForm, format = 'ndjson' } = props
  return (
    <form method="post" action={paths.exports} data-download="">
      <Csrf token={shell.csrf} />
      <FormFault fault={form.faults.form} />
      {Object.entries(filter).map(([name, value]) => (
        <input type="hidden" name={name} value={attribute(value)} autocomplete="off" />
      ))}
      {lists.length === 1 ? (
        <input type="hidden" name="list" value={lists[0]} />
      ) : (
        <Choices name="list" legend="What" choices={lists.map((list) => [list, listWords[list]])} chosen={lists[0]} />
      )}
      <div class="export-fields">
        {fields.map((field) => (
          <TextField form={form} name={field} {...fieldWords[field]} />
        ))}
      </div>
      <Choices name="format" legend="Format" choices={formats} chosen={format} />
      <p class="hint">
        Each export is recorded: who took it, the filter and the number of rows. In CSV, a text that a spreadsheet could
        run as a formula gets an apostrophe in front.
      </p>
      <div class="form-end">
        <button type="submit" class="secondary">
          Download
        </button>
      </div>
    </form>
  )
}

const formats = [
  ['ndjson', 'JSON lines'],
  ['csv', 'CSV'],
] as const

const listWords: Readonly<Record<ExportedListName, string>> = {
  events: 'Events',
  history: 'History',
  readings: 'Readings',
  keys: 'Keys',
}

const instantHint = 'Like yesterday, 10:14 or 2026-03-01.'

const fieldWords: Readonly<Record<ExportField, { readonly label: string; readonly hint?: string }>> = {
  since: { label: 'From', hint: instantHint },
  until: { label: 'To', hint: 'The first instant that is left out.' },
  rack: { label: 'Rack', hint: 'The whole name.' },
  keg: { label: 'Keg', hint: 'The whole name.' },
  key: { label: 'Key', hint: 'Like clr_7Qp2mZ4k.' },
  cellar: { label: 'Cellar' },
  stream: { label: 'Stream' },
  type: { label: 'Type' },
  kind: { label: 'Kind' },
  actor: { label: 'Actor' },
  readings: { label: 'Readings', hint: 'Blank, or "no" to leave them out.' },
}

const emptyForm: Form<ExportField> = {
  values: {
    since: '',
    until: '',
    rack: '',
    keg: '',
    key: '',
    cellar: '',
    stream: '',
    type: '',
    kind: '',
    actor: '',
    readings: '',
  },
  faults: {},
}

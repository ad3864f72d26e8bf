import { Breadcrumbs } from '../cellars/cellar-frame.tsx'
import { Layout } from '../frame/layout.tsx'
import { Csrf, FieldFault, FormFault } from '../parts/field.tsx'
import { Name } from '../parts/name.tsx'
import { Instant } from '../parts/time.tsx'
import { durationWords } from '../parts/time-words.ts'
import { paths } from '../paths.ts'
import type { CellarView, Form, KeyView, RotateField, Shell } from '../types.ts'
import { KeyLink } from './rotation-state.tsx'

/** One choice of how long the old key keeps working. `typed` is the value that the form sends. */
type Overlap = { readonly typed: string; readonly ms: number }

export const RotateKeyPage = (props: {
  readonly shell: Shell
  readonly cellar: CellarView
  readonly apiKey: KeyView
  readonly form: Form<RotateField>
  readonly overlaps: readonly Overlap[]
  /** The id of the new key. It is chosen before the form is sent, so a form that is sent twice creates only one key. */
  readonly keyId: string
}): JSX.Element => {
  const { apiKey, form } = props
  return (
    <Layout shell={props.shell} title={`Rotate ${apiKey.label}`} section="cellars" narrow>
      <Breadcrumbs cellar={props.cellar} apiKey={apiKey} />
      <h1>
        Rotate <Name text={apiKey.label} />
      </h1>
      <form method="post" action={paths.rotateKey(apiKey.keyId)} class="card">
        <Csrf token={props.shell.csrf} />
        <input type="hidden" name="_key_id" value={props.keyId} />
        <FormFault fault={form.faults.form} />
        <p>
          This creates a new key with the label, note, limit and expiry of <code safe>{`clr_${apiKey.keyId}_…`}</code>.
          The new key is shown only once. The time below begins with the first reading from the new key. A test reading
          starts it too. Until then, the old key keeps working.
        </p>
        {apiKey.expiresAt === null ? null : (
          <p>
            Both keys expire <Instant at={apiKey.expiresAt} />, unless the old key stops earlier.
          </p>
        )}
        {apiKey.status === 'suspended' ? <p>The old key stays suspended. The new key is active.</p> : null}
        <Replaced apiKey={apiKey} />
        <fieldset class={form.faults.overlap === undefined ? 'field' : 'field refused'}>
          <legend>Keep the old key working for</legend>
          <p class="hint">Counted from the first reading with the new key.</p>
          <div class="choices">
            {props.overlaps.map(({ typed, ms }) => (
              <label class="choice">
                <input
                  type="radio"
                  id={`overlap-${typed}`}
                  name="overlap"
                  value={typed}
                  checked={form.values.overlap === typed}
                />
                <span safe>{ms === 0 ? 'Stop at once' : durationWords(ms)}</span>
              </label>
            ))}
          </div>
          <FieldFault name="overlap" fault={form.faults.overlap} />
        </fieldset>
        <div class="form-end">
          <button type="submit">Rotate key</button>
          <a href={paths.key(apiKey.keyId)}>Cancel</a>
        </div>
      </form>
    </Layout>
  )
}

/** Names the unused key of an earlier rotation. Nobody may have saved that key, or a device may be about to use it. */
const Replaced = (props: { readonly apiKey: KeyView }): JSX.Element => {
  const { successor } = props.apiKey
  if (successor === null || successor.label === null || successor.usedAt !== null) return ''
  return (
    <p>
      An earlier rotation created <KeyLink keyId={successor.keyId} label={successor.label} />.{' '}
      {successor.awaitedId === successor.keyId
        ? 'That key has not been used. The new key takes its place. If nobody needs that key, revoke it.'
        : 'That key is revoked. The new key takes its place.'}
    </p>
  )
}

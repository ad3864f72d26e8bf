import { Breadcrumbs } from '../cellars/cellar-frame.tsx'
import { Layout } from '../frame/layout.tsx'
import { Choices, PostForm } from '../parts/field.tsx'
import { Name } from '../parts/name.tsx'
import { Instant } from '../parts/time.tsx'
import { durationWords } from '../parts/time-words.ts'
import { paths } from '../paths.ts'
import type { CellarView, Form, KeyView, RotateField, Shell } from '../types.ts'
import { KeyId, KeyLink } from './rotation-state.tsx'

/** `typed` is the value that the form sends. */
export type Overlap = { readonly typed: string; readonly ms: number }

export const RotateKeyPage = (props: {
  readonly shell: Shell
  readonly cellar: CellarView
  readonly apiKey: KeyView
  readonly form: Form<RotateField>
  readonly overlaps: readonly Overlap[]
  /** Chosen before the form is sent, so a form that is sent twice creates only one key. */
  readonly keyId: string
}): JSX.Element => {
  const { apiKey, form } = props
  return (
    <Layout shell={props.shell} title={`Rotate ${apiKey.label}`} section="cellars" narrow>
      <Breadcrumbs cellar={props.cellar} apiKey={apiKey} />
      <h1>
        Rotate <Name text={apiKey.label} />
      </h1>
      <PostForm
        action={paths.rotateKey(apiKey.keyId)}
        csrf={props.shell.csrf}
        form={form}
        button="Rotate key"
        cancel={paths.key(apiKey.keyId)}
      >
        <input type="hidden" name="_key_id" value={props.keyId} />
        <p>
          The new key gets the label, note, limit and expiry of <code safe>{`clr_${apiKey.keyId}_…`}</code> and is shown
          only once. Until the first reading with the new key, nothing changes for the old key.
        </p>
        {apiKey.expiresAt === null ? null : (
          <p>
            The new key expires <Instant at={apiKey.expiresAt} />. The old key never works past this time.
          </p>
        )}
        {apiKey.status === 'suspended' ? <p>The old key stays suspended. The new key is active.</p> : null}
        <Replaced apiKey={apiKey} />
        <OverlapField
          form={form}
          overlaps={props.overlaps}
          legend="When the old key stops"
          hint="The time is counted from the first reading with the new key. A test reading counts too."
        />
      </PostForm>
    </Layout>
  )
}

export const OverlapField = (props: {
  readonly form: Form<RotateField>
  readonly overlaps: readonly Overlap[]
  readonly legend: string
  readonly hint: string
}): JSX.Element => (
  <Choices
    name="overlap"
    legend={props.legend}
    hint={props.hint}
    choices={props.overlaps.map(({ typed, ms }) => [typed, ms === 0 ? 'At once' : `After ${durationWords(ms)}`])}
    chosen={props.form.values.overlap}
    fault={props.form.faults.overlap}
  />
)

/** So that the admin can decide: a device may soon use that key, or perhaps nobody saved its text. */
const Replaced = (props: { readonly apiKey: KeyView }): JSX.Element => {
  const { successor } = props.apiKey
  if (successor === null || successor.label === null || successor.usedAt !== null) return ''
  return (
    <p>
      An earlier rotation created <KeyLink keyId={successor.keyId} label={successor.label} />, which{' '}
      {successor.awaitedId === successor.keyId ? (
        <>
          has not been used. After this rotation, <KeyId keyId={successor.keyId} /> still works, but using it no longer
          stops the old key. If nobody needs <KeyId keyId={successor.keyId} />, revoke it.
        </>
      ) : (
        <>
          was revoked before its first use. So <KeyId keyId={successor.keyId} /> cannot stop the old key, but the new
          key of this rotation can.
        </>
      )}
    </p>
  )
}

import { Breadcrumbs } from '../cellars/cellar-frame.tsx'
import { Layout } from '../frame/layout.tsx'
import { ConfirmCard } from '../parts/confirm-card.tsx'
import { TextField } from '../parts/field.tsx'
import { Name } from '../parts/name.tsx'
import { countText } from '../parts/quantity.ts'
import { Ago } from '../parts/time.tsx'
import { paths } from '../paths.ts'
import type { CellarView, Form, KeyView, Shell } from '../types.ts'

export type KeyAction = 'suspend' | 'resume' | 'revoke'

/** A key whose last reading is younger is spoken of as in use. */
const inUseMs = 5 * 60_000

/** Asks before a key is stopped, or goes on. */
export const ConfirmPage = (props: {
  readonly shell: Shell
  readonly cellar: CellarView
  readonly apiKey: KeyView
  readonly action: KeyAction
  /** Its expiry has passed, also while it is suspended. */
  readonly isExpired: boolean
  readonly form: Form<'reason'>
}): JSX.Element => {
  const { apiKey, action } = props
  return (
    <Layout shell={props.shell} title={`${titles[action]} ${apiKey.label}?`} section="cellars" narrow>
      <Breadcrumbs cellar={props.cellar} apiKey={apiKey} />
      <ConfirmCard
        title={
          <>
            <span safe>{titles[action]}</span> <Name text={apiKey.label} />?
          </>
        }
        csrf={props.shell.csrf}
        action={addresses[action](apiKey.keyId)}
        fault={props.form.faults.form}
        fields={
          <TextField form={props.form} name="reason" label="Reason" hint="Goes into the log, for whoever asks later." />
        }
        button={buttons[action]}
        isDangerous={action === 'revoke'}
        cancel={paths.key(apiKey.keyId)}
      >
        <p class="identifier">
          <code safe>{`clr_${apiKey.keyId}_…`}</code>
        </p>
        {action === 'resume' ? null : <LastUse apiKey={apiKey} nowMs={props.shell.nowMs} />}
        <p safe>{action === 'resume' && props.isExpired ? resumedExpired : consequences[action]}</p>
      </ConfirmCard>
    </Layout>
  )
}

const LastUse = (props: { readonly apiKey: KeyView; readonly nowMs: number }): JSX.Element => {
  const { lastUsedAt, accepted } = props.apiKey
  if (lastUsedAt === null) return <p class="last-use calm">It was never used.</p>
  if (props.nowMs - lastUsedAt > inUseMs) {
    return (
      <p class="last-use calm">
        Last used <Ago at={lastUsedAt} nowMs={props.nowMs} />.
      </p>
    )
  }
  return (
    <p class="last-use in-use">
      <strong>It is in use:</strong> last used <Ago at={lastUsedAt} nowMs={props.nowMs} />,{' '}
      <span safe>{countText(accepted)}</span> {accepted === 1 ? 'reading' : 'readings'} so far. Devices that still have
      it will be refused.
    </p>
  )
}

const titles: Readonly<Record<KeyAction, string>> = { suspend: 'Suspend', resume: 'Resume', revoke: 'Revoke' }

const buttons: Readonly<Record<KeyAction, string>> = {
  suspend: 'Suspend key',
  resume: 'Resume key',
  revoke: 'Revoke for good',
}

const consequences: Readonly<Record<KeyAction, string>> = {
  suspend:
    'From the moment the next page says so, no reading of it is accepted, on any node. It can be resumed at any time.',
  resume: 'Its readings are accepted again, within a second on every node.',
  revoke:
    'From the moment the next page says so, no reading of it is accepted any more, on any node. This can’t be undone: a device that needs to send again needs a new key.',
}

const resumedExpired =
  'Its expiry has passed: once it is resumed, its readings are still refused, as “API key has expired”, until it is given a later one.'

const addresses: Readonly<Record<KeyAction, (keyId: string) => string>> = {
  suspend: paths.suspendKey,
  resume: paths.resumeKey,
  revoke: paths.revokeKey,
}

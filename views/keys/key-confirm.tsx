import { Breadcrumbs } from '../cellars/cellar-frame.tsx'
import { Layout } from '../frame/layout.tsx'
import { ConfirmCard } from '../parts/confirm-card.tsx'
import { TextField } from '../parts/field.tsx'
import { Name } from '../parts/name.tsx'
import { countOf, countText } from '../parts/quantity.ts'
import { Ago, Instant } from '../parts/time.tsx'
import { paths } from '../paths.ts'
import type { CellarView, Form, KeyView, Shell } from '../types.ts'
import { StillUsing } from './rotation/rotation-card.tsx'
import type { RotationView } from './rotation/rotation-types.ts'
import { KeyId, KeyPageLink, keepsWorkingText, oldKeyEnd } from './rotation-state.tsx'

export type KeyAction = 'suspend' | 'resume' | 'revoke' | 'retire'

/** With a last reading at most this old, the page warns that the key is in use. */
const inUseMs = 5 * 60_000

export const ConfirmPage = (props: {
  readonly shell: Shell
  readonly cellar: CellarView
  readonly apiKey: KeyView
  readonly action: KeyAction
  /** Of the key, and of the one that it replaces. To retire the key, only its own. */
  readonly rotations: readonly RotationView[]
  /** A suspended key can be expired too: after resuming, it needs a later expiry. */
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
          action === 'retire' ? undefined : (
            <TextField form={props.form} name="reason" label="Reason" hint="Shown in the history of the key." />
          )
        }
        button={buttons[action]}
        isDangerous={action === 'revoke' || action === 'retire'}
        cancel={paths.key(apiKey.keyId)}
      >
        <p class="identifier">
          <KeyId keyId={apiKey.keyId} />
          {action === 'retire'
            ? props.rotations.map(({ successor }) => (
                <>
                  {' → '}
                  <KeyPageLink keyId={successor.keyId} />
                </>
              ))
            : null}
        </p>
        {action === 'resume' ? null : (
          <LastUse apiKey={apiKey} nowMs={props.shell.nowMs} areRacksListed={action === 'retire'} />
        )}
        {action === 'resume'
          ? null
          : props.rotations.map((rotation) =>
              rotation.old.keyId === apiKey.keyId ? (
                <DevicesOfOldKey rotation={rotation} nowMs={props.shell.nowMs} action={action} />
              ) : (
                <WithoutNewKey apiKey={apiKey} rotation={rotation} action={action} nowMs={props.shell.nowMs} />
              ),
            )}
        <p safe>{action === 'resume' && props.isExpired ? resumedExpired : consequences[action]}</p>
      </ConfirmCard>
    </Layout>
  )
}

const DevicesOfOldKey = (props: {
  readonly rotation: RotationView
  readonly nowMs: number
  readonly action: KeyAction
}): JSX.Element => {
  const { rotation, nowMs, action } = props
  if (action !== 'retire') return <StillUsing rotation={rotation} nowMs={nowMs} called="this key" />
  if (rotation.successor.usedAt !== null) return <StillUsing rotation={rotation} nowMs={nowMs} />
  return <p class="last-use in-use">The new key was never used. Every device would be refused.</p>
}

/** What becomes of the old key. */
const WithoutNewKey = (props: {
  readonly apiKey: KeyView
  readonly rotation: RotationView
  readonly action: KeyAction
  readonly nowMs: number
}): JSX.Element => {
  const { old, successor, racks } = props.rotation
  const sending = racks?.withNext ?? 0
  return (
    <>
      {sending === 0 ? null : <p safe>{`${countOf(sending, 'rack has', 'racks have')} sent with this key.`}</p>}
      <p>
        The old key, <KeyPageLink keyId={old.keyId} />,{' '}
        {old.status === 'suspended' ? (
          'is suspended: it cannot take over until you resume it.'
        ) : successor.usedAt === null ? (
          <span safe>{unusedEnd(props)}</span>
        ) : old.expiresAt === null ? (
          'goes on working: it has no end.'
        ) : (
          <>
            still stops <Ago at={old.expiresAt} nowMs={props.nowMs} />, <Instant at={old.expiresAt} />. If devices go
            back to it, keep it longer first.
          </>
        )}
      </p>
    </>
  )
}

const unusedEnd = ({
  apiKey,
  action,
  rotation: { old, successor },
}: {
  readonly apiKey: KeyView
  readonly action: KeyAction
  readonly rotation: RotationView
}): string => {
  // Another key stops the old one, or this one still can.
  if (successor.awaitedId !== apiKey.keyId || action === 'suspend') return `${oldKeyEnd(successor, old.expiresAt)}.`
  const awaitedId = apiKey.successor?.awaitedId ?? null
  if (awaitedId !== null) return `${oldKeyEnd({ ...successor, awaitedId }, old.expiresAt)}.`
  return `${keepsWorkingText(old.expiresAt)}: a new key that is revoked before its first use cannot stop it.`
}

/** `areRacksListed`: these say whether the key is in use. */
const LastUse = (props: {
  readonly apiKey: KeyView
  readonly nowMs: number
  readonly areRacksListed: boolean
}): JSX.Element => {
  const { lastUsedAt, accepted } = props.apiKey
  if (lastUsedAt === null) return <p class="last-use calm">This key was never used.</p>
  if (props.areRacksListed || props.nowMs - lastUsedAt > inUseMs) {
    return (
      <p class="last-use calm">
        Last used <Ago at={lastUsedAt} nowMs={props.nowMs} />.
      </p>
    )
  }
  return (
    <p class="last-use in-use">
      <strong>This key is in use:</strong> last used <Ago at={lastUsedAt} nowMs={props.nowMs} />,{' '}
      <span safe>{countText(accepted)}</span> {accepted === 1 ? 'reading' : 'readings'} so far. Devices that use this
      key will be refused.
    </p>
  )
}

const titles: Readonly<Record<KeyAction, string>> = {
  suspend: 'Suspend',
  resume: 'Resume',
  revoke: 'Revoke',
  retire: 'Retire the old key of',
}

const buttons: Readonly<Record<KeyAction, string>> = {
  suspend: 'Suspend key',
  resume: 'Resume key',
  revoke: 'Revoke key',
  retire: 'Retire old key',
}

const consequences: Readonly<Record<KeyAction, string>> = {
  suspend: 'Every node refuses readings with this key as soon as you confirm. You can resume the key at any time.',
  resume: 'Every node accepts readings with this key again, within a second.',
  revoke:
    'Every node refuses readings with this key as soon as you confirm. This cannot be undone: to send again, a device needs a new key.',
  retire:
    'Every node refuses readings with the old key as soon as you confirm, with “API key has expired”. To undo this, give the old key a later expiry.',
}

const resumedExpired =
  'This key has expired. After you resume it, its readings are still refused with “API key has expired” until you set a later expiry.'

const addresses: Readonly<Record<KeyAction, (keyId: string) => string>> = {
  suspend: paths.suspendKey,
  resume: paths.resumeKey,
  revoke: paths.revokeKey,
  retire: paths.retireKey,
}

import { Layout } from '../../frame/layout.tsx'
import { ConfirmCard } from '../../parts/confirm-card.tsx'
import { FormFault, TextField } from '../../parts/field.tsx'
import { attribute, Name } from '../../parts/name.tsx'
import { Crumbs } from '../../parts/nav-links.tsx'
import { countOf, countText } from '../../parts/quantity.ts'
import { Ago } from '../../parts/time.tsx'
import type { Shell } from '../../types.ts'
import { ExpiryField, LimitFields, newChoices } from '../key-form.tsx'
import { type Overlap, OverlapField } from '../key-rotate.tsx'
import { switchedText } from '../rotation/rotation-card.tsx'
import type { ChosenKey, KeysChosen, SeveralChange } from './several-types.ts'

type Props = {
  readonly shell: Shell
  readonly chosen: KeysChosen
  readonly overlaps: readonly Overlap[]
}

export const ConfirmSeveralPage = ({ shell, chosen, overlaps }: Props): JSX.Element => {
  const { change, count } = chosen
  const title = `${verbs[change]} ${keysText(count)}`
  return (
    <Layout shell={shell} title={count === 0 ? nothingTo[change] : title} section="keys" narrow>
      <Crumbs crumbs={[<a href={attribute(chosen.back)}>Keys</a>]} />
      {count === 0 ? (
        <section class="card">
          <h1 safe>{nothingTo[change]}</h1>
          <Staying chosen={chosen} />
          <p>
            <a href={attribute(chosen.back)}>Back to the keys</a>
          </p>
        </section>
      ) : (
        <ConfirmCard
          title={
            <>
              <span safe>{title}</span> of <Cellars chosen={chosen} />
              {isAsked(change) ? '?' : ''}
            </>
          }
          csrf={shell.csrf}
          action={attribute(chosen.href)}
          fault={chosen.form.faults.form}
          fields={<Fields chosen={chosen} overlaps={overlaps} />}
          button={title}
          isDangerous={change === 'revoke' || change === 'retire'}
          cancel={attribute(chosen.back)}
        >
          <Moved chosen={chosen} />
          <p>
            <span safe>{consequences[change]}</span>
            {change === 'revoke' ? (
              <>
                {' '}
                <strong>This cannot be undone</strong>: to send again, a device needs a new key.
              </>
            ) : null}
          </p>
          <LastUse chosen={chosen} />
          <ul class="chosen-keys" aria-label="The keys">
            {chosen.shown.map((key) => (
              <Chosen apiKey={key} isInOneCellar={chosen.cellars === 1} nowMs={shell.nowMs} />
            ))}
            {count > chosen.shown.length ? (
              <li class="quiet" safe>{`and ${countOf(count - chosen.shown.length, 'more key', 'more keys')}`}</li>
            ) : null}
          </ul>
          <Staying chosen={chosen} />
          <Further chosen={chosen} />
          {count > shortMax ? (
            <p>
              The keys are changed one after another, those used last first. The next page shows how far the change is.
            </p>
          ) : null}
        </ConfirmCard>
      )}
    </Layout>
  )
}

const Cellars = ({ chosen: { shown, cellars } }: Pick<Props, 'chosen'>): JSX.Element =>
  cellars === 1 && shown[0] !== undefined ? (
    <Name text={shown[0].cellarTitle} />
  ) : (
    <span safe>{countOf(cellars, 'cellar', 'cellars')}</span>
  )

const Chosen = (props: {
  readonly apiKey: ChosenKey
  readonly isInOneCellar: boolean
  readonly nowMs: number
}): JSX.Element => {
  const { keyId, label, cellarTitle, lastUsedAt, racks } = props.apiKey
  return (
    <li>
      <span>
        <b>
          <Name text={label} />
        </b>{' '}
        <code safe>{`clr_${keyId}_…`}</code>
      </span>{' '}
      <span class="quiet">
        {props.isInOneCellar ? null : (
          <>
            <Name text={cellarTitle} />,{' '}
          </>
        )}
        {lastUsedAt === null ? (
          'never used'
        ) : (
          <>
            used <Ago at={lastUsedAt} nowMs={props.nowMs} />
          </>
        )}
        {racks === null ? null : <span safe>{`. ${switchedText(racks)}`}</span>}
      </span>
    </li>
  )
}

const Moved = ({ chosen: { moved, count } }: Pick<Props, 'chosen'>): JSX.Element => {
  if (moved === null) return ''
  const changes = [
    ...(moved.came === 0 ? [] : [`${countOf(moved.came, 'key is', 'keys are')} new in it`]),
    ...(moved.left === 0 ? [] : [`${countOf(moved.left, 'key is', 'keys are')} no longer in it`]),
  ]
  const words = `Nothing was changed yet: the list changed while you looked at it. ${changes.join(', and ')}. Now it has ${keysText(count)}. Please confirm again.`
  return <FormFault fault={words} />
}

const LastUse = ({ chosen: { change, usedLately, count } }: Pick<Props, 'chosen'>): JSX.Element => {
  if (change === 'resume') return ''
  if (usedLately === 0) return <p class="last-use calm">None of these keys was used in the last hour.</p>
  const which =
    count === 1 ? 'This key was' : `${countText(usedLately)} of these keys ${usedLately === 1 ? 'was' : 'were'}`
  const isRefused = change === 'suspend' || change === 'revoke' || change === 'retire'
  return (
    <p class={isRefused ? 'last-use in-use' : 'last-use calm'}>
      <strong safe>{`${which} used in the last hour.`}</strong>
      {isRefused ? ` Devices that use ${usedLately === 1 ? 'it' : 'them'} will be refused.` : null}
    </p>
  )
}

const Staying = ({ chosen: { staying, count } }: Pick<Props, 'chosen'>): JSX.Element => {
  if (staying.length === 0) return ''
  const all = staying.reduce((sum, one) => sum + one.count, 0)
  const words = staying.map((one) => (one.count === all ? one.why : `${countText(one.count)} ${one.why}`)).join(', ')
  return (
    <p safe>
      {`${count === 0 ? '' : 'Besides, '}${countOf(all, 'chosen key stays as it is', 'chosen keys stay as they are')}: ${words}.`}
    </p>
  )
}

const Further = ({ chosen }: Pick<Props, 'chosen'>): JSX.Element => {
  const words = furtherWords(chosen)
  return words === null ? '' : <p safe>{words}</p>
}

const furtherWords = ({ change, expired, rotatedBefore }: KeysChosen): string | null => {
  const ended = `${countOf(expired, 'of these keys has', 'of these keys have')} expired.`
  if (change === 'resume' && expired > 0)
    return `${ended} Their readings are still refused until you set a later expiry.`
  if (change === 'expiry' && expired > 0)
    return `${ended} With a later expiry, ${expired === 1 ? 'it works' : 'they work'} again.`
  if (change === 'rotate' && rotatedBefore > 0)
    return `${countOf(rotatedBefore, 'of these keys was', 'of these keys were')} rotated before, to a new key that was never used. That new key still works, but using it no longer stops the old key. If nobody needs it, revoke it.`
  return null
}

const Fields = ({ chosen, overlaps }: Pick<Props, 'chosen' | 'overlaps'>): JSX.Element => {
  const { form, change, mustType } = chosen
  return (
    <>
      <input type="hidden" name="_form" value={attribute(chosen.formId)} />
      <input type="hidden" name="_confirmed" value={attribute(chosen.confirmed)} />
      {chosen.isAskedAgain ? <input type="hidden" name="_again" value="on" /> : null}
      {change === 'expiry' ? <ExpiryField form={form} choices={newChoices} expiresAt={null} /> : null}
      {change === 'limit' ? <LimitFields form={form} legend="Limit of each key" defaultLimit={null} /> : null}
      {change === 'rotate' ? (
        <OverlapField
          form={form}
          overlaps={overlaps}
          legend="When an old key stops"
          hint="The time is counted from the first reading with its new key. A test reading counts too."
        />
      ) : null}
      {isAsked(change) ? (
        <TextField form={form} name="reason" label="Reason" hint="Shown in the history of each key." />
      ) : null}
      {mustType === null ? null : (
        <TextField
          form={form}
          name="count"
          label={`To confirm, type the number of keys: ${countText(mustType)}`}
          numeric
          required
          isExact
        />
      )}
    </>
  )
}

const isAsked = (change: SeveralChange): boolean => change === 'suspend' || change === 'resume' || change === 'revoke'

const keysText = (count: number): string => countOf(count, 'key', 'keys')

/** So few are changed within a second. */
const shortMax = 100

const verbs: Readonly<Record<SeveralChange, string>> = {
  suspend: 'Suspend',
  resume: 'Resume',
  revoke: 'Revoke',
  expiry: 'Set the expiry of',
  limit: 'Set the limit of',
  rotate: 'Rotate',
  retire: 'Retire',
}

const nothingTo: Readonly<Record<SeveralChange, string>> = {
  suspend: 'Nothing to suspend',
  resume: 'Nothing to resume',
  revoke: 'Nothing to revoke',
  expiry: 'No key can get an expiry',
  limit: 'No key can get a limit',
  rotate: 'Nothing to rotate',
  retire: 'No old key to retire',
}

const consequences: Readonly<Record<SeveralChange, string>> = {
  suspend: 'Every node refuses readings with a key as soon as it is suspended. You can resume the keys at any time.',
  resume: 'Every node accepts readings with a key again within a second after it is resumed.',
  revoke: 'Every node refuses readings with a key as soon as it is revoked.',
  expiry: 'All these keys get the same expiry. An earlier one takes effect on every node as soon as it is saved.',
  limit:
    'Each of these keys gets this limit for itself. A lower one takes effect on every node as soon as it is saved.',
  rotate:
    'Each key gets a new key with the same label, note, limit and expiry. You download the new keys as one file, which you get only once. Until the first reading with a new key, nothing changes for its old key.',
  retire:
    'Only old keys whose new key is in use are retired. Every node then refuses readings with them, with “API key has expired”. To undo this, set a later expiry.',
}

import { ActionLink } from '../../parts/action-link.tsx'
import { Meter } from '../../parts/meter.tsx'
import { Name } from '../../parts/name.tsx'
import { countOf, countText } from '../../parts/quantity.ts'
import { type Column, Table } from '../../parts/table.tsx'
import { Ago, Instant } from '../../parts/time.tsx'
import { paths } from '../../paths.ts'
import { KeyId, KeyPageLink, oldKeyEnd } from '../rotation-state.tsx'
import type { RacksView, RackUse, RotationView } from './rotation-types.ts'

/** Which racks have switched to the new key, and when the old one stops. */
export const RotationCard = (props: {
  readonly rotation: RotationView
  readonly nowMs: number
  readonly isAdmin: boolean
}): JSX.Element => {
  const { rotation, nowMs } = props
  const { keyId } = rotation.old
  const { usedAt } = rotation.successor
  return (
    <section id={`rotation-${keyId}`} class="card rotation" aria-labelledby={`rotation-title-${keyId}`}>
      <div class="with-action">
        <h2 id={`rotation-title-${keyId}`}>
          Rotation <KeyPageLink keyId={keyId} /> → <KeyPageLink keyId={rotation.successor.keyId} />
        </h2>
        {props.isAdmin ? <RotationActions {...rotation} /> : null}
      </div>
      <p class="rotation-end">
        <OldKeyEnd rotation={rotation} nowMs={nowMs} />
        {usedAt === null ? null : (
          <>
            {' '}
            The new key is in use since <Instant at={usedAt} />.
          </>
        )}
      </p>
      <NoNewKey rotation={rotation} called="the old key" />
      {rotation.racks === null ? (
        <p class="index-note">This node cannot say now which racks have switched. Reload the page in a moment.</p>
      ) : (
        <Racks rotation={rotation} racks={rotation.racks} nowMs={nowMs} />
      )}
    </section>
  )
}

/** Before the new key is in use, nothing has switched, and the old key has no end that could be moved. */
const RotationActions = ({ old, successor }: RotationView): JSX.Element => {
  const { keyId, status, expiresAt } = old
  const mayRetire = successor.isOpen && successor.usedAt !== null && successor.newStatus === 'active'
  const canBeKept = status !== 'revoked' && successor.usedAt !== null && expiresAt !== null
  if (!mayRetire && !canBeKept) return ''
  return (
    <ul class="action-list">
      {mayRetire ? (
        <ActionLink href={paths.retireKey(keyId)} verb="Retire the old key now" of={keyId} isDangerous />
      ) : null}
      {canBeKept ? (
        <ActionLink
          href={paths.keepKey(keyId)}
          verb={status === 'expired' ? 'Let it work again' : 'Keep it longer'}
          of={keyId}
        />
      ) : null}
    </ul>
  )
}

type RotationProps = { readonly rotation: RotationView; readonly nowMs: number }

/** A countdown, if the end is known. */
export const OldKeyEnd = ({ rotation, nowMs }: RotationProps): JSX.Element => {
  const { keyId, status, expiresAt } = rotation.old
  const key = <KeyId keyId={keyId} />
  if (status === 'revoked') return <>{key} is revoked.</>
  if (expiresAt !== null && expiresAt <= nowMs)
    return (
      <>
        {key} stopped <Ago at={expiresAt} nowMs={nowMs} />, <Instant at={expiresAt} />
        {status === 'suspended' ? '. It is suspended too: to let it work again, resume it as well.' : '.'}
      </>
    )
  if (rotation.successor.usedAt === null)
    return (
      <>
        No reading with the new key yet. {key} <span safe>{`${oldKeyEnd(rotation.successor, expiresAt)}.`}</span>
      </>
    )
  if (expiresAt === null) return <>{key} has no end: an admin removed its expiry. Retire it when no rack needs it.</>
  return (
    <>
      {key} stops{' '}
      <b>
        <Ago at={expiresAt} nowMs={nowMs} />
      </b>
      , <Instant at={expiresAt} />
      {status === 'suspended' ? '. It is suspended, so its readings are refused already.' : '.'}
    </>
  )
}

const worksNow = ({ old }: RotationView): boolean => old.status === 'active'

const Racks = ({ rotation, racks, nowMs }: RotationProps & { readonly racks: RacksView }): JSX.Element => {
  const all = racks.counts.all + racks.counts.new
  const works = worksNow(rotation)
  return (
    <>
      <SwitchedMeter racks={racks} />
      <p class="rotation-count">
        <b safe>{switchedText(racks)}</b> <span safe>{restText(racks, works)}</span>
      </p>
      {all === 0 ? null : <Table class="racks-of-rotation" rows={racks.shown} columns={columnsOf(rotation, nowMs)} />}
      {racks.shown.length < all ? (
        <p class="hint" safe>{`${countOf(all - racks.shown.length, 'more rack is', 'more racks are')} not shown.`}</p>
      ) : null}
      <Incomplete racks={racks} />
      {all === 0 ? null : (
        <p class="hint">
          Times are exact to the minute. A rack that sends with both keys counts as switched while its latest minute has
          readings of the new key alone. <span safe>{`A silent rack sent nothing ${silence(racks)}.`}</span> Refused
          readings do not count.
        </p>
      )}
    </>
  )
}

export const SwitchedMeter = ({ racks: { counts } }: { readonly racks: RacksView }): JSX.Element =>
  counts.all === 0 ? '' : <Meter share={counts.switched / counts.all} isGood />

/** Of the racks that used the old key. */
export const switchedText = ({ counts: { all, switched, new: only }, seenFromMs }: RacksView): string => {
  if (all === 0)
    return only === 0 && seenFromMs === null
      ? 'No rack has sent with either key yet.'
      : 'No rack is known to have used the old key.'
  if (all === switched) return all === 1 ? 'The only rack has switched.' : `All ${countText(all)} racks have switched.`
  return `${countText(switched)} of ${countOf(all, 'rack has', 'racks have')} switched.`
}

const silence = ({ silentDays }: RacksView): string => `for ${silentDays} days, or since the new key is in use`

const restText = ({ counts: { old, both, silent, new: only } }: RacksView, works: boolean): string =>
  [
    old === 0
      ? ''
      : works
        ? `${countText(old)} still ${old === 1 ? 'uses' : 'use'} the old key.`
        : `${countText(old)} last sent with the old key.`,
    both === 0 ? '' : `${countText(both)} ${works ? (both === 1 ? 'sends' : 'send') : 'sent'} with both.`,
    silent === 0 ? '' : `${countText(silent)} ${silent === 1 ? 'is' : 'are'} silent.`,
    only === 0 ? '' : `${countText(only)} more ${only === 1 ? 'was' : 'were'} seen with the new key only.`,
  ]
    .filter((part) => part !== '')
    .join(' ')

/** What the list lacks. */
export const Incomplete = ({ racks: { seenFromMs, lastCompared } }: { readonly racks: RacksView }): JSX.Element => (
  <>
    {seenFromMs === null ? null : (
      <p class="index-note">
        The list can be incomplete: racks that were last seen before <Instant at={seenFromMs} /> can be missing.
      </p>
    )}
    {lastCompared === null ? null : (
      <p class="index-note">
        The list is incomplete: too many racks used these keys. By name, it ends with <Name text={lastCompared} />.
      </p>
    )}
  </>
)

const columnsOf = (rotation: RotationView, nowMs: number): readonly Column<RackUse>[] => [
  {
    head: 'Rack',
    cell: ({ rack }) => (
      <a class="row-name" href={paths.rack(rotation.old.cellar, rack)}>
        <Name text={rack} />
      </a>
    ),
  },
  {
    head: 'State',
    cell: ({ state }) => (
      <span class={`mark ${stateLooks[state]}`} safe>
        {(worksNow(rotation) ? stateWords : wordsAfterEnd)[state]}
      </span>
    ),
  },
  { head: 'Last with the old key', cell: ({ oldMs }) => <Seen at={oldMs} nowMs={nowMs} /> },
  { head: 'Last with a new key', cell: ({ newMs }) => <Seen at={newMs} nowMs={nowMs} /> },
]

const Seen = (props: { readonly at: number | null; readonly nowMs: number }): JSX.Element =>
  props.at === null ? <span class="quiet">Not seen</span> : <Ago at={props.at} nowMs={props.nowMs} />

const stateWords: Readonly<Record<RackUse['state'], string>> = {
  old: 'Uses the old key',
  both: 'Sends with both',
  silent: 'Silent',
  switched: 'Switched',
  new: 'New key only',
}

const wordsAfterEnd: typeof stateWords = { ...stateWords, old: 'Used the old key', both: 'Sent with both' }

const stateLooks: Readonly<Record<RackUse['state'], string>> = {
  old: 'skew',
  both: 'skew',
  silent: 'you',
  switched: 'new',
  new: 'new',
}

const racksNamedMax = 10

/** For a question whether the old key may stop. `called`: how the question calls this key. */
export const StillUsing = ({
  rotation,
  nowMs,
  called = 'the old key',
}: RotationProps & { readonly called?: string }): JSX.Element => {
  const { racks } = rotation
  if (racks === null)
    return (
      <p class="last-use in-use" safe>
        {`This node cannot say now which racks still use ${called}. Try again soon.`}
      </p>
    )
  const { old, both, silent, switched, new: only } = racks.counts
  const uses = worksNow(rotation)
    ? countOf(old + both, 'rack still uses', 'racks still use')
    : `${countOf(old + both, 'rack', 'racks')} last sent with`
  const using = racks.shown.filter(({ state }) => state === 'old' || state === 'both')
  return (
    <>
      {old + both > 0 ? (
        <div class="last-use in-use">
          <p>
            <strong safe>{`${uses} ${called}:`}</strong>
          </p>
          <ul>
            {using.slice(0, racksNamedMax).map(({ rack, oldMs }) => (
              <li>
                <Name text={rack} />, <Seen at={oldMs} nowMs={nowMs} />
              </li>
            ))}
            {old + both > racksNamedMax ? (
              <li safe>{`and ${countText(old + both - Math.min(using.length, racksNamedMax))} more`}</li>
            ) : null}
          </ul>
        </div>
      ) : rotation.successor.newStatus !== 'active' ? null : (
        <p class="last-use calm" safe>
          {switched + only === 0
            ? `No rack is known to use ${called}.`
            : `No rack is known to still use it: ${switchedClause(switched + only)}`}
        </p>
      )}
      <NoNewKey rotation={rotation} called={called} />
      {silent === 0 ? null : (
        <p safe>
          {`${countOf(silent, 'rack has', 'racks have')} sent nothing ${silence(racks)}. If ${silent === 1 ? 'it has' : 'they have'} only ${called}, ${silent === 1 ? 'its' : 'their'} readings will be refused.`}
        </p>
      )}
      <Incomplete racks={racks} />
    </>
  )
}

/** Devices that have switched are refused already. */
const NoNewKey = (props: { readonly rotation: RotationView; readonly called: string }): JSX.Element => {
  const { usedAt, newStatus } = props.rotation.successor
  if (usedAt === null || newStatus === null || newStatus === 'active') return ''
  return (
    <p class="last-use in-use">
      <strong safe>{`The new key is ${newStatus}.`}</strong>{' '}
      <span safe>{`Without ${props.called}, every device is refused.`}</span>
    </p>
  )
}

const switchedClause = (switched: number): string =>
  `${countOf(switched, 'rack sends', 'racks send')} with the new key.`

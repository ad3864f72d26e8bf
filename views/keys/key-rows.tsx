import { Meter } from '../parts/meter.tsx'
import { attribute, Name } from '../parts/name.tsx'
import { countText, limitText } from '../parts/quantity.ts'
import { actionsColumn, type Column } from '../parts/table.tsx'
import { AgoOrNever, Day } from '../parts/time.tsx'
import { paths } from '../paths.ts'
import { HourBars, sumOf } from './hour-bars.tsx'
import { Expiry, Stopped } from './key-expiry.tsx'
import type { KeyDay, KeyListView, KeyQuery, KeyRow } from './key-list-types.ts'
import { StatusPill } from './key-status.tsx'
import { SwitchedMeter, switchedText } from './rotation/rotation-card.tsx'
import { PendingEnd } from './rotation-state.tsx'

export type ListProps = {
  readonly list: KeyListView
  /** The list of one cellar. */
  readonly cellar: string | null
  readonly nowMs: number
  readonly isAdmin: boolean
}

/** The address of the same list with these changes, from its first page on. */
export const listHref = (
  { list: { query }, cellar }: Pick<ListProps, 'list' | 'cellar'>,
  changes: Partial<KeyQuery>,
): string => {
  const changed = { ...query, page: 1, ...changes }
  return cellar === null ? paths.allKeys(changed) : paths.keys(cellar, changed)
}

export const keyColumns = (props: ListProps): readonly (Column<KeyRow> | null)[] => [
  {
    head: 'Key',
    sort: sortBy(props, 'label'),
    cell: (key) => <KeyName apiKey={key} {...props} />,
  },
  props.cellar === null
    ? {
        head: 'Cellar',
        sort: sortBy(props, 'cellar'),
        cell: ({ cellar, cellarTitle }) => (
          <a class="row-cellar" href={attribute(paths.keys(cellar))}>
            <Name text={cellarTitle} />
          </a>
        ),
      }
    : null,
  {
    head: 'Last used',
    sort: sortBy(props, 'used'),
    cell: ({ lastUsedAt, day }) => (
      <>
        <AgoOrNever at={lastUsedAt} nowMs={props.nowMs} />
        {day === null ? null : <Racks day={day} />}
      </>
    ),
  },
  { head: '24 hours', cell: (key) => <Activity apiKey={key} /> },
  {
    head: 'Of limit',
    title: 'The busiest minute of the last 24 hours, beside the limit of the key',
    sort: sortBy(props, 'busiest'),
    cell: (key) => <OfLimit apiKey={key} />,
  },
  {
    head: 'Expires',
    sort: sortBy(props, 'expires'),
    cell: (key) => <Ending apiKey={key} {...props} />,
  },
  {
    head: 'Created',
    sort: sortBy(props, 'created'),
    cell: ({ created }) => <Day at={created.at} />,
  },
  props.isAdmin ? actionsColumn((key) => <KeyMenu apiKey={key} />) : null,
]

/** The latest one, or both of two. */
const Racks = ({ day: { racks, racksTotal } }: { readonly day: KeyDay }): JSX.Element => {
  const [last, other] = racks
  if (last === undefined) return ''
  return (
    <span class="under quiet">
      <Name text={last} />
      {other === undefined ? null : racksTotal > 2 ? (
        <span safe>{` and ${countText(racksTotal - 1)} more`}</span>
      ) : (
        <>
          {', '}
          <Name text={other} />
        </>
      )}
    </span>
  )
}

/** A second choice turns the order around. */
const sortBy = (props: ListProps, sort: KeyQuery['sort']): NonNullable<Column<KeyRow>['sort']> => {
  const { query } = props.list
  const isChosen = query.sort === sort
  const isFromLeast = sort === 'label' || sort === 'cellar' || sort === 'expires'
  return {
    href: listHref(props, { sort, isReversed: isChosen && !query.isReversed }),
    direction: !isChosen ? null : isFromLeast === query.isReversed ? 'descending' : 'ascending',
  }
}

const KeyName = ({ apiKey: key, isAdmin, list }: ListProps & { readonly apiKey: KeyRow }): JSX.Element => (
  <div class="key-name">
    {isAdmin && key.status !== 'revoked' ? (
      <label class="picks">
        <input type="checkbox" name="key" value={key.keyId} autocomplete="off" />
        <span class="visually-hidden">
          Select <Name text={key.label} /> <span safe>{key.keyId}</span>
        </span>
      </label>
    ) : null}
    <div>
      <a class="row-name" href={paths.key(key.keyId)}>
        <Name text={key.label} />
      </a>
      <span class="under">
        <code safe>{`clr_${key.keyId}_…`}</code> <RotationMark apiKey={key} />
        {list.query.status === 'all' && key.status !== 'active' ? <StatusPill status={key.status} /> : null}
      </span>
    </div>
  </div>
)

const RotationMark = ({ apiKey: { successor, predecessor } }: { readonly apiKey: KeyRow }): JSX.Element => {
  const follower = successor === null || successor.usedAt === null ? successor?.awaitedId : successor.keyId
  const next = successor?.isOpen ? (follower ?? null) : null
  const old = predecessor?.rotation?.isOpen ? predecessor : null
  if (next === null && old === null) return ''
  return (
    <span class="rotation-mark">
      {next === null ? null : (
        <>
          <span class="mark skew">old</span> replaced by <a href={paths.key(next)} safe>{`clr_${next}`}</a>
        </>
      )}{' '}
      {old === null ? null : (
        <>
          <span class="mark new">new</span> replaces <a href={paths.key(old.keyId)} safe>{`clr_${old.keyId}`}</a>
        </>
      )}
    </span>
  )
}

const Activity = ({ apiKey: { keyId, day } }: { readonly apiKey: KeyRow }): JSX.Element => {
  if (day === null) return <span class="quiet">Not known now</span>
  const refused = sumOf(day.refused)
  return (
    <>
      <HourBars {...day} />
      {refused === 0 ? null : (
        <a class="under refused-count" href={attribute(paths.log({ kind: 'refusals', key: keyId }))} safe>
          {`${countText(refused)} refused`}
        </a>
      )}
    </>
  )
}

/** Most limits are for one minute. A minute says little about a longer time, so that has no meter. */
const OfLimit = ({ apiKey: { day, limit, status } }: { readonly apiKey: KeyRow }): JSX.Element => {
  if (day === null || (day.busiest === 0 && status !== 'active'))
    return <span class="quiet" safe>{`limit ${limitText(limit)}`}</span>
  const isMinute = limit.windowMs === 60_000
  return (
    <span class="usage">
      <span>
        <b safe>{countText(day.busiest)}</b>
        {isMinute ? (
          <span class="quiet" safe>{` of ${limitText(limit)}`}</span>
        ) : (
          <span class="quiet"> in a minute</span>
        )}
      </span>
      {limit.windowMs > 60_000 ? null : <Meter share={day.share} />}
      {isMinute ? null : <span class="under quiet" safe>{`limit ${limitText(limit)}`}</span>}
    </span>
  )
}

const Ending = (props: ListProps & { readonly apiKey: KeyRow }): JSX.Element => {
  const { revoked, suspended } = props.apiKey
  if (revoked !== null) return <Stopped words="Revoked" attribution={revoked} />
  if (suspended !== null) return <Stopped words="Suspended" attribution={suspended} />
  return (
    <span class="ending">
      <Expiry {...props} />
      <PendingEnd apiKey={props.apiKey} />
      <Switched apiKey={props.apiKey} isAdmin={props.isAdmin} />
    </span>
  )
}

const Switched = (props: { readonly apiKey: KeyRow; readonly isAdmin: boolean }): JSX.Element => {
  const { keyId, successor, status, racks } = props.apiKey
  if (status !== 'active' || successor === null || successor.usedAt === null) return ''
  return (
    <span class="under switched">
      {racks === null ? null : <SwitchedMeter racks={racks} />}
      <a href={paths.keyRotation(keyId)} safe>
        {racks === null ? 'Which racks have switched?' : switchedText(racks)}
      </a>
      {racks === null || (racks.seenFromMs === null && racks.lastCompared === null)
        ? null
        : ' The list can be incomplete.'}
      {successor.newStatus === 'active' ? null : <b safe>{` The new key is ${successor.newStatus}.`}</b>}
      {props.isAdmin ? (
        <span class="switched-links">
          {successor.newStatus === 'active' ? (
            <a href={paths.retireKey(keyId)} data-dialog>
              Retire now
            </a>
          ) : null}{' '}
          <a href={paths.keepKey(keyId)} data-dialog>
            Keep longer
          </a>
        </span>
      ) : null}
    </span>
  )
}

const KeyMenu = ({ apiKey: { keyId, label, status, canRotate } }: { readonly apiKey: KeyRow }): JSX.Element => {
  if (status === 'revoked') return ''
  return (
    <>
      <button type="button" class="menu-button" popovertarget={`menu-${keyId}`}>
        <span aria-hidden="true">⋯</span>
        <span class="visually-hidden">
          Actions for <Name text={label} /> <span safe>{keyId}</span>
        </span>
      </button>
      <ul class="menu" id={`menu-${keyId}`} popover>
        {canRotate ? (
          <li>
            <a href={paths.rotateKey(keyId)}>Rotate</a>
          </li>
        ) : null}
        <li>
          <a href={paths.editKey(keyId)}>Edit</a>
        </li>
        <li>
          {status === 'suspended' ? (
            <a href={paths.resumeKey(keyId)} data-dialog>
              Resume
            </a>
          ) : (
            <a href={paths.suspendKey(keyId)} data-dialog>
              Suspend
            </a>
          )}
        </li>
        <li>
          <a href={paths.revokeKey(keyId)} class="danger" data-dialog>
            Revoke
          </a>
        </li>
      </ul>
    </>
  )
}

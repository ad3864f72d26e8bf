import { ByWhom, LinkMark } from '../parts/by.tsx'
import { Name } from '../parts/name.tsx'
import { countOf } from '../parts/quantity.ts'
import { type Column, Table } from '../parts/table.tsx'
import { Instant } from '../parts/time.tsx'
import type { PlaceView, SignInHistoryRow } from '../types.ts'

export const SignInHistory = (props: {
  readonly email: string
  readonly rows: readonly SignInHistoryRow[] | null
}): JSX.Element => (
  <section class="account" aria-labelledby="sign-ins-title">
    <h2 id="sign-ins-title">
      Sign-in history <small>newest first, in UTC</small>
    </h2>
    <p class="quiet">
      Addresses and browsers are kept for 30 days. For each one-time link from somebody else, the list names that
      person, who may have signed in as you with the link. If you did not ask for the link, change your password. Then
      ask the person why the link was created.
    </p>
    {props.rows === null ? (
      <p class="index-note">The history cannot be shown now. Reload this page to try again.</p>
    ) : props.rows.length === 0 ? (
      <p class="empty small">Nobody has signed in to this account.</p>
    ) : (
      <Table rows={props.rows} columns={columnsFor(props.email)} />
    )}
  </section>
)

const columnsFor = (email: string): readonly Column<SignInHistoryRow>[] => [
  {
    head: 'Event',
    cell: (row) => {
      const linkMaker = linkMakerOf(row)
      return (
        <>
          <span class="row-name" safe>
            {wordsOf(row)}
          </span>
          {linkMaker === null ? null : <LinkMark madeBy={linkMaker} isOwn={linkMaker === email} />}
          {row.kind === 'signed_out' ? (
            <span class="under">
              by <ByWhom by={row.by} />
            </span>
          ) : null}
          {row.kind === 'refused' ? (
            <span class="under" safe>
              {refusedText(row)}
            </span>
          ) : null}
        </>
      )
    },
  },
  {
    head: 'When',
    cell: (row) => (
      <>
        <Instant at={row.at} />
        {row.kind === 'refused' && row.from < row.at ? (
          <span class="under">
            since <Instant at={row.from} />
          </span>
        ) : null}
      </>
    ),
  },
  { head: 'From', isEmpty: ({ kind }) => kind !== 'signed_in' && kind !== 'refused', cell: From },
]

const linkMakerOf = (row: SignInHistoryRow): string | null => {
  switch (row.kind) {
    case 'signed_in':
    case 'password_set':
      return row.linkMadeBy
    case 'link_made':
      return row.isInvitation ? null : row.madeBy
    case 'signed_out':
    case 'refused':
      return null
    default:
      return unknownRow(row)
  }
}

const wordsOf = (row: SignInHistoryRow): string => {
  switch (row.kind) {
    case 'signed_in':
      return 'Signed in'
    case 'signed_out':
      return 'Session ended'
    case 'link_made':
      return row.isInvitation ? 'Invitation created' : 'One-time link created'
    case 'password_set':
      return row.hasLink ? 'Password set with a one-time link' : 'Password changed'
    case 'refused':
      return 'Password refused'
    default:
      return unknownRow(row)
  }
}

type RefusedRow = Extract<SignInHistoryRow, { readonly kind: 'refused' }>

const refusedText = ({ failed, throttled }: RefusedRow): string =>
  [
    ...(failed === 0 ? [] : [countOf(failed, 'wrong password', 'wrong passwords')]),
    ...(throttled === 0 ? [] : [`${countOf(throttled, 'attempt', 'attempts')} blocked`]),
  ].join('; ')

const From = (row: SignInHistoryRow): JSX.Element => {
  if (row.kind === 'signed_in') return <Place place={row.place} />
  if (row.kind === 'refused') return <Name text={row.addresses.join(', ')} />
  return <span class="quiet">–</span>
}

const Place = (props: { readonly place: PlaceView | 'purged' | 'not_recorded' }): JSX.Element => {
  const { place } = props
  if (place === 'purged') return <span class="quiet">No longer stored</span>
  if (place === 'not_recorded') return <span class="quiet">Not recorded</span>
  return (
    <>
      <Name text={place.browser} />
      <Name class="under" text={place.address} />
    </>
  )
}

const unknownRow = (row: never): never => {
  throw new Error(`Cannot show a sign-in: ${JSON.stringify(row)}`)
}

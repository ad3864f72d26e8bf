import { LinkMark } from '../parts/by.tsx'
import { Csrf } from '../parts/field.tsx'
import { attribute, Name } from '../parts/name.tsx'
import { actionsColumn, type Column, Table } from '../parts/table.tsx'
import { Ago, Instant } from '../parts/time.tsx'
import { paths } from '../paths.ts'
import type { SessionRow } from '../types.ts'

/** Ends all sessions except the one that sends the form. */
export const otherSessions = 'others'

type SessionsProps = { readonly csrf: string; readonly nowMs: number; readonly sessions: readonly SessionRow[] }

export const OpenSessions = (props: SessionsProps): JSX.Element => (
  <section class="account" aria-labelledby="sessions-title">
    <h2 id="sessions-title">Open sessions</h2>
    <Table rows={props.sessions} columns={columnsOf(props)} />
    {props.sessions.some(({ isThis }) => !isThis) ? (
      <form method="post" action={paths.accountSessions} class="under-table">
        <Csrf token={props.csrf} />
        <input type="hidden" name="session" value={otherSessions} />
        <button type="submit" class="plain">
          End all other sessions
        </button>
      </form>
    ) : null}
  </section>
)

const columnsOf = ({ csrf, nowMs }: SessionsProps): readonly Column<SessionRow>[] => [
  {
    head: 'Browser',
    cell: (session) => (
      <>
        <Name class="row-name" text={browserOf(session)} />
        {session.isThis ? <span class="mark you">this session</span> : null}
        {session.place === null ? null : (
          <span class="under">
            from <Name text={session.place.address} />
          </span>
        )}
        {session.linkMadeBy === null ? null : <LinkMark madeBy={session.linkMadeBy} isOwn={false} />}
      </>
    ),
  },
  { head: 'Signed in', cell: ({ startedAt }) => <Instant at={startedAt} /> },
  {
    head: 'Last used',
    cell: ({ lastUsedAt }) =>
      lastUsedAt === null ? <span class="quiet">Unknown</span> : <Ago at={lastUsedAt} nowMs={nowMs} />,
  },
  actionsColumn((session) => (
    <form method="post" action={paths.accountSessions}>
      <Csrf token={csrf} />
      <input type="hidden" name="session" value={attribute(session.id)} />
      <button type="submit" class="plain">
        {session.isThis ? <span>Sign out</span> : <span>End</span>}
        <Name class="visually-hidden" text={` ${browserOf(session)}`} />
      </button>
    </form>
  )),
]

const browserOf = ({ place }: SessionRow): string => place?.browser ?? 'Unknown browser'

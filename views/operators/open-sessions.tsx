import { LinkMark } from '../parts/by.tsx'
import { Csrf } from '../parts/field.tsx'
import { attribute, Name } from '../parts/name.tsx'
import { Ago, Instant } from '../parts/time.tsx'
import { paths } from '../paths.ts'
import type { SessionRow } from '../types.ts'

/** Ends all sessions except the one that sends the form. */
export const otherSessions = 'others'

export const OpenSessions = (props: {
  readonly csrf: string
  readonly nowMs: number
  readonly sessions: readonly SessionRow[]
}): JSX.Element => (
  <section class="account" aria-labelledby="sessions-title">
    <h2 id="sessions-title">Open sessions</h2>
    <div class="table-room">
      <table class="stack">
        <thead>
          <tr>
            <th scope="col">Browser</th>
            <th scope="col">Signed in</th>
            <th scope="col">Last used</th>
            <th scope="col">
              <span class="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {props.sessions.map((session) => (
            <SessionLine session={session} csrf={props.csrf} nowMs={props.nowMs} />
          ))}
        </tbody>
      </table>
    </div>
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

const SessionLine = (props: {
  readonly session: SessionRow
  readonly csrf: string
  readonly nowMs: number
}): JSX.Element => {
  const { session, csrf, nowMs } = props
  return (
    <tr>
      <th scope="row">
        <Name class="row-name" text={browserOf(session)} />
        {session.isThis ? <span class="mark you">this session</span> : null}
        {session.place === null ? null : (
          <span class="under">
            from <Name text={session.place.address} />
          </span>
        )}
        {session.linkMadeBy === null ? null : <LinkMark madeBy={session.linkMadeBy} isOwn={false} />}
      </th>
      <td data-label="Signed in">
        <Instant at={session.startedAt} />
      </td>
      <td data-label="Last used">
        {session.lastUsedAt === null ? (
          <span class="quiet">Unknown</span>
        ) : (
          <Ago at={session.lastUsedAt} nowMs={nowMs} />
        )}
      </td>
      <td class="actions">
        <form method="post" action={paths.accountSessions}>
          <Csrf token={csrf} />
          <input type="hidden" name="session" value={attribute(session.id)} />
          <button type="submit" class="plain">
            {session.isThis ? <span>Sign out</span> : <span>End</span>}
            <Name class="visually-hidden" text={` ${browserOf(session)}`} />
          </button>
        </form>
      </td>
    </tr>
  )
}

const browserOf = ({ place }: SessionRow): string => place?.browser ?? 'Unknown browser'

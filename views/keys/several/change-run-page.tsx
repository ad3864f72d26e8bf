import { Layout } from '../../frame/layout.tsx'
import { Csrf } from '../../parts/field.tsx'
import { Live } from '../../parts/live.tsx'
import { attribute, Name } from '../../parts/name.tsx'
import { Crumbs } from '../../parts/nav-links.tsx'
import { countOf, countText } from '../../parts/quantity.ts'
import { Instant } from '../../parts/time.tsx'
import { paths } from '../../paths.ts'
import type { Shell } from '../../types.ts'
import { KeyLink } from '../rotation-state.tsx'
import { addressKeysMax, type ChangeRunView, type SeveralChange } from './several-types.ts'

/** Without JavaScript, the page loads itself again. */
const refreshSeconds = 2

export const ChangeRunPage = ({ shell, run }: { readonly shell: Shell; readonly run: ChangeRunView }): JSX.Element => (
  <Layout shell={shell} title={titleOf(run)} section="keys" narrow {...(run.ended === null ? { refreshSeconds } : {})}>
    <Crumbs crumbs={[<a href={attribute(run.back)}>Keys</a>]} />
    <Live from={paths.liveKeysChange(run.id)} target="#change-run" isPaused={run.ended !== null}>
      <ChangeRun run={run} shell={shell} />
    </Live>
  </Layout>
)

type Unknown = {
  readonly id: string
  /** The operator who began it on this node. */
  readonly by: string | null
}

export const UnknownChangePage = ({ shell, ...unknown }: Unknown & { readonly shell: Shell }): JSX.Element => (
  <Layout shell={shell} title="Change of several keys" section="keys" narrow>
    <Crumbs crumbs={[<a href={paths.allKeys()}>Keys</a>]} />
    <UnknownChange {...unknown} />
  </Layout>
)

/** Also takes the place of a change that was under way when the service was restarted. */
export const UnknownChange = ({ id, by }: Unknown): JSX.Element => (
  <div id="change-run">
    <h1>{by === null ? 'How far this change came is not known' : 'Another operator began this change'}</h1>
    <section class="card warn">
      <p>
        {by === null ? (
          'The service was restarted, the change is older than the last few, or another operator or node made it.'
        ) : (
          <>
            Only <Name text={by} /> sees how far it is, and can download the new keys of a rotation.
          </>
        )}{' '}
        Each key was changed completely or not at all, and the log has every change so far.
      </p>
      <p>
        <a class="button" href={attribute(paths.found(id))}>
          See the changes in the Log
        </a>
      </p>
      {by === null ? (
        <p>
          To do the rest, choose the keys again: those that were changed stay as they are. New keys of a rotation can
          still wait for the operator who began it, on the node that did it. A restart loses them: then rotate their old
          keys again.
        </p>
      ) : null}
    </section>
  </div>
)

type Props = { readonly run: ChangeRunView; readonly shell: Shell }

export const ChangeRun = ({ run, shell }: Props): JSX.Element => {
  const { ended, count, changed, same, refusedCount, leftCount } = run
  const tried = changed + same + refusedCount
  return (
    <div id="change-run">
      <h1 safe>{titleOf(run)}</h1>
      {ended === null ? (
        <section class="card">
          <progress max={count} value={tried} aria-label="Keys that are done" />
          <p class="quiet">
            <b safe>{`${countText(tried)} of ${countText(count)}`}</b> done. You can leave this page: the change goes on
            while you are signed in.
          </p>
        </section>
      ) : null}
      <p role="status" class={ended === null ? 'visually-hidden' : undefined} safe>
        {ended === null ? 'The change goes on.' : outcomeOf(run)}
      </p>
      {ended === null ? null : <NewKeys run={run} shell={shell} />}
      {refusedCount === 0 ? null : (
        <section class="card warn" aria-labelledby="refused-title">
          <h2 id="refused-title" safe>{`${countOf(refusedCount, 'key was', 'keys were')} not changed`}</h2>
          <ul class="chosen-keys">
            {run.refused.map(({ keyId, label, why }) => (
              <li>
                <KeyLink keyId={keyId} label={label} />{' '}
                <span class="why">
                  <Name text={why} />
                </span>
              </li>
            ))}
            <More of={refusedCount - run.refused.length} />
          </ul>
        </section>
      )}
      {leftCount === 0 || ended === null ? null : (
        <section class="card warn" aria-labelledby="left-title">
          <h2 id="left-title" safe>{`${countOf(leftCount, 'key was', 'keys were')} not tried`}</h2>
          <p safe>{whyLeft[ended.why]}</p>
          {isAdmin(shell) ? (
            <p>
              <a class="button" href={attribute(run.rest)}>
                {leftCount <= addressKeysMax ? 'Go on with the rest' : 'Go on with the next 500 keys'}
              </a>
            </p>
          ) : null}
          <ul class="chosen-keys in-columns">
            {run.left.map((key) => (
              <li>
                <KeyLink {...key} />
              </li>
            ))}
            <More of={leftCount - run.left.length} />
          </ul>
        </section>
      )}
      {ended === null ? null : (
        <p>
          <a href={attribute(paths.found(run.id))}>See the changes in the Log</a> ·{' '}
          <a href={attribute(run.back)}>Back to the keys</a>
        </p>
      )}
    </div>
  )
}

/** The role of an operator can change in the middle of a change. */
const isAdmin = ({ operator }: Shell): boolean => operator?.role === 'admin'

const More = ({ of }: { readonly of: number }): JSX.Element =>
  of === 0 ? '' : <li class="quiet" safe>{`and ${countOf(of, 'more key', 'more keys')}`}</li>

const NewKeys = ({ run, shell }: Props): JSX.Element => {
  const { newKeys, newKeysEnd } = run
  if (newKeysEnd !== null) {
    const { at, isTaken } = newKeysEnd
    return (
      <section class={isTaken ? 'card' : 'card warn'} aria-labelledby="new-title">
        <h2 id="new-title">The new keys were {isTaken ? 'downloaded' : 'not downloaded in time'}</h2>
        <p>
          {isTaken ? 'This was at' : 'They waited for an hour, until'} <Instant at={at} />. The service has no copy.{' '}
          {isTaken ? 'If you lost the file' : 'To get others'}, <LostKeys run={run} />: they work until the first
          reading with a new key. Then revoke the new keys of this rotation.
        </p>
        {isTaken ? <NextSteps /> : null}
      </section>
    )
  }
  if (newKeys === 0) return ''
  return (
    <section class="card key-once" aria-labelledby="new-title">
      <h2
        id="new-title"
        safe
      >{`Download the ${countOf(newKeys, 'new key', 'new keys')} now: you get the file only once`}</h2>
      <p>
        The service does not store the new keys: they wait here for an hour, and a restart loses them. If you lose them,
        rotate the old keys again: they work until the first reading with a new key. The button works once. To see that
        the file was taken, reload this page.
      </p>
      {isAdmin(shell) ? (
        <form method="post" action={paths.keysChange(run.id)} data-download="">
          <Csrf token={shell.csrf} />
          <div class="form-end">
            <button type="submit" name="format" value="csv">
              Download as CSV
            </button>
            <button type="submit" name="format" value="json" class="secondary">
              Download as JSON
            </button>
          </div>
        </form>
      ) : (
        <p>Only an admin can download them, and you are not an admin any more.</p>
      )}
      <NextSteps />
    </section>
  )
}

const LostKeys = ({ run }: Pick<Props, 'run'>): JSX.Element =>
  run.again === null ? 'rotate the old keys again' : <a href={attribute(run.again)}>rotate the old keys again</a>

const NextSteps = (): JSX.Element => (
  <p>
    Next: give each device its new key, then{' '}
    <a href={attribute(paths.allKeys({ rotation: true, status: 'all' }))}>see which rotations go on</a>.
  </p>
)

const outcomeOf = ({ changed, same, gone, change }: ChangeRunView): string =>
  [
    ...(changed === 0 ? [] : [inForce[change]]),
    ...(same === 0 ? [] : [`Already ${pastWords[change]}: ${countOf(same, 'key', 'keys')}.`]),
    ...(gone === 0 ? [] : [`No longer in the list, so not changed: ${countOf(gone, 'key', 'keys')}.`]),
  ].join(' ')

const titleOf = ({ change, count, changed, ended }: ChangeRunView): string => {
  if (ended === null) return `${running[change]} ${countOf(count, 'key', 'keys')}`
  const keys =
    changed === count ? countOf(count, 'key', 'keys') : `${countText(changed)} of ${countOf(count, 'key', 'keys')}`
  return `${keys} ${pastWords[change]}`
}

const running: Readonly<Record<SeveralChange, string>> = {
  suspend: 'Suspending',
  resume: 'Resuming',
  revoke: 'Revoking',
  expiry: 'Setting the expiry of',
  limit: 'Setting the limit of',
  rotate: 'Rotating',
  retire: 'Retiring',
}

const pastWords: Readonly<Record<SeveralChange, string>> = {
  suspend: 'suspended',
  resume: 'resumed',
  revoke: 'revoked',
  expiry: 'with the new expiry',
  limit: 'with the new limit',
  rotate: 'rotated',
  retire: 'retired',
}

const inForce: Readonly<Record<SeveralChange, string>> = {
  suspend: 'Every node refuses their readings until you resume the keys.',
  resume: 'Their readings are accepted again.',
  revoke: 'Every node refuses their readings now.',
  expiry: 'The new expiry is in force.',
  limit: 'The new limit is in force.',
  rotate: 'Each has a new key. Until the first reading with it, nothing changes for the old key.',
  retire: 'Every node refuses their readings now. To undo this, set a later expiry.',
}

const whyLeft: Readonly<Record<NonNullable<ChangeRunView['ended']>['why'], string>> = {
  all_tried: 'They came to the list after you had confirmed it. They are as they were.',
  session_ended: 'Your session ended, or your role changed, before these keys had their turn. They are as they were.',
  log_away: 'The event log failed before these keys had their turn. They are as they were.',
  bug: 'The service has a bug, which its log lines show. These keys did not have their turn.',
}

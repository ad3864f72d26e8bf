import type { Limit } from '../../src/domain/events.ts'
import { StatusPill } from '../keys/key-status.tsx'
import { attribute, Name } from '../parts/name.tsx'
import { PageLinks } from '../parts/page-links.tsx'
import { countOf, limitText } from '../parts/quantity.ts'
import { type Column, Table } from '../parts/table.tsx'
import { ExactInstant } from '../parts/time.tsx'
import { TimeForm } from '../parts/time-form.tsx'
import { isoText } from '../parts/time-words.ts'
import { paths } from '../paths.ts'
import type { CellarThen, CellarView, KeyRowThen, Shell } from '../types.ts'
import { CellarFrame } from './cellar-frame.tsx'
import { CellarFacts } from './settings-page.tsx'
import { UnitsCard } from './units.tsx'

export const CellarThenPage = (props: {
  readonly shell: Shell
  readonly cellar: CellarView
  /** `null` without an answer. */
  readonly answer: CellarThen | null
  readonly refused: { readonly typed: string; readonly rule: string } | null
  readonly defaultLimit: Limit
}): JSX.Element => (
  <CellarFrame shell={props.shell} cellar={props.cellar} tab="settings" title="At a certain time">
    <section class="card" aria-labelledby="cellar-at-title">
      <h2 id="cellar-at-title">Settings and keys at a certain time</h2>
      <TimeForm
        action={paths.cellarThen(props.cellar.cellar)}
        at={props.answer?.at ?? null}
        refused={props.refused}
        nowMs={props.shell.nowMs}
      />
    </section>
    {props.answer === null ? null : (
      <Then cellar={props.cellar.cellar} answer={props.answer} defaultLimit={props.defaultLimit} />
    )}
  </CellarFrame>
)

type ThenProps = { readonly cellar: string; readonly answer: CellarThen; readonly defaultLimit: Limit }

const Then = ({ cellar, answer, defaultLimit }: ThenProps): JSX.Element => (
  <>
    <p>
      <Existence answer={answer} />{' '}
      <a href={attribute(paths.cellarThen(cellar, isoText(answer.at)))}>Permanent link to this answer</a>
    </p>
    {answer.cellar === null ? null : (
      <div class="columns">
        <div>
          <CellarFacts cellar={answer.cellar} defaultLimit={defaultLimit} title="Settings then" />
        </div>
        <div>
          <UnitsCard title="Units then" cellar={answer.cellar} csrf={null} />
        </div>
      </div>
    )}
    {answer.keys.length === 0 ? null : (
      <>
        <CutOff answer={answer} />
        <Table
          room="wider"
          rows={answer.keys}
          columns={columnsOf(answer.at, answer.isKnown ? (answer.cellar?.policy.limit ?? defaultLimit) : null)}
        />
      </>
    )}
    <PageLinks
      page={answer.page}
      pages={answer.pages}
      hrefOf={(page) => paths.cellarThen(cellar, isoText(answer.at), page)}
      words={{ before: 'Newer keys', behind: 'Older keys' }}
    />
  </>
)

const Existence = ({ answer }: { readonly answer: CellarThen }): JSX.Element => {
  if (!answer.isKnown) {
    return (
      <>
        The settings at <ExactInstant at={answer.at} /> are not known: this cellar has too many events to read.
      </>
    )
  }
  if (answer.cellar === null) {
    return (
      <>
        This cellar did not exist at <ExactInstant at={answer.at} />.
      </>
    )
  }
  return (
    <>
      At <ExactInstant at={answer.at} />, this cellar was called{' '}
      <strong>
        <Name text={answer.cellar.title} />
      </strong>{' '}
      and had <span safe>{countOf(answer.all, 'key', 'keys')}</span>.
    </>
  )
}

/** Each row links to the page of its key, which reads this key alone. */
const CutOff = ({ answer }: { readonly answer: CellarThen }): JSX.Element => {
  const unread = answer.keys.filter(({ state }) => state === null).length
  if (!answer.isCutOff || unread === 0) return ''
  return (
    <p role="status">
      <span
        safe
      >{`Reading the keys took too long, so it stopped. ${countOf(unread, 'key is', 'keys are')} not known.`}</span>{' '}
      Follow the link of a key to see it as it was.
    </p>
  )
}

const columnsOf = (at: number, cellarLimit: Limit | null): readonly Column<KeyRowThen>[] => [
  {
    head: 'Key then',
    cell: ({ keyId, state }) => (
      <>
        <a class="row-name" href={paths.keyAt(keyId, isoText(at))}>
          <Name text={state?.label ?? keyId} />
        </a>
        <code class="under" safe>{`clr_${keyId}_…`}</code>
      </>
    ),
  },
  { head: 'Status then', cell: ({ state }) => (state === null ? <NotKnown /> : <StatusPill status={state.status} />) },
  {
    head: 'Limit then',
    cell: ({ state }) => {
      const limit = state?.ownLimit ?? cellarLimit
      return (
        <>
          <span safe>{state === null || limit === null ? 'Not known' : limitText(limit)}</span>
          {state !== null && state.ownLimit === null ? <span class="under">the cellar’s limit</span> : null}
        </>
      )
    },
  },
  {
    head: 'Expiry then',
    cell: ({ state }) => {
      if (state === null) return <NotKnown />
      return state.expiresAt === null ? <span>Never</span> : <ExactInstant at={state.expiresAt} />
    },
  },
]

const NotKnown = (): JSX.Element => <span class="quiet">Not known</span>

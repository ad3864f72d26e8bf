import type { KeyStatus } from '../../src/domain/key-refusal.ts'
import { CellarFrame } from '../cellars/cellar-frame.tsx'
import { ReadingSnippets } from '../cellars/reading-snippets.tsx'
import type { Snippet } from '../cellars/snippets.ts'
import { ExportForm } from '../exports/export-form.tsx'
import { ActionLink } from '../parts/action-link.tsx'
import { ByWhom } from '../parts/by.tsx'
import { Live } from '../parts/live.tsx'
import { UsageMeter } from '../parts/meter.tsx'
import { Name } from '../parts/name.tsx'
import { NavLinks } from '../parts/nav-links.tsx'
import { PageLinks } from '../parts/page-links.tsx'
import { limitText } from '../parts/quantity.ts'
import { actionsColumn, type Column, Table } from '../parts/table.tsx'
import { Ago, AgoOrNever, Day, Instant } from '../parts/time.tsx'
import { paths } from '../paths.ts'
import type { CellarView, KeyCounts, KeyView, Shell } from '../types.ts'
import { PendingEnd } from './rotation-state.tsx'

type ListProps = {
  readonly cellar: string
  readonly status: KeyStatus
  readonly counts: KeyCounts
  /** Newest first. */
  readonly keys: readonly KeyView[]
  /** From 1. */
  readonly page: number
  readonly pages: number
  readonly nowMs: number
  readonly isAdmin: boolean
}

export const KeysPage = (props: {
  readonly shell: Shell
  readonly cellar: CellarView
  readonly status: KeyStatus
  readonly counts: KeyCounts
  readonly keys: readonly KeyView[]
  readonly page: number
  readonly pages: number
  readonly baseUrl: string
}): JSX.Element => {
  const isAdmin = props.shell.operator?.role === 'admin'
  const { cellar } = props.cellar
  return (
    <CellarFrame shell={props.shell} cellar={props.cellar} tab="keys" title="API Keys">
      {isAdmin ? (
        <p class="toolbar">
          <a class="button" href={paths.newKey(cellar)}>
            Create New Key
          </a>
        </p>
      ) : null}
      <Live from={paths.liveKeys(cellar, props.status, props.page)} target="#key-list">
        <KeyList
          cellar={cellar}
          status={props.status}
          counts={props.counts}
          keys={props.keys}
          page={props.page}
          pages={props.pages}
          nowMs={props.shell.nowMs}
          isAdmin={isAdmin}
        />
      </Live>
      <ExportForm shell={props.shell} lists={['keys']} filter={{ cellar }} fields={[]} />
      <HowToSend snippet={{ baseUrl: props.baseUrl, cellar }} />
    </CellarFrame>
  )
}

/** Stays on the page, because devices can be added months later. */
const HowToSend = (props: { readonly snippet: Snippet }): JSX.Element => (
  <details class="card">
    <summary>How to send a reading</summary>
    <p>
      First, set the environment variable <code>CELLARBOOK_KEY</code> to an API key of this cellar.
    </p>
    <ReadingSnippets snippet={props.snippet} checkLabel="In a shell, check a reading first. This stores nothing:" />
  </details>
)

export const KeyList = (props: ListProps): JSX.Element => (
  <section id="key-list" aria-label={`Keys: ${props.status}`}>
    <StatusTabs {...props} />
    {props.keys.length === 0 ? (
      <NoKeys {...props} />
    ) : (
      <Table
        class="keys"
        room="widest"
        rows={props.keys}
        frameOf={({ keyId }) => ({ id: `key-${keyId}` })}
        columns={columnsOf(props)}
      />
    )}
    <PageLinks
      page={props.page}
      pages={props.pages}
      hrefOf={(page) => paths.keys(props.cellar, props.status, page)}
      words={{ before: 'Newer keys', behind: 'Older keys' }}
    />
  </section>
)

const tabs: readonly (readonly [status: KeyStatus, words: string])[] = [
  ['active', 'Active'],
  ['expired', 'Expired'],
  ['suspended', 'Suspended'],
  ['revoked', 'Revoked'],
]

const StatusTabs = ({ cellar, status, counts }: ListProps): JSX.Element => (
  <NavLinks
    class="filters"
    label="Keys by status"
    links={tabs.map(([tab, words]) => ({
      words,
      href: paths.keys(cellar, tab),
      isCurrent: tab === status,
      count: counts[tab],
    }))}
  />
)

const NoKeys = (props: ListProps): JSX.Element => {
  const none = Object.values(props.counts).every((count) => count === 0)
  if (!none) {
    return (
      <div class="empty small">
        <p safe>{`This cellar has no ${props.status} keys.`}</p>
      </div>
    )
  }
  return (
    <div class="empty">
      <h2>No keys yet</h2>
      <p>
        To send readings to this cellar, a device needs an API key. Create one key for each application. Then you can
        revoke one key without stopping the others.
      </p>
      {props.isAdmin ? (
        <a class="button" href={paths.newKey(props.cellar)}>
          Create the first key
        </a>
      ) : (
        <p class="quiet">Ask an admin to create one. It will appear here.</p>
      )}
    </div>
  )
}

const columnsOf = ({ status, nowMs, isAdmin }: ListProps): readonly (Column<KeyView> | null)[] => [
  {
    head: 'Key',
    cell: ({ keyId, label }) => (
      <>
        <a class="row-name" href={paths.key(keyId)}>
          <Name text={label} />
        </a>
        <code class="under" safe>{`clr_${keyId}_…`}</code>
      </>
    ),
  },
  { head: 'Created', cell: ({ created }) => <Day at={created.at} /> },
  { head: 'Last used', cell: ({ lastUsedAt }) => <AgoOrNever at={lastUsedAt} nowMs={nowMs} /> },
  {
    head: 'Usage',
    cell: ({ used, limit }) =>
      status === 'active' ? (
        <UsageMeter used={used} limit={limit} />
      ) : (
        <span class="quiet" safe>{`limit ${limitText(limit)}`}</span>
      ),
  },
  { head: 'Last refusal', cell: ({ lastRefusal }) => <LastRefusal refusal={lastRefusal} nowMs={nowMs} /> },
  {
    head: status === 'revoked' ? 'Revoked' : status === 'suspended' ? 'Suspended' : 'Expires',
    cell: (key) => <Ending apiKey={key} nowMs={nowMs} />,
  },
  isAdmin && status !== 'revoked' ? actionsColumn((key) => <KeyActions apiKey={key} />) : null,
]

export const LastRefusal = (props: {
  readonly refusal: KeyView['lastRefusal']
  readonly nowMs: number
}): JSX.Element =>
  props.refusal === null ? (
    <span class="quiet">None</span>
  ) : (
    <span class="refusal">
      <code safe>{props.refusal.code}</code> <Ago at={props.refusal.at} nowMs={props.nowMs} />
      {props.refusal.isCost ? (
        <span class="under" safe>
          {costWords(props.refusal.cause)}
        </span>
      ) : null}
    </span>
  )

const costWords = (cause: string | null): string =>
  `too many requests that stored nothing${cause === null ? '' : `; last error: ${cause}`}`

const Ending = (props: { readonly apiKey: KeyView; readonly nowMs: number }): JSX.Element => {
  const { apiKey: key } = props
  const attribution = key.revoked ?? key.suspended
  if (attribution !== null) {
    return (
      <span class="ending">
        <Instant at={attribution.at} />
        <span class="under">
          by <ByWhom by={attribution.by} />
        </span>
        {attribution.reason === '' ? null : (
          <q>
            <Name text={attribution.reason} />
          </q>
        )}
      </span>
    )
  }
  return (
    <span class="ending">
      {key.expiresAt === null ? (
        <span class="quiet">Never</span>
      ) : (
        <>
          <Instant at={key.expiresAt} />
          <span class="under">
            <Ago at={key.expiresAt} nowMs={props.nowMs} />
          </span>
        </>
      )}
      <PendingEnd apiKey={key} />
    </span>
  )
}

export const KeyActions = (props: { readonly apiKey: KeyView }): JSX.Element => {
  const { keyId, label, status } = props.apiKey
  return (
    <ul class="action-list">
      {status === 'suspended' ? (
        <ActionLink href={paths.resumeKey(keyId)} verb="Resume" of={label} />
      ) : (
        <ActionLink href={paths.suspendKey(keyId)} verb="Suspend" of={label} />
      )}
      <ActionLink href={paths.revokeKey(keyId)} verb="Revoke" of={label} isDangerous />
    </ul>
  )
}

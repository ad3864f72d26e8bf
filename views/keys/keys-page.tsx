import { CellarFrame } from '../cellars/cellar-frame.tsx'
import { ReadingSnippets } from '../cellars/reading-snippets.tsx'
import type { Snippet } from '../cellars/snippets.ts'
import { ExportForm } from '../exports/export-form.tsx'
import { Layout } from '../frame/layout.tsx'
import { Live, LiveSwitch } from '../parts/live.tsx'
import { attribute } from '../parts/name.tsx'
import { PageLinks } from '../parts/page-links.tsx'
import { countOf } from '../parts/quantity.ts'
import { Table } from '../parts/table.tsx'
import { paths } from '../paths.ts'
import type { CellarView, Shell } from '../types.ts'
import { ChangeBar, Found } from './change-bar.tsx'
import { FilterLinks, isFiltered, KeyBox, noFilter, OrderLinks, StatusLinks } from './key-filters.tsx'
import type { KeyListView } from './key-list-types.ts'
import { keyColumns, type ListProps, listHref } from './key-rows.tsx'

type PageProps = {
  readonly shell: Shell
  readonly list: KeyListView
  readonly typed: string
}

export const KeysPage = (props: PageProps & { readonly cellar: CellarView; readonly baseUrl: string }): JSX.Element => {
  const { cellar } = props.cellar
  return (
    <CellarFrame shell={props.shell} cellar={props.cellar} tab="keys" title="API Keys">
      <Keys {...props} cellar={cellar} />
      <ExportForm shell={props.shell} lists={['keys']} filter={{ cellar }} fields={[]} />
      <HowToSend snippet={{ baseUrl: props.baseUrl, cellar }} />
    </CellarFrame>
  )
}

/** Of all cellars. */
export const AllKeysPage = (props: PageProps): JSX.Element => (
  <Layout shell={props.shell} title="API Keys" section="keys">
    <h1>API Keys</h1>
    <p class="lead">The keys of all cellars.</p>
    <Keys {...props} cellar={null} />
    <ExportForm shell={props.shell} lists={['keys']} filter={{}} fields={[]} />
  </Layout>
)

const Keys = ({ shell, list, typed, cellar }: PageProps & { readonly cellar: string | null }): JSX.Element => {
  const isAdmin = shell.operator?.role === 'admin'
  const props = { list, cellar, nowMs: shell.nowMs, isAdmin }
  return (
    <>
      <div class="key-tools">
        {list.all === 0 ? null : <KeyBox {...props} typed={typed} csrf={shell.csrf} />}
        {isAdmin && cellar !== null && list.all > 0 ? (
          <a class="button" href={paths.newKey(cellar)}>
            Create New Key
          </a>
        ) : null}
      </div>
      <div id="keys-now">
        <Live
          from={cellar === null ? paths.liveAllKeys(list.query) : paths.liveKeys(cellar, list.query)}
          target="#key-list"
          isPaused={list.query.isPaused}
        >
          <KeyList {...props} />
        </Live>
      </div>
    </>
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

export const KeyList = (props: ListProps): JSX.Element => {
  const { list } = props
  if (list.all === 0) {
    return (
      <section id="key-list" aria-label="API keys">
        <FirstKey {...props} />
      </section>
    )
  }
  return (
    <section id="key-list" aria-label="API keys">
      <div class="log-choices">
        <StatusLinks {...props} />
        <p class="list-actions">
          <LiveSwitch
            isPaused={list.query.isPaused}
            href={listHref(props, { page: list.query.page, isPaused: !list.query.isPaused })}
          />
        </p>
      </div>
      <FilterLinks {...props} />
      <OrderLinks {...props} />
      {list.isBehind ? (
        <p class="index-note" role="status">
          The latest requests are still being counted, so{' '}
          {list.mayLack ? 'keys can be missing in this list.' : 'bars and limits can be too low.'}
        </p>
      ) : null}
      {list.keys.length === 0 ? <NoKeys {...props} /> : <Rows {...props} />}
      <PageLinks
        page={list.query.page}
        pages={list.pages}
        hrefOf={(page) => listHref(props, { page })}
        words={{ before: 'Previous keys', behind: 'Next keys' }}
      />
    </section>
  )
}

/** An update waits while the pointer or the focus is in the rows, or while some are selected (`app.js`). */
const Rows = (props: ListProps): JSX.Element =>
  props.isAdmin && props.list.query.status !== 'revoked' ? (
    <form class="key-rows" method="get" action={paths.changeKeys} data-hold="">
      <ChangeBar {...props} />
      <KeyTable {...props} />
    </form>
  ) : (
    <div data-hold="">
      <p class="change-bar">
        <Found {...props} />
      </p>
      <KeyTable {...props} />
    </div>
  )

const KeyTable = (props: ListProps): JSX.Element => (
  <Table
    class="keys"
    room="widest"
    rows={props.list.keys}
    frameOf={({ keyId }) => ({ id: `key-${keyId}` })}
    columns={keyColumns(props)}
  />
)

const NoKeys = (props: ListProps): JSX.Element => {
  const { query, counts } = props.list
  const others = counts.all - (query.status === 'all' ? 0 : counts[query.status])
  return (
    <div class="empty small">
      <p>
        <span safe>{noKeysWords(props)}</span>{' '}
        {others === 0 ? null : (
          <a href={attribute(listHref(props, { status: 'all' }))} safe>
            {`Show ${countOf(others, 'key', 'keys')} with another status`}
          </a>
        )}{' '}
        {isFiltered(query) ? <a href={attribute(listHref(props, noFilter))}>Show all</a> : null}
      </p>
    </div>
  )
}

const noKeysWords = ({ list: { query, mayLack }, cellar }: ListProps): string => {
  if (query.rotation && !isFiltered({ ...query, rotation: false }))
    return 'No rotation goes on: each old key has stopped.'
  const status = query.status === 'all' ? '' : `${query.status} `
  if (isFiltered(query)) return mayLack ? `No ${status}key was found yet.` : `No ${status}key matches.`
  return cellar === null ? `There are no ${status}keys.` : `This cellar has no ${status}keys.`
}

const FirstKey = (props: ListProps): JSX.Element => (
  <div class="empty">
    <h2>No keys yet</h2>
    <p>
      To send readings to {props.cellar === null ? 'a cellar' : 'this cellar'}, a device needs an API key. Create one
      key for each application. Then you can revoke one key without stopping the others.
    </p>
    {props.cellar === null ? (
      <a href={paths.cellars}>Go to the cellars</a>
    ) : props.isAdmin ? (
      <a class="button" href={paths.newKey(props.cellar)}>
        Create the first key
      </a>
    ) : (
      <p class="quiet">Ask an admin to create one. It will appear here.</p>
    )}
  </div>
)

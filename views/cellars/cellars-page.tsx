import { Layout } from '../frame/layout.tsx'
import { SearchBox } from '../parts/ask-form.tsx'
import { Live } from '../parts/live.tsx'
import { Name } from '../parts/name.tsx'
import { PageLinks } from '../parts/page-links.tsx'
import { countOf, countText } from '../parts/quantity.ts'
import { type Column, Count, Table } from '../parts/table.tsx'
import { AgoOrNever } from '../parts/time.tsx'
import { paths } from '../paths.ts'
import type { CellarRow, Shell } from '../types.ts'

type ListProps = {
  readonly cellars: readonly CellarRow[]
  /** From 1. */
  readonly page: number
  readonly pages: number
  /** Words of a search. Blank: all are shown. */
  readonly find: string
  /** On all pages. */
  readonly found: number
  /** Without a search. */
  readonly all: number
}

/** So many are seen at one glance. */
const seenAtOnce = 10

type PageProps = ListProps & { readonly typed: string; readonly shell: Shell }

export const CellarsPage = (props: PageProps): JSX.Element => {
  const isAdmin = props.shell.operator?.role === 'admin'
  return (
    <Layout shell={props.shell} title="Cellars" section="cellars">
      <div class="heading with-action">
        <h1>Cellars</h1>
        {isAdmin && props.all > 0 ? (
          <a class="button" href={paths.newCellar}>
            Create cellar
          </a>
        ) : null}
      </div>
      {props.all > seenAtOnce || props.find !== '' ? (
        <SearchBox
          action={paths.findCellars}
          token={props.shell.csrf}
          class="ask toolbar"
          name="find"
          label="Find cellars"
          typed={props.typed}
          placeholder="Title or identifier"
          isSecondary
          asTyped="#cellars"
          showAll={props.find === '' ? undefined : paths.cellars}
        />
      ) : null}
      <div id="cellars">
        <Live from={paths.liveCellars(props.page, props.find)} target="#cellar-list">
          <CellarList {...props} nowMs={props.shell.nowMs} isAdmin={isAdmin} />
        </Live>
      </div>
    </Layout>
  )
}

export const CellarList = (props: ListProps & { readonly nowMs: number; readonly isAdmin: boolean }): JSX.Element => (
  <section id="cellar-list" aria-label="Cellars">
    {props.find === '' ? null : (
      <p
        class="quiet"
        role="status"
        safe
      >{`${countText(props.found)} of ${countOf(props.all, 'cellar', 'cellars')}`}</p>
    )}
    {props.cellars.length === 0 && props.find !== '' ? (
      <div class="empty small">
        <p>No cellar has this title or identifier.</p>
      </div>
    ) : props.cellars.length === 0 ? (
      <FirstSteps isAdmin={props.isAdmin} />
    ) : (
      <>
        <Table class="cellar-rows" rows={props.cellars} columns={columnsAt(props.nowMs)} />
        <p class="list-note quiet">Recent readings count towards the limits of their keys now.</p>
      </>
    )}
    <PageLinks
      page={props.page}
      pages={props.pages}
      hrefOf={(page) => paths.cellarsPage(page, props.find)}
      words={{ before: 'Previous cellars', behind: 'Next cellars' }}
    />
  </section>
)

const columnsAt = (nowMs: number): readonly Column<CellarRow>[] => [
  {
    head: 'Cellar',
    cell: ({ cellar, title }) => (
      <>
        <a class="row-name" href={paths.cellar(cellar)}>
          <Name text={title} />
        </a>
        <code class="under">
          <Name text={cellar} />
        </code>
      </>
    ),
  },
  {
    head: 'Active keys',
    isNumber: true,
    cell: ({ cellar, activeKeys, keys }) => (
      <a href={paths.keys(cellar)}>
        {activeKeys}
        <span class="quiet" safe>{` of ${keys}`}</span>
      </a>
    ),
  },
  { head: 'Readings', isNumber: true, cell: ({ accepted }) => <Count of={accepted} /> },
  {
    head: 'Recent',
    isNumber: true,
    cell: ({ lately }) => (lately === null ? <span>–</span> : <Count of={lately} />),
  },
  { head: 'Last reading', cell: ({ lastReadingAt }) => <AgoOrNever at={lastReadingAt} nowMs={nowMs} /> },
]

const FirstSteps = (props: { readonly isAdmin: boolean }): JSX.Element => (
  <div class="empty">
    <h2>No cellars yet</h2>
    <p>A cellar holds the readings of one project or use case, and the API keys that may send them.</p>
    <ol class="steps">
      <li>
        <b>Create a cellar.</b> You choose the identifier that your devices will send.
      </li>
      <li>
        <b>Copy its API key.</b> A cellar comes with its first key, which is shown only once.
      </li>
      <li>
        <b>Send a reading.</b> Paste the command that you get, and see the reading as soon as it arrives.
      </li>
    </ol>
    {props.isAdmin ? (
      <a class="button" href={paths.newCellar}>
        Create the first cellar
      </a>
    ) : (
      <p class="quiet">Ask an admin to create one. It will appear here.</p>
    )}
  </div>
)

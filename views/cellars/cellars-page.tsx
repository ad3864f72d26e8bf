import { Layout } from '../frame/layout.tsx'
import { Name } from '../parts/name.tsx'
import { PageLinks } from '../parts/page-links.tsx'
import { countText } from '../parts/quantity.ts'
import { AgoOrNever } from '../parts/time.tsx'
import { paths } from '../paths.ts'
import type { CellarRow, LogCheckView, Shell } from '../types.ts'
import { LogCheck } from './log-check.tsx'

type ListProps = {
  readonly cellars: readonly CellarRow[]
  /** From 1. */
  readonly page: number
  readonly pages: number
}

type PageProps = ListProps & {
  readonly shell: Shell
  /** `null`: EventStoreDB keeps the log, so this node does not check it. */
  readonly logCheck: LogCheckView | null
}

export const CellarsPage = (props: PageProps): JSX.Element => {
  const isAdmin = props.shell.operator?.role === 'admin'
  return (
    <Layout shell={props.shell} title="Cellars" section="cellars">
      <div class="heading with-action">
        <h1>Cellars</h1>
        {isAdmin && props.cellars.length > 0 ? (
          <a class="button" href={paths.newCellar}>
            Create cellar
          </a>
        ) : null}
      </div>
      <div
        hx-sse:connect={paths.liveCellars(props.page)}
        hx-sse:close="end"
        hx-target="#cellar-list"
        hx-swap="outerMorph"
      >
        <CellarList
          cellars={props.cellars}
          page={props.page}
          pages={props.pages}
          nowMs={props.shell.nowMs}
          isAdmin={isAdmin}
        />
      </div>
      {props.logCheck === null ? null : <LogCheck check={props.logCheck} nowMs={props.shell.nowMs} />}
    </Layout>
  )
}

export const CellarList = (props: ListProps & { readonly nowMs: number; readonly isAdmin: boolean }): JSX.Element => (
  <section id="cellar-list" aria-label="Cellars">
    {props.cellars.length === 0 ? (
      <FirstSteps isAdmin={props.isAdmin} />
    ) : (
      <div class="table-room">
        <table class="stack cellar-rows">
          <thead>
            <tr>
              <th scope="col">Cellar</th>
              <th scope="col" class="number">
                Active keys
              </th>
              <th scope="col" class="number">
                Readings
              </th>
              <th scope="col" class="number" title="Readings that count towards the limits of the keys now">
                Recent
              </th>
              <th scope="col">Last reading</th>
            </tr>
          </thead>
          <tbody>
            {props.cellars.map((row) => (
              <CellarLine row={row} nowMs={props.nowMs} />
            ))}
          </tbody>
        </table>
      </div>
    )}
    <PageLinks
      page={props.page}
      pages={props.pages}
      hrefOf={paths.cellarsPage}
      words={{ before: 'Previous cellars', behind: 'Next cellars' }}
    />
  </section>
)

const CellarLine = (props: { readonly row: CellarRow; readonly nowMs: number }): JSX.Element => {
  const { row } = props
  return (
    <tr>
      <th scope="row">
        <a class="row-name" href={paths.cellar(row.cellar)}>
          <Name text={row.title} />
        </a>
        <code class="under">
          <Name text={row.cellar} />
        </code>
      </th>
      <td class="number" data-label="Active keys">
        <a href={paths.keys(row.cellar)}>
          {row.activeKeys}
          <span class="quiet" safe>{` of ${row.keys}`}</span>
        </a>
      </td>
      <td class="number" data-label="Readings" safe>
        {countText(row.accepted)}
      </td>
      <td class="number" data-label="Recent" safe>
        {row.lately === null ? '–' : countText(row.lately)}
      </td>
      <td data-label="Last reading">
        <AgoOrNever at={row.lastReadingAt} nowMs={props.nowMs} />
      </td>
    </tr>
  )
}

const FirstSteps = (props: { readonly isAdmin: boolean }): JSX.Element => (
  <div class="empty">
    <h2>No cellars yet</h2>
    <p>A cellar holds the readings of one project or use case, and the API keys that may send them.</p>
    <ol class="steps">
      <li>
        <b>Create a cellar.</b> You choose the identifier that your devices will send.
      </li>
      <li>
        <b>Create an API key.</b> The key is shown only once: copy it to your device.
      </li>
      <li>
        <b>Send a reading.</b> You get a command to paste, and see the reading as soon as it arrives.
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

import type { ExportedListName } from '../../src/domain/events.ts'
import type { ListExport } from '../log/log-types.ts'
import { Csrf } from '../parts/field.tsx'
import { attribute } from '../parts/name.tsx'
import { paths } from '../paths.ts'
import type { Shell } from '../types.ts'

/** The list has its filter already, so the operator only chooses the format. */
export const ListExports = (props: { readonly shell: Shell; readonly exported: ListExport }): JSX.Element => {
  const { shell, exported } = props
  const { readings: _, ...filter } = exported.filter
  return (
    <section class="card export" id="export" aria-labelledby="export-title">
      <h2 id="export-title">
        Export <small>all pages of this list, with its filter</small>
      </h2>
      <ul class="list-exports">
        <FormatButtons shell={shell} {...exported} words={exported.list === 'readings' ? 'Readings' : 'Events'} />
        {hidesReadingsOfKey(exported) ? (
          <FormatButtons shell={shell} list="readings" filter={filter} words="Readings of the key" />
        ) : null}
      </ul>
      <p class="hint">
        Each export is recorded: who took it, the filter and the number of rows. In CSV, a text that a spreadsheet could
        run as a formula gets an apostrophe in front.
      </p>
    </section>
  )
}

/** People want readings of the same time too. A type or an actor leaves them out. */
const hidesReadingsOfKey = ({ filter }: ListExport): boolean =>
  filter.readings === 'no' && filter.key !== undefined && filter.actor === undefined

const FormatButtons = (
  props: ListExport & { readonly shell: Shell; readonly list: ExportedListName; readonly words: string },
): JSX.Element => {
  const { shell, list, filter, words } = props
  return (
    <li>
      <form method="post" action={paths.exports} data-download="">
        <Csrf token={shell.csrf} />
        <input type="hidden" name="list" value={list} />
        {Object.entries(filter).map(([name, value]) => (
          <input type="hidden" name={name} value={attribute(value)} autocomplete="off" />
        ))}
        <span class="list-words" safe>
          {words}
        </span>
        <button type="submit" class="secondary" name="format" value="ndjson">
          JSON lines<span class="visually-hidden" safe>{`: ${words}`}</span>
        </button>
        <button type="submit" class="secondary" name="format" value="csv">
          CSV<span class="visually-hidden" safe>{`: ${words}`}</span>
        </button>
      </form>
    </li>
  )
}

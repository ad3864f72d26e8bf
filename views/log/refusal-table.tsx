import { attribute, Name } from '../parts/name.tsx'
import { type Column, Count, Table } from '../parts/table.tsx'
import { paths } from '../paths.ts'
import type { RefusalCount, RefusalsToday } from './log-types.ts'

/** Of today, most first. Nothing if nothing was refused. */
export const RefusalTable = (props: { readonly cellar: string; readonly refusals: RefusalsToday }): JSX.Element => {
  const { counts, isLate } = props.refusals
  if (counts.length === 0 && !isLate) return ''
  return (
    <section aria-labelledby="refusals-title">
      <h2 id="refusals-title">
        Refused today <small>of all nodes, by key and reason, in UTC</small>
      </h2>
      {isLate ? (
        <p class="index-note" role="status">
          Not all refusals are counted yet. Reload this page to see more.
        </p>
      ) : null}
      <Table isHidden={counts.length === 0} rows={counts} columns={columns} />
      <p class="under-table">
        <a href={attribute(paths.log({ cellar: props.cellar, kind: 'refusals' }))}>All refusals of this cellar</a>
      </p>
    </section>
  )
}

const columns: readonly Column<RefusalCount>[] = [
  {
    head: 'Key',
    cell: ({ keyId, label }) => (
      <a href={attribute(paths.key(keyId))}>
        <Name text={label} />
      </a>
    ),
  },
  {
    head: 'Reason',
    cell: ({ words, code }) => (
      <span>
        <Name text={words} /> <code safe>{code}</code>
      </span>
    ),
  },
  { head: 'Refusals', isNumber: true, class: 'value', cell: ({ count }) => <Count of={count} /> },
  {
    head: 'Explanation',
    isHeadHidden: true,
    cell: ({ href, words, label }) => (
      <a href={attribute(href)}>
        Why?
        <Name class="visually-hidden" text={` ${words}, of ${label}`} />
      </a>
    ),
  },
]

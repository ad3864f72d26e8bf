import { escapeHtml } from '@kitajs/html'
import { attribute } from './name.tsx'
import { countText } from './quantity.ts'

/** A table with these columns. On narrow screens, each row is a card, and `head` is the label of its cell there. */
export type Column<Row> = {
  readonly head: string
  /** The head is a link that sorts by this column. `direction` is `null` if the table is not sorted by it. */
  readonly sort?: { readonly href: string; readonly direction: 'ascending' | 'descending' | null }
  /** Explains the head. */
  readonly title?: string
  readonly cell: (row: Row) => JSX.Element
  readonly class?: string
  readonly isNumber?: boolean
  /** Only screen readers get the head, and cards have no label. */
  readonly isHeadHidden?: boolean
  /** Cards have no label for this column. */
  readonly isUnlabelled?: boolean
  /** A card leaves such a cell out. */
  readonly isEmpty?: (row: Row) => boolean
}

type Section<Row> = {
  readonly id?: string
  readonly class: string
  readonly heading: () => JSX.Element
  readonly rows: readonly Row[]
}
type RowFrame = { readonly id?: string; readonly class?: string; readonly whole?: () => JSX.Element }

type TableProps<Row> = {
  /** `null`: the reader does not see this column. */
  readonly columns: readonly (Column<Row> | null)[]
  /** The first cell of a row is its heading. */
  readonly hasRowHeadings?: boolean
  readonly class?: string
  readonly room?: 'wider' | 'widest'
  readonly isHidden?: boolean
  /** A row with `whole` has one cell, instead of the columns. */
  readonly frameOf?: (row: Row) => RowFrame
} & ({ readonly rows: readonly Row[] } | { readonly sections: readonly Section<Row>[] })

export const Table = <Row,>(props: TableProps<Row>): JSX.Element => {
  const columns = props.columns.filter((column) => column !== null)
  const linesOf = (rows: readonly Row[]) => rows.map((row) => <Line {...props} columns={columns} row={row} />)
  return (
    <div class={classes('table-room', props.room)} hidden={props.isHidden}>
      <table class={classes('stack', props.class)}>
        <thead>
          <tr>
            {columns.map(({ head, title, isNumber, isHeadHidden, sort }) =>
              sort !== undefined ? (
                <th scope="col" class={isNumber ? 'number' : undefined} aria-sort={sort.direction ?? undefined}>
                  <a href={attribute(sort.href)} title={title} safe>
                    {head}
                  </a>
                </th>
              ) : isHeadHidden ? (
                <th scope="col">
                  <span class="visually-hidden" safe>
                    {head}
                  </span>
                </th>
              ) : (
                <th scope="col" class={isNumber ? 'number' : undefined} title={title} safe>
                  {head}
                </th>
              ),
            )}
          </tr>
        </thead>
        {'rows' in props ? (
          <tbody>{linesOf(props.rows)}</tbody>
        ) : (
          props.sections.map(({ heading, rows, ...frame }) => (
            <tbody>
              <tr {...frame}>
                <th colspan={columns.length} scope="rowgroup">
                  {heading()}
                </th>
              </tr>
              {linesOf(rows)}
            </tbody>
          ))
        )}
      </table>
    </div>
  )
}

type LineProps<Row> = Pick<TableProps<Row>, 'hasRowHeadings' | 'frameOf'> & {
  readonly columns: readonly Column<Row>[]
  readonly row: Row
}

const Line = <Row,>({ columns, row, hasRowHeadings = true, frameOf }: LineProps<Row>): JSX.Element => {
  const frame = frameOf?.(row) ?? {}
  return (
    <tr id={frame.id} class={frame.class}>
      {frame.whole === undefined ? (
        columns.map((column, at) =>
          hasRowHeadings && at === 0 ? <th scope="row">{column.cell(row)}</th> : <Cell column={column} row={row} />,
        )
      ) : (
        <td colspan={columns.length}>{frame.whole()}</td>
      )}
    </tr>
  )
}

const Cell = <Row,>({ column, row }: { readonly column: Column<Row>; readonly row: Row }): JSX.Element => (
  <td
    class={classes(column.isNumber && 'number', column.class, column.isEmpty?.(row) && 'nothing')}
    data-label={column.isHeadHidden || column.isUnlabelled ? undefined : column.head}
  >
    {column.cell(row)}
  </td>
)

const classes = (...names: readonly (string | false | undefined)[]): string | undefined =>
  names.filter(Boolean).join(' ') || undefined

export const Count = (props: { readonly of: number }): JSX.Element => escapeHtml(countText(props.of))

export const actionsColumn = <Row,>(cell: Column<Row>['cell']): Column<Row> => ({
  head: 'Actions',
  isHeadHidden: true,
  class: 'actions',
  cell,
})

/** Checks the whole file of `ask.db` in small steps. */
import { Database } from 'bun:sqlite'
import { checksumOf } from '../../bytes/checksum.ts'
import { askCheckedRowsPerStep, askReaderCacheKib, storeBusyMsMax } from '../../limits.ts'
import { AskUnusable } from '../ask-index.ts'
import { emptyTotal, type RowsTotal, totalWith } from '../rows-total.ts'
import { type AskTable, type AskTotals, readAskHead } from './ask-head.ts'
import {
  type HourCountRow,
  hourCountChecksum,
  type MinuteCountRow,
  type MinuteRow,
  minuteChecksum,
  minuteCountChecksum,
  type NameRow,
  nameChecksum,
  type PlaceRow,
  placeChecksum,
  type SeenRow,
  seenChecksum,
} from './ask-rows.ts'
import { acceptedCode } from './ask-schema.ts'

type Row = { readonly [column: string]: string | number | null; readonly checksum: number }

type CheckedIndex<Of extends Row> = {
  readonly name: string
  /** Also the columns that SQLite adds to each entry: those of the primary key. */
  readonly columns: readonly (keyof Of & string)[]
  /** Only for an index that leaves out rows. */
  readonly part?: { readonly where: string; readonly has: (row: Of) => boolean }
}

type CheckedTable<Of extends Row> = {
  readonly name: AskTable
  readonly key: readonly (keyof Of & string)[]
  readonly checksum: (row: Of) => number
  readonly indexes: readonly CheckedIndex<Of>[]
}

const unless = <Of extends Row>(column: keyof Of & string): NonNullable<CheckedIndex<Of>['part']> => ({
  where: `${column} IS NOT NULL`,
  has: (row) => row[column] !== null,
})

const names: CheckedTable<NameRow> = {
  name: 'names',
  key: ['id'],
  checksum: nameChecksum,
  indexes: [{ name: 'names_of_text', columns: ['name', 'id'] }],
}
const places: CheckedTable<PlaceRow> = {
  name: 'places',
  key: ['position'],
  checksum: placeChecksum,
  indexes: [
    { name: 'places_of_kind', columns: ['kind', 'position'] },
    { name: 'places_of_type', columns: ['type', 'position'] },
    { name: 'places_of_actor', columns: ['actor', 'type', 'position'] },
    { name: 'places_of_key', columns: ['key', 'type', 'position'], part: unless('key') },
    { name: 'places_of_cellar', columns: ['cellar', 'type', 'position'], part: unless('cellar') },
    { name: 'places_of_actor_in_cellar', columns: ['actor', 'cellar', 'type', 'position'], part: unless('cellar') },
    { name: 'places_of_stream', columns: ['stream', 'revision', 'position'] },
    { name: 'places_of_event', columns: ['event_number', 'position'] },
    { name: 'places_of_request', columns: ['request_number', 'position'], part: unless('request_number') },
  ],
}
const minutes: CheckedTable<MinuteRow> = { name: 'minutes', key: ['minute'], checksum: minuteChecksum, indexes: [] }
const minuteCounts: CheckedTable<MinuteCountRow> = {
  name: 'minute_counts',
  key: ['cellar', 'minute', 'code'],
  checksum: minuteCountChecksum,
  indexes: [],
}
const hourCounts: CheckedTable<HourCountRow> = {
  name: 'hour_counts',
  key: ['key', 'hour', 'code'],
  checksum: hourCountChecksum,
  indexes: [
    {
      name: 'refusals_of_cellar',
      columns: ['cellar', 'hour', 'key', 'code'],
      part: { where: `code <> ${acceptedCode}`, has: ({ code }) => code !== acceptedCode },
    },
  ],
}
const seen: CheckedTable<SeenRow> = { name: 'seen', key: ['key', 'rack'], checksum: seenChecksum, indexes: [] }

/**
 * Reads all rows and all indexes, as they were at the first step. The transaction of the check keeps SQLite from emptying its
 * write-ahead log. That costs little, because a check takes seconds and few changes are written meanwhile.
 * @throws AskUnusable if the file is damaged
 * @throws SQLiteError
 */
export function* checkAskFile(path: string): Generator<void> {
  using database = new Database(path, { readonly: true })
  database.run(`PRAGMA busy_timeout = ${storeBusyMsMax}`)
  database.run(`PRAGMA cache_size = -${askReaderCacheKib}`)
  database.run('BEGIN')
  const { totals } = readAskHead(database)
  const found = String(database.query('PRAGMA quick_check(1)').values()[0]?.[0])
  if (found !== 'ok') throw new AskUnusable(found)
  yield
  yield* checkTable(database, names, totals)
  yield* checkTable(database, places, totals)
  yield* checkTable(database, minutes, totals)
  yield* checkTable(database, minuteCounts, totals)
  yield* checkTable(database, hourCounts, totals)
  yield* checkTable(database, seen, totals)
}

function* checkTable<Of extends Row>(database: Database, table: CheckedTable<Of>, totals: AskTotals): Generator<void> {
  const { name, key, indexes } = table
  const inIndexes = indexes.map((index) => ({ index, total: emptyTotal }))
  let total = emptyTotal
  using rows = database.prepare<Of, []>(`SELECT * FROM ${name} NOT INDEXED ORDER BY ${key.join(', ')}`)
  const order = new Order(name)
  for (const row of rows.iterate()) {
    if (table.checksum(row) !== row.checksum) throw new AskUnusable(`a row of "${name}" does not match its checksum`)
    order.next(valuesOf(row, key))
    total = totalWith(total, row.checksum)
    for (const each of inIndexes) {
      const { columns, part } = each.index
      if (part?.has(row) !== false) each.total = totalWith(each.total, entryChecksum(valuesOf(row, columns)))
    }
    if (total.count % askCheckedRowsPerStep === 0) yield
  }
  compare(name, total, totals[name])
  for (const { index, total: expected } of inIndexes) yield* checkIndex(database, { table: name, index, expected })
}

type IndexToCheck<Of extends Row> = {
  readonly table: AskTable
  readonly index: CheckedIndex<Of>
  readonly expected: RowsTotal
}

/** A search would not find a row whose entry is missing or out of order. */
function* checkIndex<Of extends Row>(
  database: Database,
  { table, index, expected }: IndexToCheck<Of>,
): Generator<void> {
  const columns = index.columns.join(', ')
  const where = index.part === undefined ? '' : `WHERE ${index.part.where}`
  using entries = database.prepare<Of, []>(
    `SELECT ${columns} FROM ${table} INDEXED BY ${index.name} ${where} ORDER BY ${columns}`,
  )
  let total = emptyTotal
  const order = new Order(index.name)
  for (const entry of entries.iterate()) {
    const values = valuesOf(entry, index.columns)
    order.next(values)
    total = totalWith(total, entryChecksum(values))
    if (total.count % askCheckedRowsPerStep === 0) yield
  }
  compare(index.name, total, expected)
}

type Values = readonly (string | number | null | undefined)[]

const valuesOf = <Of extends Row>(row: Of, columns: readonly (keyof Of & string)[]): Values =>
  columns.map((column) => row[column])

const entryChecksum = (values: Values): number => checksumOf(values.join(' '))

/** @throws AskUnusable */
const compare = (name: string, { count, sum }: RowsTotal, expected: RowsTotal): void => {
  if (count !== expected.count) {
    throw new AskUnusable(`"${name}" has ${count} rows, but must have ${expected.count}`)
  }
  if (sum !== expected.sum) throw new AskUnusable(`the rows of "${name}" do not match the sum of their checksums`)
}

/** `quick_check` does not compare the order of rows, and a search finds no row that is out of order. */
class Order {
  readonly #name: string
  #last: Values | null = null

  constructor(name: string) {
    this.#name = name
  }

  /** @throws AskUnusable if the values are not greater than the last ones */
  next(values: Values): void {
    if (this.#last !== null && !isBefore(this.#last, values)) {
      throw new AskUnusable(`the rows of "${this.#name}" are not in order`)
    }
    this.#last = values
  }
}

const isBefore = (one: Values, two: Values): boolean => {
  for (const [index, value] of one.entries()) {
    const other = two[index]
    if (value === other) continue
    if (typeof value === 'number' && typeof other === 'number') return value < other
    // SQLite compares texts by their bytes.
    return Buffer.compare(Buffer.from(String(value)), Buffer.from(String(other))) < 0
  }
  return false
}

/** Damages by somebody who drops the triggers, changes rows, and makes the triggers again. */
import { Database, SQLiteError, type SQLQueryBindings } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Chance, pick } from './file-damage.ts'

type Cell = SQLQueryBindings
type Row = Readonly<Record<string, Cell>>
type Table = { readonly name: string; readonly columns: readonly string[]; readonly keys: readonly string[] }
/** `null`: this row cannot be changed in this way. */
type SqlDamage = (database: Database, table: Table, next: Chance) => string | null

const tablesOf = (database: Database): readonly Table[] =>
  database
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .all()
    .map(({ name }) => {
      const columns = database
        .query<{ name: string; pk: number }, [string]>('SELECT name, pk FROM pragma_table_info(?)')
        .all(name)
      const keys = columns.filter(({ pk }) => pk > 0).map((column) => column.name)
      return { name, columns: columns.map((column) => column.name), keys: keys.length > 0 ? keys : ['rowid'] }
    })

const countOf = (database: Database, { name }: Table): number =>
  database.query<{ rows: number }, []>(`SELECT count(*) AS rows FROM ${name}`).get()?.rows ?? 0

const rowOf = (database: Database, { name, columns, keys }: Table, next: Chance): Row | null => {
  const rows = countOf(database, { name, columns, keys })
  if (rows === 0) return null
  const wanted = [...new Set([...keys, ...columns])].join(', ')
  const sql = `SELECT ${wanted} FROM ${name} ORDER BY ${keys.join(', ')} LIMIT 1 OFFSET ${next() % rows}`
  return database.query<Row, []>(sql).get()
}

const placeOf = ({ keys }: Table, row: Row): string => keys.map((key) => `${key} = ${shown(row[key])}`).join(', ')
const shown = (value: unknown): string =>
  value instanceof Uint8Array ? `${value.toHex().slice(0, 12)}…` : String(value).slice(0, 24)

const whereOf = ({ keys }: Table): string => keys.map((key) => `${key} IS ?`).join(' AND ')
const keysOf = ({ keys }: Table, row: Row): Cell[] => keys.map((key) => row[key] ?? null)

const set = (database: Database, table: Table, row: Row, column: string, value: Cell): number =>
  database.run(`UPDATE ${table.name} SET ${column} = ? WHERE ${whereOf(table)}`, [value, ...keysOf(table, row)]).changes

const changed = (value: Cell | undefined, next: Chance): Cell => {
  if (typeof value === 'number')
    return next() % 2 === 0 ? value + 1 : Number(BigInt(value) ^ (1n << BigInt(next() % 40)))
  if (typeof value === 'string') return Buffer.from(flipped(Buffer.from(value), next)).toString()
  if (value instanceof Uint8Array) return flipped(Uint8Array.from(value), next)
  return 1
}

const flipped = <T extends Uint8Array>(bytes: T, next: Chance): T => {
  const at = next() % Math.max(1, bytes.length)
  bytes[at] = (bytes[at] ?? 0) ^ (1 << (next() % 7))
  return bytes
}

const change: SqlDamage = (database, table, next) => {
  const row = rowOf(database, table, next)
  if (row === null) return null
  const column = pick(table.columns, next)
  const value = changed(row[column], next)
  const what = `${column} of the row with ${placeOf(table, row)} changed from ${shown(row[column])} to ${shown(value)}`
  return set(database, table, row, column, value) === 1 ? what : null
}

const drop: SqlDamage = (database, table, next) => {
  const row = rowOf(database, table, next)
  if (row === null) return null
  const { name, keys } = table
  const first = keys[0] ?? 'rowid'
  const all = { one: '', after: ` OR ${first} > ?1`, same: ` OR ${first} = ?1` }
  const how = pick(['one', 'one', 'one', 'after', 'same'] as const, next)
  const where = keys.map((key, index) => `${key} IS ?${index + 1}`).join(' AND ')
  const { changes } = database.run(`DELETE FROM ${name} WHERE (${where})${all[how]}`, keysOf(table, row))
  return changes === 0 ? null : `${changes} rows deleted, by the row with ${placeOf(table, row)}`
}

/** Deletes all rows of one stream, or its last row. */
const dropOfStream: SqlDamage = (database, table, next) => {
  if (table.name !== 'events') return null
  const row = rowOf(database, table, next)
  if (row === null) return null
  const isLast = next() % 2 === 0
  const last = ' AND revision = (SELECT max(revision) FROM events WHERE stream = ?1)'
  const { changes } = database.run(`DELETE FROM events WHERE stream = ?1${isLast ? last : ''}`, [row['stream'] ?? null])
  return `${changes} rows of stream ${shown(row['stream'])} deleted${isLast ? ' at its end' : ''}`
}

const insert: SqlDamage = (database, table, next) => {
  const row = rowOf(database, table, next)
  if (row === null) return null
  const copy: Record<string, Cell> = Object.fromEntries(table.columns.map((column) => [column, row[column] ?? null]))
  const changes = new Set([...table.keys.slice(0, 1), ...(next() % 2 === 0 ? [pick(table.columns, next)] : [])])
  if (table.name === 'events') for (const column of ['position', 'revision']) changes.add(column)
  for (const column of changes)
    if (column !== 'rowid') copy[column] = later(database, table, column, copy[column], next)
  const names = Object.keys(copy)
  const values = names.map((name) => copy[name] ?? null)
  const marks = names.map(() => '?').join(', ')
  database.run(`INSERT INTO ${table.name} (${names.join(', ')}) VALUES (${marks})`, values)
  return `a copy of the row with ${placeOf(table, row)} inserted as ${names.map((name) => `${name} ${shown(copy[name])}`).join(', ')}`
}

/** A number behind all others, or any other value. */
const later = (database: Database, { name }: Table, column: string, value: Cell | undefined, next: Chance): Cell => {
  if (typeof value !== 'number' || next() % 2 === 0) return changed(value, next)
  return (database.query<{ last: number }, []>(`SELECT max(${column}) AS last FROM ${name}`).get()?.last ?? 0) + 1
}

const swap: SqlDamage = (database, table, next) => {
  const one = rowOf(database, table, next)
  const two = rowOf(database, table, next)
  if (one === null || two === null || placeOf(table, one) === placeOf(table, two)) return null
  const isAll = next() % 3 === 0
  const columns = isAll ? table.columns.filter((column) => !table.keys.includes(column)) : [pick(table.columns, next)]
  let isOther = false
  for (const column of columns) {
    if (shown(one[column]) === shown(two[column])) continue
    isOther = true
    exchange(database, table, column, [one, two])
  }
  if (!isOther) return null
  return `${columns.join(', ')} of the rows with ${placeOf(table, one)} and ${placeOf(table, two)} swapped`
}

/** A column that must be unique has another value in between. */
const exchange = (database: Database, table: Table, column: string, [one, two]: readonly [Row, Row]): void => {
  const between: Cell =
    typeof one[column] === 'number' ? 2 ** 52 : typeof one[column] === 'string' ? 'between' : (one[column] ?? null)
  set(database, table, one, column, between)
  set(database, table, two, column, one[column] ?? null)
  const moved = table.keys.includes(column) ? { ...one, [column]: between } : one
  set(database, table, moved, column, two[column] ?? null)
}

export const sqlDamages: Readonly<Record<string, SqlDamage>> = { change, drop, dropOfStream, insert, swap }

type Trigger = { readonly name: string; readonly sql: string }

/** Returns what was done, or `null` if nothing could be done. */
export const damageBySql = (dataDir: string, kind: string, next: Chance): string | null => {
  const file = next() % 4 === 0 ? 'idempotency.db' : 'log.db'
  const path = join(dataDir, file)
  const damage = sqlDamages[kind]
  if (damage === undefined || !existsSync(path)) return null
  using database = new Database(path)
  const triggers = database.query<Trigger, []>("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").all()
  // Most rows are events, and they matter most.
  const tables = tablesOf(database)
  const table =
    next() % 2 === 0 ? tables.find(({ name }) => name === 'events' || name === 'appends') : pick(tables, next)
  if (table === undefined) return null
  let what: string | null = null
  database.run('BEGIN')
  try {
    for (const { name } of triggers) database.run(`DROP TRIGGER "${name}"`)
    what = damage(database, table, next)
    for (const { sql } of triggers) database.run(sql)
  } catch (cause) {
    // A rule of the table refuses this change.
    if (!(cause instanceof SQLiteError)) throw cause
    what = null
  }
  database.run(what === null ? 'ROLLBACK' : 'COMMIT')
  return what === null ? null : `${file}, ${table.name}: ${what}`
}

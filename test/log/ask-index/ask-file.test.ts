import { Database } from 'bun:sqlite'
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { askRowsAtOnceMax } from '../../../src/limits.ts'
import { minuteChecksum } from '../../../src/log/ask-index/ask-rows.ts'
import { tables as schema } from '../../../src/log/ask-index/ask-schema.ts'
import { AskBusy, AskUnusable } from '../../../src/log/ask-index.ts'
import { seededNumbers } from '../../support/seeded-entropy.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import {
  changeTo,
  faultOf,
  foldedAt,
  oneOfEach,
  openedIn,
  placeOf,
  rowsIn,
  todayMinute,
  withFile,
} from './sample-change.ts'

setDefaultTimeout(600_000)

const madeFile = async (dataDir: string): Promise<void> => {
  const { index } = openedIn(dataDir)
  await index.write(oneOfEach(9))
  await index.close()
}

/** A later change that reads or replaces the row of each table. */
const againOfEach = {
  ...oneOfEach(10),
  foldedFrom: 9,
  minutes: [],
  seen: [{ key: 'one', rack: 'r', minute: todayMinute + 1 }],
}

const tables = ['names', 'places', 'minutes', 'minute_counts', 'hour_counts', 'seen'] as const
const columns: Readonly<Record<(typeof tables)[number], string>> = {
  names: 'name = name || 1',
  places: 'revision = revision + 1',
  minutes: 'position = position + 1',
  minute_counts: 'count = count + 1',
  hour_counts: 'count = count + 1',
  seen: 'minute = minute + 1',
}

describe('the file ask.db', () => {
  test('survives a restart, readable by its owner only', async () => {
    const folder = temporaryFolder()
    await madeFile(folder.path)
    expect(statSync(join(folder.path, 'ask.db')).mode & 0o777).toBe(0o600)
    const { index, told } = openedIn(folder.path)
    expect([index.foldedTo, told]).toEqual([foldedAt(9), []])
    await index.close()
    folder.remove()
  })

  const replaced: readonly [title: string, harm: (file: string) => void][] = [
    ['is no database', (file) => writeFileSync(file, 'once there was a file')],
    ['ends too early', (file) => writeFileSync(file, readFileSync(file).subarray(0, 4_096))],
    ['is of another format', (file) => changeFile(file, 'PRAGMA user_version = 9')],
    ['has no head', (file) => changeFile(file, 'DELETE FROM head')],
    ['has a changed position', (file) => changeFile(file, 'UPDATE head SET position = position + 1')],
    ['has changed totals', (file) => changeFile(file, "UPDATE head SET totals = replace(totals, '2', '3')")],
  ]
  test.each(replaced)('is replaced when it %s', async (_, harm) => {
    const folder = temporaryFolder()
    await madeFile(folder.path)
    harm(join(folder.path, 'ask.db'))
    const { index, told } = openedIn(folder.path)
    expect([index.foldedTo, told]).toEqual([null, [expect.stringContaining('Cannot use ask.db')]])
    await index.write(oneOfEach(9))
    await index.check()
    expect([index.foldedTo, told.length]).toEqual([foldedAt(9), 1])
    await index.close()
    folder.remove()
  })

  test('is replaced when it belongs to another log', async () => {
    const folder = temporaryFolder()
    await madeFile(folder.path)
    const { index, told } = openedIn(folder.path, 'another log')
    expect([index.foldedTo, told]).toEqual([null, [expect.stringContaining('another log')]])
    await index.close()
    folder.remove()
  })

  test('throws AskBusy while another program writes, and writes the change later', async () => {
    const folder = temporaryFolder()
    await madeFile(folder.path)
    const { index, told } = openedIn(folder.path)
    const other = new Database(join(folder.path, 'ask.db'))
    other.run('BEGIN IMMEDIATE')
    const next = changeTo(10, 9, { places: [placeOf(10)] })
    expect(await faultOf(index.write(next))).toBeInstanceOf(AskBusy)
    other.run('ROLLBACK')
    other.close()
    expect(index.foldedTo).toEqual(foldedAt(9))
    await index.write(next)
    expect(rowsIn(folder.path, 'SELECT position FROM places')).toEqual(['10', '9'])
    expect([index.foldedTo, told]).toEqual([foldedAt(10), []])
    await index.close()
    folder.remove()
  })

  test('opens a locked file later, and keeps what it has', async () => {
    const folder = temporaryFolder()
    await madeFile(folder.path)
    const other = new Database(join(folder.path, 'ask.db'))
    other.run('PRAGMA locking_mode = EXCLUSIVE')
    other.run('BEGIN EXCLUSIVE')
    const { index, told } = openedIn(folder.path)
    expect(index.foldedTo).toBeNull()
    const tries = [index.open(), index.write(oneOfEach(10)), index.check(), index.startAnew()]
    expect(await Promise.all(tries.map(faultOf))).toEqual(tries.map(() => expect.any(AskBusy)))
    expect(() => index.placeAt(9)).toThrow(AskBusy)
    other.run('ROLLBACK')
    other.close()
    await index.open()
    expect([index.foldedTo, told]).toEqual([foldedAt(9), []])
    await index.write(changeTo(10, 9, { places: [placeOf(10)] }))
    await index.close()
    folder.remove()
  })

  test('is replaced off the event loop when a locked file is of another log', async () => {
    const folder = temporaryFolder()
    await madeFile(folder.path)
    const file = join(folder.path, 'ask.db')
    const other = new Database(file)
    other.run('PRAGMA locking_mode = EXCLUSIVE')
    other.run('BEGIN EXCLUSIVE')
    const { index, told } = openedIn(folder.path, 'another log')
    other.run('ROLLBACK')
    other.close()
    const before = readFileSync(file)
    const opening = index.open()
    expect(readFileSync(file).equals(before)).toBe(true)
    await opening
    expect([index.foldedTo, told]).toEqual([null, [expect.stringContaining('another log')]])
    await index.write(oneOfEach(9))
    await index.close()
    folder.remove()
  })

  test('is not called damaged by a search that began before startAnew()', async () => {
    const folder = temporaryFolder()
    const { index, told } = openedIn(folder.path)
    const minuteCounts = Array.from({ length: 2 * askRowsAtOnceMax }, (_, at) => {
      return { cellar: 'c', minute: todayMinute - at, code: 'accepted', count: 1 }
    })
    await index.write(changeTo(8, null, { minuteCounts }))
    const search = index.minuteCounts('c', 0, todayMinute + 1)
    search.next()
    await index.startAnew()
    expect(() => search.next()).toThrow(AskBusy)
    await index.write(oneOfEach(9))
    expect([index.foldedTo, told]).toEqual([foldedAt(9), []])
    await index.close()
    folder.remove()
  })

  test('is closed although it could never be opened', async () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder.path, 'ask.db'))
    const { index, told } = openedIn(folder.path)
    expect(await faultOf(index.open())).toBeInstanceOf(AskUnusable)
    await index.close()
    expect(told).toEqual([])
    folder.remove()
  })

  test('refuses every change when startAnew() fails, until it succeeds', async () => {
    const folder = temporaryFolder()
    await madeFile(folder.path)
    const file = join(folder.path, 'ask.db')
    const { index } = openedIn(folder.path)
    for (const each of [file, `${file}-wal`, `${file}-shm`]) rmSync(each, { force: true })
    mkdirSync(file)
    expect(await faultOf(index.startAnew())).toBeInstanceOf(AskUnusable)
    expect(await faultOf(index.write(oneOfEach(10)))).toBeInstanceOf(AskUnusable)
    expect(() => index.placeAt(9)).toThrow(AskBusy)
    rmdirSync(file)
    await Promise.all([index.startAnew(), index.startAnew()])
    await index.write(oneOfEach(10))
    expect(index.foldedTo).toEqual(foldedAt(10))
    await index.close()
    folder.remove()
  })

  test('is closed in the middle of a check', async () => {
    const folder = temporaryFolder()
    const { index, told } = openedIn(folder.path)
    const places = Array.from({ length: 5_000 }, (_, number) => placeOf(number + 1))
    await index.write(changeTo(5_000, null, { places }))
    const checked = index.check()
    await index.write(changeTo(5_001, 5_000))
    await index.close()
    await checked
    expect(told).toEqual([])
    folder.remove()
  })
})

const changeFile = (file: string, sql: string): void => {
  const database = new Database(file)
  database.run(sql)
  database.close()
}

const emptyIndex = (database: Database): void => {
  database.run('DROP INDEX places_of_kind')
  database.run('CREATE INDEX places_of_kind ON places (kind) WHERE position < 0')
}

const olderRow = (database: Database): void => {
  const minute = { minute: todayMinute, position: 8 }
  database.run('UPDATE minutes SET position = ?, checksum = ?', [minute.position, minuteChecksum(minute)])
}

/** A small index has one page. An empty one is as sound as any other for SQLite's quick check. */
const emptyPage = (dataDir: string, number: number): void => {
  const file = join(dataDir, 'ask.db')
  const bytes = readFileSync(file)
  const pageBytes = bytes.readUInt16BE(16)
  const page = bytes.subarray((number - 1) * pageBytes, number * pageBytes)
  page.fill(0)
  // The kind of the page, and where its entries begin.
  page.writeUInt8(0x0a, 0)
  page.writeUInt16BE(pageBytes, 5)
  writeFileSync(file, bytes)
}

describe('check()', () => {
  test.each([
    ['an index leaves out rows', emptyIndex, 'no query solution'],
    ['a row was replaced by an older one', olderRow, 'the rows of "minutes" do not match the sum'],
  ] as const)('empties the index if %s', async (_, harm, why) => {
    const folder = temporaryFolder()
    await madeFile(folder.path)
    withFile(folder.path, harm)
    const { index, told } = openedIn(folder.path)
    await index.check()
    expect([index.foldedTo, told]).toEqual([null, [expect.stringContaining(why)]])
    await index.close()
    folder.remove()
  })

  const indexNames = Array.from(schema.matchAll(/INDEX (\w+) ON/g), ([, name = '']) => name)
  test.each(indexNames)('empties the index if %s has no entries', async (name) => {
    const folder = temporaryFolder()
    await madeFile(folder.path)
    emptyPage(folder.path, Number(rowsIn(folder.path, `SELECT rootpage FROM sqlite_schema WHERE name = '${name}'`)[0]))
    const { index, told } = openedIn(folder.path)
    expect(index.foldedTo).toEqual(foldedAt(9))
    await index.check()
    expect([index.foldedTo, told]).toEqual([null, [expect.stringContaining(name)]])
    await index.close()
    folder.remove()
  })

  const damages = tables.flatMap((table) => [
    [`a row of ${table} was changed`, `UPDATE ${table} SET ${columns[table]}`] as const,
    [
      `a row of ${table} was deleted`,
      `DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} LIMIT 1)`,
    ] as const,
  ])
  test.each(damages)('empties the index if %s', async (_, sql) => {
    const folder = temporaryFolder()
    await madeFile(folder.path)
    const hasRowId = !/ (minute_counts|hour_counts|seen) WHERE/.test(sql)
    withFile(folder.path, (database) => database.run(hasRowId ? sql : sql.replace(/ WHERE.*/, '')))
    const { index, told } = openedIn(folder.path)
    expect(index.foldedTo).toEqual(foldedAt(9))
    await index.check()
    expect([index.foldedTo, told]).toEqual([null, [expect.stringContaining('Cannot check ask.db')]])
    expect(await faultOf(index.write(changeTo(20, 9)))).toBeInstanceOf(AskUnusable)
    await index.startAnew()
    await index.write(oneOfEach(9))
    await index.check()
    expect(index.foldedTo).toEqual(foldedAt(9))
    await index.close()
    folder.remove()
  })

  test('finds a changed bit, or every place is as before', async () => {
    const folder = temporaryFolder()
    const { index: first } = openedIn(folder.path)
    const places = Array.from({ length: 40 }, (_, number) => placeOf(number + 1))
    await first.write({ ...oneOfEach(40), places })
    await first.close()
    const file = join(folder.path, 'ask.db')
    const sound = readFileSync(file)
    const before = rowsIn(folder.path, 'SELECT * FROM places')
    const next = seededNumbers(5)
    let found = 0
    // Most of a small file is empty space, which nobody reads. It is all zero.
    const used = Array.from(sound.keys()).filter((at) => at >= 4_096 && sound[at] !== 0)
    for (let trial = 0; trial < 60; trial += 1) {
      const at = used[next() % used.length] ?? 0
      const changed = Uint8Array.from(sound)
      changed[at] = (changed[at] ?? 0) ^ (1 << (next() % 8))
      writeFileSync(file, changed)
      const { index, told } = openedIn(folder.path)
      if (told.length === 0) await index.check()
      found += told.length
      if (told.length === 0) expect([at, rowsIn(folder.path, 'SELECT * FROM places')]).toEqual([at, before])
      await index.close()
    }
    expect(found).toBeGreaterThan(40)
    folder.remove()
  })
})

describe('write()', () => {
  const read = ['names', 'minute_counts', 'hour_counts', 'seen'] as const
  test.each(read)('never builds on a damaged row of %s', async (table) => {
    const folder = temporaryFolder()
    await madeFile(folder.path)
    withFile(folder.path, (database) => {
      if (table !== 'names') database.run(`UPDATE ${table} SET ${columns[table]}`)
      else database.run("UPDATE names SET checksum = checksum + 1 WHERE name = 'c'")
    })
    const { index, told } = openedIn(folder.path)
    expect(await faultOf(index.write(againOfEach))).toBeInstanceOf(AskUnusable)
    expect(told).toEqual([expect.stringContaining('damaged')])
    expect(await faultOf(index.write(againOfEach))).toBeInstanceOf(AskUnusable)
    expect(told).toHaveLength(1)
    expect(rowsIn(folder.path, 'SELECT position FROM head')).toEqual(['9'])
    await index.startAnew()
    await index.write(oneOfEach(9))
    await index.close()
    folder.remove()
  })
})

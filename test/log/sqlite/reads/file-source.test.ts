import { afterEach, beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { DamagedLog, type EventLog } from '../../../../src/log/event-log.ts'
import { FileSource, sourcePageEventsMax, sourcePageRowsMax } from '../../../../src/log/sqlite/reads/file-source.ts'
import { copyWal, openForWriting } from '../../../../src/log/sqlite/sqlite-file.ts'
import { openSqliteLog } from '../../../../src/log/sqlite/sqlite-log.ts'
import { harmLog } from '../../../support/logs/harm.ts'
import { itemsAfter } from '../../../support/logs/pages-of-source.ts'
import { keySuspended, keySuspensions, reading, readingsRefused } from '../../../support/logs/sample-events.ts'
import { type TemporaryFolder, temporaryFolder } from '../../../support/temporary-folder.ts'

let folder: TemporaryFolder
let log: EventLog
const path = (): string => join(folder.path, 'log.db')
const rows = 2 * sourcePageRowsMax

beforeEach(async () => {
  folder = temporaryFolder()
  log = openSqliteLog({ dataDir: folder.path })
  const appends = Array.from({ length: rows }, (_, index) => {
    const stream = index % 2 === 0 ? `key-${index}` : `readings-${index}`
    return log.append(stream, 'none', index % 2 === 0 ? keySuspensions(2) : [reading(stream)])
  })
  await Promise.all(appends)
})
afterEach(async () => {
  await log.close()
  folder.remove()
})

test('the write-ahead log can be emptied when a source has read a page', async () => {
  const source = new FileSource(path())
  const page = await source.after(null)
  expect(page.atEnd).toBe(false)
  using writer = openForWriting(path())
  expect(copyWal(writer, 'TRUNCATE').isBlocked).toBe(false)
  expect((await itemsAfter(source, page.scannedTo)).length + page.items.length).toBe((rows / 2) * 3)
  await source.close()
})

const harms: readonly [what: string, sql: string][] = [
  ['a changed body', "UPDATE events SET body = replace(body, 'a test', 'a rest') || ' ' WHERE position = 301"],
  ['a missing row', 'DELETE FROM events WHERE position = 301'],
  ['a row of another stream', 'UPDATE events SET stream = 1, revision = 5 WHERE position = 301'],
  ['an empty stream', "INSERT INTO streams (id, name) VALUES (9999, 'key-lost')"],
]

for (const [what, sql] of harms) {
  test(`a source tells ${what}, but only on the page that has it`, async () => {
    await log.close()
    harmLog(folder.path, (database) => database.run(sql))
    const source = new FileSource(path())
    const { scannedTo, items } = await source.after(null)
    expect(items.length).toBeGreaterThan(0)
    await expect(itemsAfter(source, scannedTo)).rejects.toBeInstanceOf(DamagedLog)
    await source.close()
  })
}

test('a source that begins inside the log tells that the next row is missing', async () => {
  await log.close()
  harmLog(folder.path, (database) => database.run('DELETE FROM events WHERE position = 301'))
  const source = new FileSource(path())
  await expect(source.after(300)).rejects.toBeInstanceOf(DamagedLog)
  await source.close()
})

test('a page ends at its bound of bytes', async () => {
  const note = 'x'.repeat(1_000)
  for (let revision = 1; revision < 40; revision += 1) {
    const many = keySuspensions(50).map((event) => ({ ...event, data: { reason: note } }))
    await log.append('key-0', revision === 1 ? 1 : 1 + (revision - 1) * 50, many)
  }
  const source = new FileSource(path())
  const page = await source.after((rows / 2) * 3)
  expect(page.atEnd).toBe(false)
  expect(page.items.length).toBeLessThan(39 * 50)
  await source.close()
})

test('a page ends at its bound of events', async () => {
  const perRow = 500
  for (let revision = 0; revision < 3 * sourcePageEventsMax; revision += perRow) {
    const many = Array.from({ length: perRow }, () => reading('readings-many'))
    await log.append('readings-many', revision === 0 ? 'none' : revision - 1, many)
  }
  const source = new FileSource(path())
  const end = (rows / 2) * 3
  const page = await source.after(end)
  expect(page.atEnd).toBe(false)
  expect((page.scannedTo ?? 0) - end).toBeLessThan(sourcePageEventsMax + perRow)
  await source.close()
})

test('a closed source reads nothing', async () => {
  const source = new FileSource(path())
  await source.close()
  await expect(source.after(null)).rejects.toThrow('it is closed')
})

test('a source finds the part of the log that is not older than a time', async () => {
  const day = temporaryFolder()
  const own = openSqliteLog({ dataDir: day.path })
  const source = new FileSource(join(day.path, 'log.db'))
  const part = { nowMs: 1_000_000, keptMs: 1_000 }
  expect(await source.beginningOf(part)).toBeNull()
  // A row has two events, so positions 1 and 2 have the first time.
  const times = [10, 20, 30, 5_000, 5_500, 5_999, 7_000]
  for (const [index, ms] of times.entries()) {
    const events = keySuspensions(2).map((event) => ({ ...event, recordedAt: ms }))
    await own.append(`key-${index}`, 'none', events)
  }
  expect(await source.beginningOf(part)).toBe(12)
  expect(await source.beginningOf({ ...part, keptMs: 1_001 })).toBe(10)
  expect(await source.beginningOf({ ...part, keptMs: 1_500 })).toBe(8)
  expect(await source.beginningOf({ ...part, nowMs: 6_000 })).toBe(6)
  expect(await source.beginningOf({ ...part, keptMs: 0 })).toBe(12)
  expect(await source.beginningOf({ ...part, keptMs: 7_000 })).toBeNull()
  const items = await itemsAfter(source, 10)
  expect(items.map(({ recordedAt }) => recordedAt)).toEqual([5_999, 5_999, 7_000, 7_000])
  // The times of records can be wrong.
  for (let count = 0; count < 10; count += 1) await own.append(`refusals-${count}`, 'none', [readingsRefused(1)])
  await own.append('key-8', 'none', [keySuspended('a test', 7_001)])
  expect(await source.beginningOf({ ...part, keptMs: 1 })).toBe(12)
  await source.close()
  await own.close()
  day.remove()
})

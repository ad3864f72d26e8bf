import { afterEach, beforeEach, expect, test } from 'bun:test'
import { readPageEventsMax, storeReadEvents, storeReadEventsPerTurnMax } from '../../../src/limits.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { nextTurn, pagesOfLog } from '../../../src/log/pages-of-log.ts'
import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import { reading } from '../../support/logs/sample-events.ts'
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary-folder.ts'

const pages = 6
const stream = 'readings-one'
let folder: TemporaryFolder
let log: EventLog
let turns: number
let isCounting: boolean

const countTurns = (): void => {
  turns += 1
  if (isCounting) setImmediate(countTurns)
}

beforeEach(async () => {
  folder = temporaryFolder()
  log = openSqliteLog({ dataDir: folder.path })
  for (let page = 0; page < pages; page += 1) {
    const events = Array.from({ length: readPageEventsMax }, () => reading(stream))
    await log.append(stream, page === 0 ? 'none' : page * readPageEventsMax - 1, events)
  }
  turns = -1
  isCounting = true
  countTurns()
})
afterEach(async () => {
  isCounting = false
  await log.close()
  folder.remove()
})

test('a reader of many pages leaves turns to the event loop', async () => {
  for await (const _ of pagesOfLog(log, { after: null, limit: readPageEventsMax })) {
    // The loop does nothing, so that it asks for the next page at once.
  }
  expect(turns).toBeGreaterThanOrEqual(pages - 1)
})

test('each turn of the event loop serves one page of concurrent readers', async () => {
  const page = () => log.readAll({ limit: readPageEventsMax })
  const read = await Promise.all([page(), page(), page(), page()])
  expect(read.map(({ length }) => length)).toEqual(Array.from({ length: 4 }, () => readPageEventsMax))
  expect(turns).toBe(3)
})

test('a binary search leaves turns to the event loop', async () => {
  const small = storeReadEventsPerTurnMax / storeReadEvents
  for (let read = 0; read < 3 * small; read += 1) await log.read(stream, { from: read, limit: 1 })
  expect(turns).toBeGreaterThanOrEqual(2)
})

test('a single reader of a little in each turn never waits', async () => {
  const small = storeReadEventsPerTurnMax / storeReadEvents
  for (let read = 0; read < 3 * small; read += 1) {
    await nextTurn()
    const before = turns
    await log.read(stream, { from: read, limit: 1 })
    expect(turns).toBe(before)
  }
})

test('a page of any size costs no turn', async () => {
  await log.read(stream, { limit: readPageEventsMax })
  expect(turns).toBe(0)
})

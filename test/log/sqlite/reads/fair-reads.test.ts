import { afterEach, beforeEach, expect, test } from 'bun:test'
import { readPageEventsMax } from '../../../../src/limits.ts'
import type { EventLog } from '../../../../src/log/event-log.ts'
import { nextTurn, pagesOfLog } from '../../../../src/log/pages-of-log.ts'
import { FairReads, storeReadMsPerTurnMax } from '../../../../src/log/sqlite/reads/fair-reads.ts'
import { openSqliteLog } from '../../../../src/log/sqlite/sqlite-log.ts'
import { reading } from '../../../support/logs/sample-events.ts'
import { type TemporaryFolder, temporaryFolder } from '../../../support/temporary-folder.ts'

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

// The machine's clock says how long reads take. These three read so much that it takes far more than one turn on any machine.
test('a reader of many pages leaves turns to the event loop', async () => {
  for (let round = 0; round < 10; round += 1) {
    for await (const _ of pagesOfLog(log, { after: null, limit: readPageEventsMax })) {
      // The loop does nothing, so that it asks for the next page at once.
    }
  }
  expect(turns).toBeGreaterThanOrEqual(5)
})

test('concurrent readers of pages leave turns to the event loop', async () => {
  const read = await Promise.all(Array.from({ length: 60 }, () => log.readAll({ limit: readPageEventsMax })))
  expect(read.map(({ length }) => length)).toEqual(Array.from({ length: 60 }, () => readPageEventsMax))
  expect(turns).toBeGreaterThanOrEqual(5)
})

test('a binary search leaves turns to the event loop', async () => {
  for (let read = 0; read < 5_000; read += 1) await log.read(stream, { from: read, limit: 1 })
  expect(turns).toBeGreaterThanOrEqual(2)
})

test('a single reader of a little in each turn never waits', async () => {
  for (let read = 0; read < 30; read += 1) {
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

test('reads go on in the same turn until they have taken their time', async () => {
  let nowMs = 0
  const reads = new FairReads(() => nowMs)
  const turnsOfReads: number[] = []
  const read = (tookMs: number) =>
    reads.read(() => {
      turnsOfReads.push(turns)
      nowMs += tookMs
      return []
    })
  const half = storeReadMsPerTurnMax / 2
  await Promise.all([
    read(half),
    read(half),
    read(10 * storeReadMsPerTurnMax),
    read(0),
    read(half),
    read(half),
    read(0),
  ])
  expect(turnsOfReads).toEqual([0, 0, 1, 2, 2, 2, 3])
})

test('a read that fails takes its time too', async () => {
  let nowMs = 0
  const reads = new FairReads(() => nowMs)
  const failed = reads.read(() => {
    nowMs += storeReadMsPerTurnMax
    throw new Error('the disk is broken')
  })
  await expect(failed).rejects.toThrow('the disk is broken')
  const before = turns
  await reads.read(() => [])
  expect(turns).toBe(before + 1)
})

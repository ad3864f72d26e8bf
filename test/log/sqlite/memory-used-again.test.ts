import type { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { RecordedEvent } from '../../../src/domain/events.ts'
import { unusedColumnSlabsMax } from '../../../src/domain/reading/columns.ts'
import { ReadingRun } from '../../../src/domain/reading/recorded-run.ts'
import { keyStream } from '../../../src/domain/stream-names.ts'
import { batchReadingsMax, readPageEventsMax } from '../../../src/limits.ts'
import { type Codec, createCodec, type NewRow } from '../../../src/log/codec/codec.ts'
import { rowBuffersMax } from '../../../src/log/codec/row-buffers.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { logQueueReadingsMax } from '../../../src/log/queue-room.ts'
import type { CommitVerdict } from '../../../src/log/sqlite/sqlite-commits.ts'
import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import { columnsOf } from '../../support/logs/columns-of.ts'
import { keySuspended, reading, startMs } from '../../support/logs/sample-events.ts'
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary-folder.ts'
import { startService, testCellar } from '../../support/test-service.ts'
import { until } from '../../support/time/until.ts'
import { commitsHere, outOfSpace } from './commits-here.ts'

setDefaultTimeout(600_000)

let folder: TemporaryFolder
let log: EventLog
/** One function for each waiting commit group, the oldest group first. A call lets the group commit. */
let handedOver: (() => void)[]
let faults: (((database: Database) => void) | undefined)[]
/** Rows in buffers that the log has not released yet. */
let inUse: Set<NewRow>

beforeEach(() => {
  folder = temporaryFolder()
  handedOver = []
  faults = []
  inUse = new Set()
  log = openSqliteLog({ dataDir: folder.path, codec: watched(createCodec()), commits: heldCommits })
})

afterEach(async () => {
  await starting(log.close())
  folder.remove()
})

const watched = (codec: Codec): Codec => ({
  ...codec,
  encode: (stream, events) => {
    const rows = codec.encode(stream, events)
    for (const row of rows) if (row.isInBuffer) inUse.add(row)
    return rows
  },
  release: (rows) => {
    for (const row of rows) inUse.delete(row)
    codec.release(rows)
  },
})

const heldCommits = (path: string) => {
  const commits = commitsHere((database) => faults.shift()?.(database))(path)
  return {
    ...commits,
    commit: (group: Parameters<typeof commits.commit>[0]) => {
      const { promise, resolve } = Promise.withResolvers<CommitVerdict>()
      handedOver.push(() => resolve(commits.commit(group)))
      return promise
    },
  }
}

/** Lets all groups commit until the promise is settled. */
const starting = async <T>(promise: Promise<T>): Promise<T> => {
  let isSettled = false
  const settled = promise.finally(() => {
    isSettled = true
  })
  while (!isSettled) {
    handedOver.shift()?.()
    await turn()
  }
  return settled
}

/** Each batch has values and racks of its own, so a list that is used too early shows the values of another batch. */
const batchOf = (number: number) =>
  Array.from({ length: batchReadingsMax }, (_, index) => ({
    cellar: testCellar,
    rack: `rack-${number}-${index % 50}`,
    keg: 'temperature',
    value: number * batchReadingsMax + index,
    timestamp: '2026-03-01T12:00:00Z',
  }))

const batches = unusedColumnSlabsMax + rowBuffersMax
const manyReadings = { readings: 1_000_000, windowMs: 60_000 }

test('batches keep their memory until they are stored and folded', async () => {
  const service = await starting(startService({ log }))
  const keys = await starting(Promise.all(Array.from({ length: 8 }, () => service.createKey({ limit: manyReadings }))))
  const answers: Promise<Response>[] = []
  faults = [undefined, outOfSpace, undefined, undefined, outOfSpace, undefined, undefined, outOfSpace]
  for (let number = 0; number < batches; number += 1) {
    answers.push(service.postBatch(batchOf(number), keys[number % keys.length]?.key ?? ''))
    // A batch is scanned while others wait for the disk, are being written, or have just been written.
    await until(() => service.work.bodiesParsed > number)
    if (number > 8 && number % 2 === 0) handedOver.shift()?.()
  }
  const statuses = await starting(Promise.all(answers.map(async (answer) => (await answer).status)))
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(batches / 2)
  expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([])

  const stored = new Map<number, number[]>()
  for (const event of await allReadings()) {
    const number = Math.floor(event.data.value / batchReadingsMax)
    const values = stored.get(number) ?? []
    stored.set(number, values)
    expect(event.data.rack).toBe(`rack-${number}-${values.length % 50}`)
    values.push(event.data.value)
  }
  for (const [number, status] of statuses.entries()) {
    expect(stored.get(number)).toEqual(status === 200 ? batchOf(number).map(({ value }) => value) : undefined)
  }
  expect(inUse.size).toBe(0)
  await starting(service.stop())
})

const allReadings = async (): Promise<readonly RecordedEvent<'ReadingAccepted'>[]> => {
  const all: RecordedEvent<'ReadingAccepted'>[] = []
  for (let from = 0; ; ) {
    const page = await log.readAll({ from, limit: readPageEventsMax })
    for (const event of page) if (event.type === 'ReadingAccepted') all.push(event as RecordedEvent<'ReadingAccepted'>)
    const last = page.at(-1)
    if (last === undefined) return all
    from = last.position
  }
}

const run = (count: number, keyId: string) => {
  const { data } = reading('readings-one')
  const readings = columnsOf(Array.from({ length: count }, () => data))
  const requests = [{ requestId: crypto.randomUUID(), readings, idempotency: null }]
  return new ReadingRun(keyId, startMs, requests)
}

test('the log releases each row, whatever becomes of its append', async () => {
  const outcomes = [
    log.append('readings-one', 'none', run(batchReadingsMax, 'one')),
    log.append('readings-one', 7, run(batchReadingsMax, 'one')),
    log.append(keyStream('one'), 'none', [keySuspended()]),
  ]
  await turn()
  const lost = log.append('readings-two', 'none', run(batchReadingsMax, 'two'))
  faults = [undefined, outOfSpace]
  const settled = await starting(Promise.allSettled([...outcomes, lost]))
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected'])
  expect(inUse.size).toBe(0)
})

test('the log releases the rows of readings that a full disk refuses', async () => {
  const readings = log.append('readings-one', 'none', run(batchReadingsMax, 'one'))
  const change = log.append(keyStream('one'), 'none', [keySuspended()])
  expect(inUse.size).toBe(1)
  faults = [outOfSpace]
  const settled = await starting(Promise.allSettled([readings, change]))
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
  expect(inUse.size).toBe(0)
})

test('the log releases a row that finds no room in the queue', async () => {
  // Small rows fill the queue, because they use no buffers.
  const small = Array.from({ length: 2 }, (_, index) =>
    log.append(`readings-first-${index}`, 'none', run(1, `first-${index}`)),
  )
  await turn()
  const count = batchReadingsMax / 2
  for (let room = logQueueReadingsMax; room >= count; room -= count) {
    small.push(log.append(`readings-${room}`, 'none', run(count, `${room}`)))
  }
  expect(inUse.size).toBe(0)
  await expect(log.append('readings-more', 'none', run(batchReadingsMax, 'more'))).rejects.toThrow('wait already')
  expect(inUse.size).toBe(0)
  await starting(Promise.all(small))
})

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { eventsOfItems } from '../../src/domain/reading/recorded-run.ts'
import { readPageEventsMax } from '../../src/limits.ts'
import type { EventLog, Subscriber } from '../../src/log/event-log.ts'
import { SubscribedSource, sourceWaitingEventsMax } from '../../src/log/subscribed-source.ts'
import { createMemoryLog } from '../support/logs/memory-log.ts'
import { itemsAfter } from '../support/logs/pages-of-source.ts'
import { keySuspended, keySuspensions, readingsRefused } from '../support/logs/sample-events.ts'
import { sampleRun } from '../support/sample-run.ts'

let log: EventLog
let source: SubscribedSource
let reads = 0
let subscribers: Subscriber[] = []

beforeEach(async () => {
  log = createMemoryLog()
  reads = 0
  subscribers = []
  const watched: EventLog = {
    append: (...args) => log.append(...args),
    read: (...args) => log.read(...args),
    readAll: (options) => {
      reads += 1
      return log.readAll(options)
    },
    subscribe: (options, subscriber) => {
      subscribers.push(subscriber)
      return log.subscribe(options, subscriber)
    },
    truncate: (...args) => log.truncate(...args),
    health: () => log.health(),
    close: () => log.close(),
  }
  source = new SubscribedSource(watched)
  await append(3)
})
afterEach(() => source.close())

let revision = -1
const append = async (count: number): Promise<void> => {
  const end = (await log.read('key-one', { direction: 'backwards', limit: 1 }))[0]
  revision = end?.revision ?? -1
  await log.append('key-one', revision < 0 ? 'none' : revision, keySuspensions(count))
}

/** Reads to the end, so that a subscription begins there. */
const live = async (): Promise<number | null> => {
  const items = await itemsAfter(source, null)
  reads = 0
  await Promise.resolve()
  return items.at(-1)?.position ?? null
}

test('at the end of the log, pages come from a subscription without a read', async () => {
  const end = await live()
  await append(2 * readPageEventsMax)
  const run = sampleRun('k', { revision: 0, position: 0 })
  await log.append(run.stream, 'none', run.run)
  const events = eventsOfItems(await itemsAfter(source, end))
  expect(reads).toBe(0)
  expect(events.map(({ position }) => position)).toEqual(Array.from({ length: 2_004 }, (_, index) => 4 + index))
  expect(await source.after(2_007)).toEqual({ items: [], scannedTo: 2_007, atEnd: true })
})

test('a second reader at an earlier position gets what the first one took', async () => {
  const end = await live()
  await append(4)
  const first = await itemsAfter(source, end)
  expect(first).toHaveLength(4)
  expect(await itemsAfter(source, end)).toEqual([...first])
  expect(await itemsAfter(source, 7)).toEqual([])
})

test('with one event more than may wait, the rest is read later', async () => {
  for (const [extra, readsThen] of [
    [0, 0],
    [1, sourceWaitingEventsMax / readPageEventsMax + 1],
  ] as const) {
    const end = await live()
    await append(sourceWaitingEventsMax + extra)
    expect(await itemsAfter(source, end)).toHaveLength(sourceWaitingEventsMax + extra)
    expect(reads).toBe(readsThen)
  }
})

test('after a dropped subscription, pages are read until a new one begins', async () => {
  const end = await live()
  subscribers[0]?.onDropped?.(new Error('dropped'))
  await append(2)
  expect(await itemsAfter(source, end)).toHaveLength(2)
  expect(reads).toBe(1)
  expect(subscribers).toHaveLength(2)
})

test('reads backwards to find the part of the log that is young enough', async () => {
  const times = [...Array.from({ length: 2 * readPageEventsMax }, (_, index) => index), 100_000]
  for (const [index, recordedAt] of times.entries()) {
    const events = keySuspensions(1).map((event) => ({ ...event, recordedAt }))
    await log.append('key-two', index === 0 ? 'none' : index - 1, events)
  }
  const all = { nowMs: 1_000_000, keptMs: 1_000_000 }
  expect(await source.beginningOf(all)).toBeNull()
  reads = 0
  const beginning = await source.beginningOf({ ...all, keptMs: 10 })
  expect(reads).toBe(1)
  const items = await itemsAfter(source, beginning)
  expect(items).toHaveLength(readPageEventsMax - 1)
  expect(await source.beginningOf({ nowMs: 2_000, keptMs: 1_500 })).toBeLessThan(beginning ?? 0)
  // The times of records can be wrong. Here the oldest event of the second page is one.
  await log.append('refusals-two', 'none', [readingsRefused(1)])
  for (let count = 0; count < 2 * readPageEventsMax - 1; count += 1)
    await log.append('key-two', times.length + count - 1, [keySuspended('a test', 100_000)])
  const kept = await itemsAfter(source, await source.beginningOf({ ...all, keptMs: 90_000 }))
  expect(kept.filter(({ recordedAt }) => recordedAt === 100_000)).toHaveLength(2 * readPageEventsMax)
})

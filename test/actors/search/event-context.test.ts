import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  eventsOfSameRequest,
  stateBefore,
  stateBeforeEventsMax,
  statesBefore,
} from '../../../src/actors/search/event-context.ts'
import type { EventType, RecordedEvent } from '../../../src/domain/events.ts'
import { unknownBefore } from '../../../src/domain/search/state-before.ts'
import { batchReadingsMax } from '../../../src/limits.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { openFreshLog, storeUrl } from '../../support/logs/engine.ts'
import { openAt } from '../../support/logs/event-store-log.ts'
import { createMemoryLog } from '../../support/logs/memory-log.ts'
import { startService, testAsker } from '../../support/test-service.ts'
import { type FilledLog, fillLog } from './searched-log.ts'

const last = (all: readonly RecordedEvent[], type: EventType): RecordedEvent => {
  const found = all.findLast((event) => event.type === type)
  if (found === undefined) throw new Error(`The log has no ${type}`)
  return found
}

const countingReads = (log: EventLog): { readonly log: Pick<EventLog, 'read'>; readonly reads: () => number } => {
  let reads = 0
  const read: EventLog['read'] = (stream, options) => {
    reads += 1
    return log.read(stream, options)
  }
  return { log: { read }, reads: () => reads }
}

describe.each([
  ['the embedded log or the chosen engine', openFreshLog],
  ['a separate store', async () => openAt(await storeUrl())],
])('in %s', (_, open) => {
  let filled: FilledLog
  beforeAll(async () => {
    filled = await fillLog(await open(), 250)
  }, 600_000)
  afterAll(() => filled.log.close())

  test('stateBefore() folds what a key and a cellar were before their change', async () => {
    const { log, all } = filled
    const key = await stateBefore(log, last(all, 'KeyRelabelled'))
    expect(key.key).toMatchObject({ label: 'label 50', revoked: null })
    const cellar = await stateBefore(log, last(all, 'CellarRenamed'))
    expect([cellar.key, cellar.cellar?.title]).toEqual([null, 'title 50'])
  })

  test('stateBefore() folds the key of a reading, and of a seal', async () => {
    const { log, all, keyIds } = filled
    const reading = all.find(({ type, stream }) => type === 'ReadingAccepted' && stream.endsWith(keyIds[0]))
    if (reading === undefined) throw new Error('The key has no reading')
    expect((await stateBefore(log, reading)).key).toMatchObject({ keyId: keyIds[0], revision: 0 })
    expect((await stateBefore(log, last(all, 'ReadingsSealed'))).key).toMatchObject({ keyId: keyIds[1], revoked: null })
    expect((await stateBefore(log, last(all, 'KeyCreated'))).key).toBeNull()
  })

  test('statesBefore() folds the states before several events of several streams', async () => {
    const { log, all } = filled
    const changes = all.filter(({ type }) => type === 'KeyRelabelled' || type === 'CellarRenamed')
    const { log: counted, reads } = countingReads(log)
    const states = await statesBefore(counted, changes.toReversed())
    const each = await Promise.all(changes.toReversed().map((event) => stateBefore(log, event)))
    expect(states).toEqual(each)
    expect(reads()).toBe(new Set(changes.map(({ stream }) => stream)).size)
  })

  test('statesBefore() reads nothing when its time is over', async () => {
    const { log, all } = filled
    const { log: counted, reads } = countingReads(log)
    expect(await statesBefore(counted, [last(all, 'KeyRelabelled')], () => true)).toEqual([unknownBefore])
    expect(reads()).toBe(0)
  })

  test('eventsOfSameRequest() finds the seal of a revocation', async () => {
    const { log, all } = filled
    const revoked = last(all, 'KeyRevoked')
    const { events, isComplete } = await eventsOfSameRequest(log, revoked)
    expect([events.map(({ type }) => type), isComplete]).toEqual([['ReadingsSealed', 'KeyRevoked'], true])
    expect(await eventsOfSameRequest(log, last(all, 'ReadingsSealed'))).toEqual({ events, isComplete })
  })
})

test('stateBefore() takes the key of refusals as it was at the last of them', async () => {
  const service = await startService({ log: createMemoryLog() })
  const { keyId } = await service.createKey({ label: 'then' })
  const to = service.clock.now()
  service.clock.advance(1_000)
  await service.core.keys.relabel(keyId, { label: 'later', note: '' }, testAsker)
  const [created] = await service.core.log.read(`key-${keyId}`, { limit: 1 })
  if (created === undefined) throw new Error('The key was not created')
  const refused: RecordedEvent = {
    ...created,
    type: 'ReadingsRefused',
    stream: `refusals-${keyId}`,
    position: created.position + 100,
    data: { from: to, to, counts: [], samples: [] },
  }
  expect((await stateBefore(service.core.log, refused)).key?.label).toBe('then')
  service.clock.advance(1_000)
  await service.core.keys.setLimit(keyId, { readings: 9, windowMs: 60_000 }, testAsker)
  const changedAt = service.clock.now()
  const until = (from: number): RecordedEvent => ({ ...refused, data: { ...refused.data, from, to: changedAt } })
  expect((await stateBefore(service.core.log, until(changedAt))).key?.limit?.readings).toBe(9)
  // No single limit is that of all these refusals.
  expect((await stateBefore(service.core.log, until(to))).isKnown).toBe(false)
  await service.stop()
})

describe('the bounds', () => {
  test('stateBefore() says that a longer stream is not known', async () => {
    const service = await startService({ log: createMemoryLog() })
    const { keyId } = await service.createKey()
    const [created] = await service.core.log.read(`key-${keyId}`, { limit: 1 })
    if (created === undefined) throw new Error('The key was not created')
    let reads = 0
    const log = {
      ...service.core.log,
      read: async (_: string, { from = 0, limit }: { from?: number; limit: number }) => {
        reads += 1
        return Array.from({ length: limit }, (_, at) => ({ ...created, revision: from + at }))
      },
    }
    const event = { ...created, position: created.position + 1, revision: stateBeforeEventsMax + 1 }
    expect(await stateBefore(log, event)).toEqual(unknownBefore)
    expect(reads).toBeLessThanOrEqual(stateBeforeEventsMax / 100)
    await service.stop()
  })

  test('eventsOfSameRequest() finds a batch by two reads, and says that it compared no more', async () => {
    const service = await startService({ log: createMemoryLog() })
    const { keyId } = await service.createKey()
    const { log } = service.core
    await service.core.keys.suspend(keyId, 'a test', testAsker)
    const [, suspended] = await log.read(`key-${keyId}`, { limit: 2 })
    if (suspended === undefined) throw new Error('The key was not suspended')
    let reads = 0
    const others = batchReadingsMax - 1
    const endless = {
      ...log,
      readAll: async ({ from = 0, direction, limit }: { from?: number; direction?: string; limit: number }) => {
        reads += 1
        return Array.from({ length: limit }, (_, at) => ({
          ...suspended,
          position: direction === 'backwards' ? from - at - 1 : from + at + 1,
          metadata: direction !== 'backwards' && at < others ? suspended.metadata : another,
        }))
      },
    }
    const another = { ...suspended.metadata, requestId: 'another' }
    const { events, isComplete } = await eventsOfSameRequest(endless, suspended)
    expect([events.length, isComplete, reads]).toEqual([batchReadingsMax, false, 2])
    await service.stop()
  })
})

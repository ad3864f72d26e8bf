import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eventAt, eventsOfId, eventsOfReceipt, requestSearchEventsMax } from '../../../src/actors/search/find-events.ts'
import { instantOfRequestId } from '../../../src/domain/search/request-id.ts'
import { readingId } from '../../../src/domain/uuid.ts'
import { Outage } from '../../../src/log/event-log.ts'
import { openFreshLog, storeUrl } from '../../support/logs/engine.ts'
import { openAt } from '../../support/logs/event-store-log.ts'
import { createMemoryLog } from '../../support/logs/memory-log.ts'
import { freshReadingsStream, reading, startMs } from '../../support/logs/sample-events.ts'
import { startService, testCellar, validReading } from '../../support/test-service.ts'
import { type FilledLog, fillLog } from './searched-log.ts'

const instantOf = (id: string): number => {
  const atMs = instantOfRequestId(id)
  if (atMs === null) throw new Error(`${id} is no request id`)
  return atMs
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

  test('eventAt() finds every event by its position', async () => {
    const { log, all } = filled
    for (const event of [...all.slice(0, 3), ...all.slice(-3)])
      expect(await eventAt(log, event.position)).toEqual(event)
  })

  test('eventAt() finds nothing at other positions', async () => {
    const { log, all } = filled
    for (const position of [0, (all.at(-1)?.position ?? 0) + 1]) {
      // A separate store refuses to read at a position that is no event's.
      const found = await eventAt(log, position).catch((error: unknown) => error)
      if (log.lags === true && found !== null) expect(found).toBeInstanceOf(Outage)
      else expect(found).toBeNull()
    }
  })

  test('eventsOfId() finds the reading of a request, and compares few others', async () => {
    const { log, all } = filled
    const readings = all.filter(({ type }) => type === 'ReadingAccepted')
    for (const event of [readings[0], readings[100], readings.at(-1)]) {
      const { events, searched, isComplete } = await eventsOfId({ log, ask: null }, event?.id ?? '', {
        atMs: instantOf(event?.id ?? ''),
      })
      expect([events, isComplete]).toEqual([event === undefined ? [] : [event], true])
      expect(searched).toBeLessThanOrEqual(200)
    }
  })
})

describe('eventsOfId()', () => {
  test('finds all readings of a batch, and one of them by its own id', async () => {
    const service = await startService()
    const { key } = await service.createKey()
    await service.post(validReading, key)
    const answer = await service.postBatch(
      [1, 2, 3].map((value) => ({ ...validReading, value })),
      key,
    )
    await service.post(validReading, key)
    const id = answer.headers.get('X-Request-Id') ?? ''
    const found = await eventsOfId({ log: service.log, ask: null }, id, { atMs: instantOf(id) })
    expect(found.events.map(({ id: readingsId }) => readingsId)).toEqual([0, 1, 2].map((index) => readingId(id, index)))
    const second = await eventsOfId({ log: service.log, ask: null }, readingId(id, 1), { atMs: instantOf(id) })
    expect(second.events).toEqual(found.events.slice(1, 2))
    await service.stop()
  })

  test('finds all events of a change, and none of a refused request', async () => {
    const service = await startService()
    const { core, clock } = service
    const { keyId } = await service.createKey()
    const asker = { by: { kind: 'cli' }, requestId: core.entropy.requestId(clock.now()) } as const
    await core.keys.suspend(keyId, 'a test', asker)
    const found = await eventsOfId({ log: service.log, ask: null }, asker.requestId, { atMs: clock.now() })
    expect(found.events.map(({ type }) => type)).toEqual(['KeySuspended', 'ReadingsFenced'])
    const refused = await service.post({ ...validReading, cellar: `${testCellar}2` }, null)
    const id = refused.headers.get('X-Request-Id') ?? ''
    expect(await eventsOfId({ log: service.log, ask: null }, id, { atMs: instantOf(id) })).toMatchObject({
      events: [],
      isComplete: true,
    })
    await service.stop()
  })

  test('ends at its bound, and says so', async () => {
    const page = Array.from({ length: 200 }, () => reading('readings-a', {}, startMs))
    let position = 0
    const endless = {
      ...createMemoryLog(),
      read: async () => [],
      readAll: async ({ direction = 'forwards' }) => {
        if (direction === 'backwards') return []
        position += page.length
        return page.map((event, index) => ({ ...event, stream: 'readings-a', revision: 0, position: position + index }))
      },
    }
    const found = await eventsOfId({ log: endless, ask: null }, 'none', { atMs: startMs })
    expect([found.events, found.isComplete]).toEqual([[], false])
    expect(found.searched).toBe(requestSearchEventsMax)
  }, 600_000)
})

describe('eventsOfReceipt()', () => {
  test('finds readings, and says why it finds none', async () => {
    const log = await openFreshLog()
    const stream = freshReadingsStream()
    const receipt = (first: number, last = first) => eventsOfReceipt(log, { stream, first, last })
    expect(await receipt(0)).toEqual({ kind: 'no_stream' })
    const events = Array.from({ length: 6 }, () => reading(stream))
    await log.append(stream, 'none', events)
    const revisionsOf = async (first: number, last: number) => {
      const found = await receipt(first, last)
      return found.kind === 'found' ? found.events.map(({ revision }) => revision) : found
    }
    expect(await revisionsOf(0, 0)).toEqual([0])
    expect(await revisionsOf(2, 4)).toEqual([2, 3, 4])
    expect(await revisionsOf(4, 9)).toEqual([4, 5])
    expect(await receipt(6)).toEqual({ kind: 'not_written', lastRevision: 5 })
    await log.truncate(stream, 3)
    expect(await receipt(1, 2)).toEqual({ kind: 'deleted', firstRevision: 3 })
    expect(await revisionsOf(2, 4)).toEqual([3, 4])
    await log.close()
  })
})

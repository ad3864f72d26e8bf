import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readingId } from '../../../../src/domain/uuid.ts'
import { batchBodyBytesMax } from '../../../../src/http/ingest/ingest-batch.ts'
import { batchReadingsMax } from '../../../../src/limits.ts'
import { acceptedReadings, answerOf, expectBatch } from '../../../support/answers.ts'
import { openLogOf } from '../../../support/logs/engine.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'
import { type Service, startService, validReading } from '../../../support/test-service.ts'

let service: Service
let key: string
let keyId: string
beforeAll(async () => {
  service = await startService()
  const created = await service.createKey({ limit: { readings: 1_000_000, windowMs: 60_000 } })
  key = created.key
  keyId = created.keyId
})
afterAll(() => service.stop())

const batchOf = (count: number) => Array.from({ length: count }, (_, value) => ({ ...validReading, value }))

describe('POST /api/v1/ingest/batch answers 200', () => {
  test('with the range of all stored readings as receipt', async () => {
    const readings = [
      { ...validReading, value: 7e-6, timestamp: '2025-12-31T23:59:59.123456789+00:00' },
      { ...validReading, rack: '🍷 __proto__' },
      { ...validReading, value: -0 },
    ]
    const answer = await answerOf(await service.postBatch(readings, key))
    expect(expectBatch(answer, 200)).toMatchObject({ accepted: 3, message: '3 readings stored.', errors: [] })
    const [stream, first, last] = String(answer.header('X-Receipt')).split(/@|-(?=\d+$)/)
    expect([stream, Number(last) - Number(first)]).toEqual([`readings-${keyId}`, 2])
    const events = await service.log.read(`readings-${keyId}`, { from: Number(first), limit: 3 })
    const requestId = String(answer.header('X-Request-Id'))
    for (const [index, event] of events.entries()) {
      expect(event).toMatchObject({
        id: readingId(requestId, index),
        type: 'ReadingAccepted',
        recordedAt: service.clock.now(),
        metadata: { by: { kind: 'key', keyId }, requestId },
      })
      // JavaScript writes -0 as 0 in JSON. So the events are compared as JSON.
      expect(JSON.stringify(event.data)).toBe(JSON.stringify(readings[index]))
    }
  })

  test('with a range as receipt of one reading', async () => {
    const answer = await answerOf(await service.postBatch([validReading], key))
    expect(expectBatch(answer, 200)).toMatchObject({ accepted: 1, message: '1 reading stored.' })
    expect(answer.header('X-Receipt')).toMatch(/@(\d+)-\1$/)
  })

  test('with the acceptance in whole seconds and the RateLimit headers', async () => {
    const limited = await service.createKey({ limit: { readings: 10, windowMs: 60_000 } })
    service.clock.set(Date.UTC(2026, 2, 1, 13, 0, 0, 999))
    const answer = await answerOf(await service.postBatch(batchOf(4), limited.key))
    expectBatch(answer, 200)
    expect(JSON.parse(answer.body).timestamp).toBe('2026-03-01T13:00:00Z')
    expect(answer.header('RateLimit-Policy')).toBe('"default";q=10;w=60')
    expect(answer.header('RateLimit')).toBe('"default";r=6;t=60')
  })

  test('to the largest batch, and ignores unknown fields', async () => {
    const readings = batchOf(batchReadingsMax).map((one) => ({ ...one, unit: '°C', __proto: { x: 1 } }))
    const body = JSON.stringify({ readings, sentBy: 'gateway' })
    expect(body.length).toBeLessThan(batchBodyBytesMax)
    const answer = await answerOf(await service.postBatch(body, key))
    expect(expectBatch(answer, 200).accepted).toBe(batchReadingsMax)
  })

  test('to a body of exactly 1 MiB', async () => {
    const body = JSON.stringify({ readings: [validReading] }).padEnd(batchBodyBytesMax)
    expectBatch(await answerOf(await service.postBatch(body, key)), 200)
  })

  test('to a full batch at the default limit', async () => {
    const usual = await service.createKey()
    const answer = await answerOf(await service.postBatch(batchOf(1_000), usual.key))
    expect(expectBatch(answer, 200).accepted).toBe(1_000)
  })

  test('and its readings are in the log after a restart', async () => {
    const folder = temporaryFolder()
    const log = await openLogOf(folder.path)
    const durable = await startService({ log })
    const made = await durable.createKey()
    const answer = await answerOf(await durable.postBatch(batchOf(100), made.key))
    await durable.stop()
    await log.close()
    const again = await openLogOf(folder.path)
    const readings = await acceptedReadings(again)
    const requestId = String(answer.header('X-Request-Id'))
    expect(readings.map(({ id }) => id)).toEqual(Array.from({ length: 100 }, (_, index) => readingId(requestId, index)))
    expect(readings.map(({ data }) => data.value)).toEqual(Array.from({ length: 100 }, (_, index) => index))
    await again.close()
  })
})

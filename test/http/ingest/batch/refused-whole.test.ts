import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { encodedReadingBytesBesideData } from '../../../../src/domain/reading/reading-size.ts'
import { batchBodyBytesMax } from '../../../../src/http/ingest/ingest-batch.ts'
import { acceptedReadings, answerOf, expectBatch, expectRefusal, expectUnauthorized } from '../../../support/answers.ts'
import { openFreshLog } from '../../../support/logs/engine.ts'
import { type FaultyLog, faultyLog } from '../../../support/logs/faulty-log.ts'
import { rawExchange } from '../../../support/raw-http.ts'
import { type Service, startService, validReading } from '../../../support/test-service.ts'

let log: FaultyLog
let service: Service
beforeEach(async () => {
  log = faultyLog(await openFreshLog())
  service = await startService({ log })
})
afterEach(async () => {
  log.comeBack()
  await service.stop()
  await log.close()
})

const limit = { readings: 10, windowMs: 60_000 }
const path = '/api/v1/ingest/batch'
const copies = (count: number) => Array.from({ length: count }, () => validReading)
const post = async (readings: readonly unknown[] | string, key: string | null, headers?: Record<string, string>) =>
  answerOf(await service.postBatch(readings, key, headers))

describe('POST /api/v1/ingest/batch stores nothing and answers', () => {
  test('401 without a valid key, for any body', async () => {
    expectUnauthorized(await post('x', null), 'API key is required')
    expectUnauthorized(await post(copies(2), 'clr_x'), 'Invalid API key')
  })

  test('429 without room for the whole batch', async () => {
    const { key } = await service.createKey({ limit })
    expectBatch(await post(copies(6), key), 200)
    service.clock.advance(20_000)
    expectBatch(await post([...copies(3), 7], key), 207)
    service.clock.advance(10_000)
    const refused = await post([...copies(2), 7], key)
    expect(expectRefusal(refused, 429, 'RATE_LIMITED')).toEndWith('send the request again after 30 seconds.')
    expect(refused.header('Retry-After')).toBe('30')
    expect(refused.header('RateLimit')).toBe('"default";r=1;t=30')
    // Ten readings need an empty window. The second batch came at 20 s and leaves the window at 80 s. It is 30 s now.
    expect((await post(copies(10), key)).header('Retry-After')).toBe('50')
    service.clock.advance(30_000)
    expectBatch(await post(copies(2), key), 200)
    expect(await acceptedReadings(log)).toHaveLength(11)
  })

  test('429 to parallel batches past the limit', async () => {
    const { key } = await service.createKey({ limit })
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(copies(3), key)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(7)
    expect(await acceptedReadings(log)).toHaveLength(9)
  })

  test('429 over the limit, also to an invalid batch', async () => {
    const { key } = await service.createKey({ limit })
    await post(copies(10), key)
    for (const body of ['x', '{}', '{"readings":[]}', '{"readings":[7]}'])
      expectRefusal(await post(body, key), 429, 'RATE_LIMITED')
    expectRefusal(await post('x', key, { 'Content-Type': 'text/plain' }), 429, 'RATE_LIMITED')
  })

  test('415 to another content type', async () => {
    const { key } = await service.createKey()
    expectRefusal(await post('x', key, { 'Content-Type': 'text/plain' }), 415, 'UNSUPPORTED_MEDIA_TYPE')
  })

  test('413 one byte past 1 MiB', async () => {
    const { key } = await service.createKey()
    const body = JSON.stringify({ readings: copies(1) }).padEnd(batchBodyBytesMax + 1)
    expect(expectRefusal(await post(body, key), 413, 'PAYLOAD_TOO_LARGE')).toBe(
      'body must be at most 1048576 bytes: send the readings in several batches.',
    )
    const head = [`POST ${path} HTTP/1.1`, 'Host: 127.0.0.1', `X-API-Key: ${key}`, 'Content-Type: application/json']
    const [answer] = await rawExchange(service.url, `${[...head, 'Content-Length: 99999999999'].join('\r\n')}\r\n\r\n`)
    expect(answer?.status).toBe(413)
  })

  test('413 one byte past the bound of its events', async () => {
    const { key } = await service.createKey({ limit: { readings: 10_000, windowMs: 60_000 } })
    // The events of `fits` have exactly the largest size. The events of `over` have one byte more.
    const bare = JSON.stringify({ ...validReading, rack: '' }).length
    const rack = fill(1_000 - encodedReadingBytesBesideData - bare)
    const fits = Array.from({ length: 1_000 }, () => ({ ...validReading, rack }))
    const over = [...fits.slice(1), { ...validReading, rack: `${rack}x` }]
    const refused = await post(over, key)
    expect(expectRefusal(refused, 413, 'PAYLOAD_TOO_LARGE')).toBe(
      'readings must take at most 1000000 bytes when they are stored: send them in several batches.',
    )
    expect(refused.header('RateLimit')).toBe('"default";r=10000;t=0')
    expectBatch(await post(fits, key), 200)
  })

  test.each([
    ['STORE_UNAVAILABLE', 'unavailable'],
    ['STORAGE_FULL', 'full'],
    ['OVERLOADED', 'overloaded'],
  ] as const)('503 %s when the log is %s', async (code, reason) => {
    const { key } = await service.createKey({ limit })
    await post(copies(1), key)
    log.failAppend({ fault: 'not_written', reason })
    const refused = await post([...copies(9), 7], key)
    expectRefusal(refused, 503, code)
    expect(refused.header('Retry-After')).toBe('1')
    expectBatch(await post(copies(9), key), 200)
    expect(await acceptedReadings(log)).toHaveLength(10)
  })

  test.each(['GET', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND'])('405 with Allow to %s', async (method) => {
    const { key } = await service.createKey()
    const request = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: ${key}\r\n\r\n`
    const [answer] = await rawExchange(service.url, request)
    expect([answer?.status, answer?.headers.get('allow')]).toEqual([405, 'POST'])
  })

  test.each([`${path}/`, '/api/v1/ingest/Batch', '/api/v1/ingest//batch', '/api/v1/ingest/b%61tch', '/api/v1/batch'])(
    '404 on %s',
    async (other) => {
      const { key } = await service.createKey()
      const body = JSON.stringify({ readings: copies(1) })
      const head = [`POST ${other} HTTP/1.1`, 'Host: 127.0.0.1', `X-API-Key: ${key}`, `Content-Length: ${body.length}`]
      const [answer] = await rawExchange(
        service.url,
        `${[...head, 'Content-Type: application/json'].join('\r\n')}\r\n\r\n${body}`,
      )
      expect(answer?.status).toBe(404)
    },
  )
})

/** Text with many bytes in few characters, because the length of a name is limited in characters. */
const fill = (bytes: number): string => '🍷'.repeat(Math.floor(bytes / 4)) + 'x'.repeat(bytes % 4)

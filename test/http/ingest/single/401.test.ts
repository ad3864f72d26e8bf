import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { makeKey, secretBytes } from '../../../../src/domain/key-format.ts'
import { acceptedReadings, answerOf, expectAccepted, expectUnauthorized } from '../../../support/answers.ts'
import { rawExchange } from '../../../support/raw-http.ts'
import { type Service, startService, testAsker, validReading } from '../../../support/test-service.ts'

let service: Service
let key: string
beforeAll(async () => {
  service = await startService()
  key = (await service.createKey()).key
})
afterAll(() => service.stop())

const required = 'API key is required'
const invalid = 'Invalid API key'
const expired = 'API key has expired'
const post = async (withKey: string | null) => answerOf(await service.post(validReading, withKey))

describe('POST /api/v1/ingest answers 401', () => {
  test('"API key is required" without the header or its value', async () => {
    expectUnauthorized(await post(null), required)
    expectUnauthorized(await post(''), required)
    expectUnauthorized(await post('   '), required)
  })

  test('"API key is required" to a key in another place', async () => {
    const url = `${service.url}/api/v1/ingest?api_key=${key}&X-API-Key=${key}`
    const headers = { Authorization: `Bearer ${key}`, Cookie: `X-API-Key=${key}`, 'Content-Type': 'application/json' }
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(validReading) })
    expectUnauthorized(await answerOf(response), required)
  })

  test('"Invalid API key" to anything that is no key', async () => {
    const id = key.slice(4, 12)
    const unlike = [
      'x',
      'clr_',
      `${key}x`,
      key.slice(0, -1),
      key.toLowerCase(),
      key.toUpperCase(),
      `Bearer ${key}`,
      `"${key}"`,
      `${key},`,
      key.replace(id, '00000000'),
      `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`,
      '__proto__',
      `clr_${'\u00e9'.repeat(58)}`,
      'k'.repeat(4_000),
    ]
    for (const text of unlike) expectUnauthorized(await post(text), invalid)
  })

  test('"Invalid API key" to a well-formed unknown key', async () => {
    const other = await startService({ seed: 2 })
    const foreign = await other.createKey()
    expectUnauthorized(await post(foreign.key), invalid)
    await other.stop()
  })

  test('"Invalid API key" to another secret with a known id', async () => {
    const { keyId } = await service.createKey()
    const forged = makeKey(keyId, new Uint8Array(secretBytes))
    expect(forged.keyId).toBe(keyId)
    expectUnauthorized(await post(forged.key), invalid)
  })

  test('"Invalid API key" to two headers with the same key', async () => {
    const body = JSON.stringify(validReading)
    const twice = (first: string, second: string) =>
      [
        'POST /api/v1/ingest HTTP/1.1',
        'Host: 127.0.0.1',
        `X-API-Key: ${first}`,
        `x-api-key: ${second}`,
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
        '',
        body,
      ].join('\r\n')
    for (const [first, second] of [
      [key, key],
      [key, ''],
      ['', key],
    ] as const) {
      const [answer] = await rawExchange(service.url, twice(first, second))
      expect(answer?.status).toBe(401)
      expect(answer?.body).toBe(`{"error":"${invalid}","status":401}`)
    }
  })

  test('"Invalid API key" to suspended and revoked keys at once', async () => {
    const { key: text, keyId } = await service.createKey()
    await service.core.keys.suspend(keyId, 'noisy', testAsker)
    expectUnauthorized(await post(text), invalid)
    await service.core.keys.resume(keyId, 'mended', testAsker)
    expectAccepted(await post(text))
    await service.core.keys.revoke(keyId, 'lost', testAsker)
    expectUnauthorized(await post(text), invalid)
  })

  test('"API key has expired" from the millisecond of the expiry', async () => {
    const expiresAt = service.clock.now() + 60_000
    const { key: text } = await service.createKey({ expiresAt })
    service.clock.set(expiresAt - 1)
    expectAccepted(await post(text))
    service.clock.set(expiresAt)
    expectUnauthorized(await post(text), expired)
  })

  test('"API key has expired" never because of a short clock jump', async () => {
    const expiresAt = service.clock.now() + 60_000
    const { key: text } = await service.createKey({ expiresAt })
    const wrongByMs = 24 * 3_600_000
    service.clock.leap(wrongByMs)
    const accepted = await post(text)
    expectAccepted(accepted)
    expect(Date.parse(JSON.parse(accepted.body).timestamp)).toBeLessThan(expiresAt)
    service.clock.leap(-wrongByMs)
    service.clock.set(expiresAt - 1)
    expectAccepted(await post(text))
    service.clock.set(expiresAt)
    expectUnauthorized(await post(text), expired)
  })

  test('"API key has expired" only to who holds the secret', async () => {
    const expiresAt = service.clock.now() + 1
    const { key: text } = await service.createKey({ expiresAt })
    service.clock.advance(1)
    expectUnauthorized(await post(text), expired)
    expectUnauthorized(await post(`${text.slice(0, -1)}${text.endsWith('0') ? '1' : '0'}`), invalid)
  })

  test('"Invalid API key" before "API key has expired"', async () => {
    const expiresAt = service.clock.now() + 1_000
    const suspended = await service.createKey({ expiresAt })
    const revoked = await service.createKey({ expiresAt })
    await service.core.keys.suspend(suspended.keyId, '', testAsker)
    await service.core.keys.revoke(revoked.keyId, '', testAsker)
    service.clock.advance(1_000)
    expectUnauthorized(await post(suspended.key), invalid)
    expectUnauthorized(await post(revoked.key), invalid)
  })

  test('and stores nothing', async () => {
    const before = (await acceptedReadings(service.log)).length
    await post(null)
    await post('x')
    expect((await acceptedReadings(service.log)).length).toBe(before)
  })

  test('without a look at the body', async () => {
    expectUnauthorized(await answerOf(await service.post('x'.repeat(100_000), null)), required)
    expectUnauthorized(await answerOf(await service.post('x', 'x', { 'Content-Type': 'text/plain' })), invalid)
    const [declared] = await rawExchange(
      service.url,
      'POST /api/v1/ingest HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999999999\r\n\r\n',
    )
    expect(declared?.body).toBe(`{"error":"${required}","status":401}`)
  })

  const paths = [
    '/api',
    '/api/',
    '/api/v1',
    '/api/v1/',
    '/api/v1/ingest/',
    '/api/v1/ingest//',
    '/api/v1//ingest',
    '/api//v1/ingest',
    '/api/v1/%69ngest',
    '/api/v1/ingest%2F',
    '/api/v1/ingest%00',
    '/api/v1/INGEST',
    '/api/v1/ingest/batch',
    '/api/v1/keys',
    '/api/v2/ingest',
    '/api/%',
    '/api/%ff',
    '/api/v1/ingest;x=1',
    '/x/../api/v1/ingest',
    '/api/../api/v1/ingest',
  ]
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND']

  test.each(['/api/v1/ingest', ...paths])('to every method on %s without a key', async (path) => {
    for (const method of methods) {
      const [answer] = await rawExchange(service.url, `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`)
      expect(`${method} ${answer?.status}`).toBe(`${method} 401`)
      expect(answer?.body).toBe(`{"error":"${required}","status":401}`)
    }
    expect((await fetch(`${service.url}${path}`, { method: 'HEAD' })).status).toBe(401)
  })

  test('to a browser that asks whether it may: no CORS here', async () => {
    const response = await fetch(`${service.url}/api/v1/ingest`, {
      method: 'OPTIONS',
      headers: { Origin: 'https://example.org', 'Access-Control-Request-Method': 'POST' },
    })
    expect(response.headers.get('Access-Control-Allow-Origin')).toBeNull()
    expectUnauthorized(await answerOf(response), required)
  })

  test('with a short host, and without a host', async () => {
    for (const host of ['a', 'nas', '']) {
      for (const path of ['/api/v1/ingest', '/api/v1/other', '/api/v1/ingest/x/y']) {
        const [answer] = await rawExchange(service.url, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
        expect(`${host} ${path} ${answer?.status}`).toBe(`${host} ${path} 401`)
      }
    }
    const [bare] = await rawExchange(service.url, 'GET /api/v1/other/x HTTP/1.0\r\n\r\n')
    expect(bare?.status).toBe(401)
  })
})

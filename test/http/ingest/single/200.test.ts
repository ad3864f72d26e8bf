import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { instantOfRequestId } from '../../../../src/domain/search/request-id.ts'
import { readingBodyBytesMax } from '../../../../src/http/http-bounds.ts'
import { acceptedReadings, answerOf, expectAccepted } from '../../../support/answers.ts'
import { rawConnect, rawExchange } from '../../../support/raw-http.ts'
import { type Service, startService, validReading } from '../../../support/test-service.ts'

let service: Service
let key: string
let keyId: string
beforeAll(async () => {
  service = await startService()
  const created = await service.createKey()
  key = created.key
  keyId = created.keyId
})
afterAll(() => service.stop())

const post = async (body: unknown, headers?: Record<string, string>) => answerOf(await service.post(body, key, headers))
const last = async () => (await acceptedReadings(service.log)).at(-1)

describe('POST /api/v1/ingest answers 200', () => {
  test('with exactly the body of the contract', async () => {
    service.clock.set(Date.UTC(2026, 2, 1, 12, 0, 0, 999))
    const answer = await post(validReading)
    expectAccepted(answer)
    expect(JSON.parse(answer.body).timestamp).toBe('2026-03-01T12:00:00Z')
    service.clock.advance(1)
    expect(JSON.parse((await post(validReading)).body).timestamp).toBe('2026-03-01T12:00:01Z')
  })

  test('with a receipt that names the event', async () => {
    const reading = { ...validReading, value: 7e-6, timestamp: '2025-12-31T23:59:59.123456789+00:00' }
    const answer = await post(reading)
    expectAccepted(answer)
    const [stream, revision] = answer.header('X-Receipt')?.split('@') ?? []
    const [event] = await service.log.read(String(stream), { from: Number(revision), limit: 1 })
    expect(event).toMatchObject({
      stream: `readings-${keyId}`,
      type: 'ReadingAccepted',
      recordedAt: service.clock.now(),
      data: reading,
      metadata: { by: { kind: 'key', keyId }, requestId: String(answer.header('X-Request-Id')) },
    })
  })

  test('with a request id of the service', async () => {
    const answer = await post(validReading, { 'X-Request-Id': 'mine' })
    expectAccepted(answer)
    expect((await last())?.id).toBe(String(answer.header('X-Request-Id')))
  })

  test('with a request id that says the instant of the steady clock', async () => {
    const instantOf = async () => instantOfRequestId(String((await post(validReading)).header('X-Request-Id')))
    service.clock.advance(1_234)
    const atMs = service.clock.now()
    expect(await instantOf()).toBe(atMs)
    service.clock.leap(60_000)
    expect(await instantOf()).toBe(atMs)
    service.clock.leap(-60_000)
  })

  test('with the remaining readings of the limit', async () => {
    const limited = await service.createKey({ limit: { readings: 10, windowMs: 60_000 } })
    const first = await service.post(validReading, limited.key)
    expect(first.headers.get('RateLimit-Policy')).toBe('"default";q=10;w=60')
    expect(first.headers.get('RateLimit')).toBe('"default";r=9;t=60')
    service.clock.advance(1_500)
    const second = await service.post(validReading, limited.key)
    expect(second.headers.get('RateLimit')).toBe('"default";r=8;t=59')
  })

  test('with the expiry of the key, if it has one', async () => {
    expect((await post(validReading)).header('X-API-Key-Expires-At')).toBeNull()
    const expiring = await service.createKey({ expiresAt: Date.UTC(2027, 0, 1, 0, 0, 0, 7) })
    const answer = await service.post(validReading, expiring.key)
    expect(answer.headers.get('X-API-Key-Expires-At')).toBe('2027-01-01T00:00:00.007Z')
    expect((await post(validReading)).header('X-API-Key-Expires-At')).toBeNull()
  })

  test('to each of many parallel requests with its own headers', async () => {
    const other = await service.createKey({ limit: { readings: 50, windowMs: 10_000 } })
    const racks = Array.from({ length: 20 }, (_, number) => `rack-${number}`)
    const answers = await Promise.all(
      racks.map((rack, number) => service.post({ ...validReading, rack }, number % 2 === 0 ? key : other.key)),
    )
    const stored = new Map((await acceptedReadings(service.log)).map((event) => [event.id, event]))
    for (const [number, { headers }] of answers.entries()) {
      const event = stored.get(headers.get('X-Request-Id') ?? '')
      expect(event?.data.rack).toBe(`rack-${number}`)
      expect(headers.get('X-Receipt')).toBe(`${event?.stream}@${event?.revision}`)
      expect(headers.get('RateLimit-Policy')).toEndWith(number % 2 === 0 ? 'w=60' : 'w=10')
    }
  })

  test('and stores exact duplicates', async () => {
    const before = (await acceptedReadings(service.log)).length
    await post(validReading)
    await post(validReading)
    expect((await acceptedReadings(service.log)).length).toBe(before + 2)
  })

  test.each([
    ['one character', 'r'],
    ['128 characters that each take two UTF-16 units', '🍷'.repeat(128)],
    ['a space inside', 'rack 17'],
    ['a name that JavaScript knows', '__proto__'],
    ['markup and shell words', `"><img src=x onerror=alert(1)>'; rm -rf ~ #`],
    ['letters of any language', 'ラック-拾七-رف'],
    ['a combining mark, not composed', 'e\u0301'],
  ])('to a name of %s, and does not change it', async (_, rack) => {
    expectAccepted(await post({ ...validReading, rack }))
    expect((await last())?.data.rack).toBe(rack)
  })

  test.each([0, -40.25, 1e308, 5e-324, 7e-6, 2 ** 53 + 2])('to the value %d', async (value) => {
    expectAccepted(await post({ ...validReading, value }))
    expect((await last())?.data.value).toBe(value)
  })

  test('to an old reading, and to one ahead of the clock', async () => {
    expectAccepted(await post({ ...validReading, timestamp: '0000-01-01T00:00:00Z' }))
    expectAccepted(await post({ ...validReading, timestamp: '9999-12-31T23:59:59Z' }))
  })

  test('and ignores other fields, also those that could pollute a prototype', async () => {
    const fields = JSON.stringify(validReading).slice(1, -1)
    expectAccepted(
      await post(`{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"unit":"C",${fields}}`),
    )
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
    expect((await last())?.data).toEqual(validReading)
  })

  test('and takes the last of a field given twice', async () => {
    expectAccepted(await post(`{"value":1,${JSON.stringify(validReading).slice(1)}`))
    expect((await last())?.data.value).toBe(validReading.value)
  })

  test.each(['application/json; charset=utf-8', 'Application/JSON', 'application/json ; charset=iso-8859-1'])(
    'to the content type %s',
    async (type) => {
      expectAccepted(await post(validReading, { 'Content-Type': type }))
    },
  )

  test('to a body with the encoding identity', async () => {
    expectAccepted(await post(validReading, { 'Content-Encoding': 'Identity' }))
  })

  test('to a body with a byte order mark', async () => {
    expectAccepted(await post(`\uFEFF${JSON.stringify(validReading)}`))
  })

  test('to a body of exactly the bound', async () => {
    const json = JSON.stringify(validReading)
    const body = json + ' '.repeat(readingBodyBytesMax - json.length)
    expectAccepted(await post(body))
    const chunk = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
    const [answer] = await rawExchange(service.url, `${head(['Transfer-Encoding: chunked'])}${chunk}`)
    expect(answer?.status).toBe(200)
  })

  test('to a path with a query', async () => {
    const answer = await fetch(`${service.url}/api/v1/ingest?cellar=other&x=/api/`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-API-Key': key },
      body: JSON.stringify(validReading),
    })
    expect(answer.status).toBe(200)
  })

  test('to each of many requests on one connection', async () => {
    const connection = await rawConnect(service.url)
    const body = JSON.stringify(validReading)
    for (let sent = 1; sent <= 20; sent += 1) {
      await connection.send(`${head([`Content-Length: ${body.length}`])}${body}`)
      const answers = await connection.answers(sent)
      expect(answers.map((answer) => answer.status)).toEqual(Array.from({ length: sent }, () => 200))
    }
    connection.drop()
  })

  // Bun closes the connection when a second request comes before the first answer. So a stored reading may get no answer.
  test('only to stored readings, when requests are pipelined', async () => {
    const body = JSON.stringify({ ...validReading, rack: 'pipelined' })
    const request = `${head([`Content-Length: ${body.length}`])}${body}`
    const answers = await rawExchange(service.url, request.repeat(3), 3)
    const stored = (await acceptedReadings(service.log)).filter(({ data }) => data.rack === 'pipelined')
    expect(answers.length).toBeLessThanOrEqual(stored.length)
  })

  test('to a body that comes byte by byte', async () => {
    const connection = await rawConnect(service.url)
    const body = JSON.stringify(validReading)
    await connection.send(head([`Content-Length: ${body.length}`]))
    for (const byte of body) await connection.send(byte)
    const [answer] = await connection.answers(1)
    expect(answer?.status).toBe(200)
    connection.drop()
  })

  // Elysia looks for the path at a fixed place in the URL, which a very short host name could break.
  test.each(['a', 'pi', 'nas', 'a.b', ''])('under the host name %j', async (host) => {
    const body = JSON.stringify(validReading)
    const lines = [
      `Host: ${host}`,
      `X-API-Key: ${key}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ]
    const request = `POST /api/v1/ingest HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`
    const [answer] = await rawExchange(service.url, request)
    expect(answer?.status).toBe(200)
  })

  test('to HTTP/1.0 without a host', async () => {
    const body = JSON.stringify(validReading)
    const lines = [`X-API-Key: ${key}`, 'Content-Type: application/json', `Content-Length: ${body.length}`]
    const [answer] = await rawExchange(
      service.url,
      `POST /api/v1/ingest HTTP/1.0\r\n${lines.join('\r\n')}\r\n\r\n${body}`,
    )
    expect(answer?.status).toBe(200)
  })
})

const head = (lines: readonly string[]): string =>
  [
    'POST /api/v1/ingest HTTP/1.1',
    'Host: 127.0.0.1',
    `X-API-Key: ${key}`,
    'Content-Type: application/json',
    ...lines,
    '',
    '',
  ].join('\r\n')

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  bodyGraceMs,
  bodyReservedBytesMin,
  connectionIdleSecondsMax,
  readingBodyBytesMax,
} from '../../../src/http/http-bounds.ts'
import { batchBodyBytesMax } from '../../../src/http/ingest/ingest-batch.ts'
import { bodyInOnePieceBytesMax } from '../../../src/http/read-body.ts'
import type { BodyPool } from '../../../src/http/unfinished-bodies.ts'
import { bodyHeartbeatMs, keyBodiesBytesMax } from '../../../src/http/unfinished-bodies.ts'
import { acceptedReadings, answerOf, expectRefusal } from '../../support/answers.ts'
import { onlyAnswer, type RawAnswer, type RawConnection, rawConnect } from '../../support/raw-http.ts'
import { type Service, startService, validReading } from '../../support/test-service.ts'
import { type DrivenSchedule, drivenSchedule } from '../../support/time/driven-schedule.ts'
import { until } from '../../support/time/until.ts'

let schedule: DrivenSchedule
let service: Service
let key: string
let connections: RawConnection[]
beforeEach(async () => {
  schedule = drivenSchedule()
  service = await startService({ bodySchedule: schedule })
  key = (await service.createKey()).key
  connections = []
})
afterEach(async () => {
  for (const connection of connections) connection.drop()
  await service.stop()
})

const readingPath = '/api/v1/ingest'
const batchPath = '/api/v1/ingest/batch'
const largeBytes = bodyInOnePieceBytesMax + 20_000
/** The smallest body with a `Content-Length` that reserves memory. */
const longBytes = bodyReservedBytesMin + 1
const chunked = 'Transfer-Encoding: chunked'
const declared = (bytes: number): string => `Content-Length: ${bytes}`
const lengthHint = (bytes: number): string => ` Content-Length is ${bytes}: correct that header if the body is shorter.`

const head = (path: string, line: string, withKey = key): string =>
  `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: ${withKey}\r\nContent-Type: application/json\r\n${line}\r\n\r\n`

const stall = async (text: string): Promise<RawConnection> => {
  const connection = await rawConnect(service.url)
  connections.push(connection)
  await connection.send(text)
  return connection
}

const stallMany = (count: number, text: string): Promise<readonly RawConnection[]> =>
  Promise.all(Array.from({ length: count }, () => stall(text)))

const expectOverloaded = (answer: RawAnswer): void => {
  expect(answer.status).toBe(503)
  expect(JSON.parse(answer.body).code).toBe('OVERLOADED')
  expect(answer.headers.get('retry-after')).toBe('1')
}

const reserved = (pool: BodyPool = 'devices'): number => service.bodies.reservedBytes(pool)
const untilInFlight = (count: number): Promise<void> => until(() => service.bodies.count === count)

/** The event loop reads requests in order. When this request is answered, all bytes that were sent before it have been read. */
const untilRead = async (): Promise<void> => {
  await (await fetch(`${service.url}/livez`)).text()
  await schedule.quiet()
}

describe('200 stalled batches of one key', () => {
  test('are bounded to 16 MiB, and spare other keys', async () => {
    const other = (await service.createKey()).key
    let refusals = 0
    const stalled = await stallMany(200, head(batchPath, declared(batchBodyBytesMax)))
    for (const connection of stalled) {
      connection.answers(1).then(([answer]) => {
        if (answer === undefined) return
        expectOverloaded(answer)
        refusals += 1
      })
    }
    const held = keyBodiesBytesMax / batchBodyBytesMax
    await until(() => refusals === 200 - held)
    expect([service.bodies.count, reserved()]).toEqual([held, keyBodiesBytesMax])
    expect((await service.post(validReading, other)).status).toBe(200)
    const json = JSON.stringify(validReading)
    expectRefusal(await answerOf(await service.post(json.padEnd(longBytes), key)), 503, 'OVERLOADED')
    expect((await service.post(json.padEnd(bodyReservedBytesMin), key)).status).toBe(200)

    for (const connection of stalled) connection.drop()
    await untilInFlight(0)
    expect(reserved()).toBe(0)
    expect((await service.post(validReading, key)).status).toBe(200)
  })

  test('without a declared length reserve the largest size', async () => {
    const held = keyBodiesBytesMax / batchBodyBytesMax
    await stallMany(held, `${head(batchPath, chunked)}1\r\n{\r\n`)
    await untilInFlight(held)
    expect(reserved()).toBe(keyBodiesBytesMax)
    expectOverloaded(await onlyAnswer(await stall(head(batchPath, chunked))))
    expectOverloaded(await onlyAnswer(await stall(head(readingPath, chunked))))
  })
})

describe('the reservation is 0', () => {
  const json = JSON.stringify(validReading)
  const cases: readonly { readonly what: string; readonly text: () => string; readonly status: number }[] = [
    { what: 'a short reading', text: () => head(readingPath, declared(json.length)) + json, status: 200 },
    {
      what: 'a long reading',
      text: () => head(readingPath, declared(longBytes)) + json.padEnd(longBytes),
      status: 200,
    },
    {
      what: 'a reading in chunks',
      text: () => `${head(readingPath, chunked)}${json.length.toString(16)}\r\n${json}\r\n0\r\n\r\n`,
      status: 200,
    },
    {
      what: 'a large batch',
      text: () => head(batchPath, declared(largeBytes)) + `{"readings":[${json}]}`.padEnd(largeBytes),
      status: 200,
    },
    { what: 'what is not JSON', text: () => `${head(readingPath, declared(1))}{`, status: 400 },
    {
      what: 'a chunked body over the bound',
      text: () => `${head(readingPath, chunked)}4001\r\n${' '.repeat(readingBodyBytesMax + 1)}\r\n`,
      status: 413,
    },
    {
      what: 'a declared length over the bound',
      text: () => head(readingPath, declared(readingBodyBytesMax + 1)),
      status: 413,
    },
    {
      what: 'a body that is not gzip',
      text: () => `${head(readingPath, `Content-Encoding: gzip\r\n${declared(4)}`)}gzip`,
      status: 400,
    },
  ]
  test.each(cases)('after $what', async ({ text, status }) => {
    expect((await onlyAnswer(await stall(text()))).status).toBe(status)
    expect([service.bodies.count, reserved()]).toEqual([0, 0])
  })

  test('after a bug behind the body', async () => {
    const broken = await startService({
      wrapCore: (core) => ({
        ...core,
        keys: {
          ...core.keys,
          accept: () => {
            throw new Error('a bug')
          },
        },
      }),
    })
    const body = JSON.stringify(validReading).padEnd(longBytes)
    expect((await broken.post(body, (await broken.createKey()).key)).status).toBe(500)
    expect([broken.bodies.count, broken.bodies.reservedBytes('devices')]).toEqual([0, 0])
    await broken.stop()
  })

  test('after clients disconnect', async () => {
    for (const text of [
      `${head(readingPath, declared(longBytes))}{`,
      `${head(batchPath, declared(largeBytes))}{`,
      `${head(batchPath, chunked)}1\r\n{\r\n`,
    ]) {
      const connection = await stall(text)
      await untilInFlight(1)
      connection.drop()
      await untilInFlight(0)
      expect(reserved()).toBe(0)
    }
  })
})

describe('a request without a valid key', () => {
  test('reserves nothing, and gets 401 before its body', async () => {
    for (const line of [declared(batchBodyBytesMax), declared(99_999_999_999), chunked]) {
      const connection = await stall(head(batchPath, line, `${key}x`))
      expect((await onlyAnswer(connection)).status).toBe(401)
      expect([service.bodies.count, service.bodies.holders('devices')]).toEqual([0, 0])
    }
  })

  test('reserves nothing while its body arrives', async () => {
    const connection = await stall(head(batchPath, declared(batchBodyBytesMax), `${key}x`))
    await onlyAnswer(connection)
    await connection.send(' '.repeat(batchBodyBytesMax / 2))
    await untilRead()
    expect([service.bodies.count, reserved()]).toEqual([0, 0])
  })
})

describe('a slow body', () => {
  /** A body gets 30 s before its speed is checked. One heartbeat is added, because the check happens at heartbeats. */
  const graceMs = bodyGraceMs + bodyHeartbeatMs

  test.each([
    ['a short reading', readingPath, declared(bodyReservedBytesMin), '{', lengthHint(bodyReservedBytesMin)],
    ['a reading', readingPath, declared(longBytes), '{', lengthHint(longBytes)],
    ['a large batch', batchPath, declared(largeBytes), '{', lengthHint(largeBytes)],
    ['a batch in chunks', batchPath, chunked, '1\r\n{\r\n', ''],
  ])('that stalls, %s, gets 408 and a closed connection', async (_, path, line, part, hint) => {
    const connection = await stall(head(path, line) + part)
    await untilInFlight(1)
    await schedule.advance(graceMs)
    expect(service.bodies.count).toBe(1)
    await schedule.advance(bodyHeartbeatMs)
    const answer = await onlyAnswer(connection)
    await connection.closed
    expect(answer.headers.get('connection')).toBe('close')
    const refusal = {
      status: answer.status,
      body: answer.body,
      header: (name: string) => answer.headers.get(name.toLowerCase()) ?? null,
    }
    expect(expectRefusal(refusal, 408, 'REQUEST_TIMEOUT')).toBe(
      `body must arrive at 1024 bytes a second or faster after its first 30 seconds: send smaller batches, or use a faster connection.${hint}`,
    )
    expect([service.bodies.count, reserved()]).toEqual([0, 0])
    expect(service.lines.filter(({ level }) => level === 'error')).toEqual([])
  })

  test('of a short reading reserves nothing', async () => {
    await stall(`${head(readingPath, declared(bodyReservedBytesMin))}{`)
    await untilInFlight(1)
    expect([reserved(), service.bodies.holders('devices')]).toEqual([0, 0])
  })

  test('of a repeat gets 408, although the window is full', async () => {
    const limited = await service.createKey({ limit: { readings: 1, windowMs: 60_000 } })
    const first = await service.post(validReading, limited.key, { 'Idempotency-Key': 'first' })
    expect(first.status).toBe(200)
    const lines = `Idempotency-Key: first\r\n${declared(longBytes)}`
    const connection = await stall(`${head(readingPath, lines, limited.key)}{`)
    await untilInFlight(1)
    await schedule.advance(graceMs + bodyHeartbeatMs)
    const answer = await onlyAnswer(connection)
    await connection.closed
    expect([answer.status, answer.headers.get('connection')]).toEqual([408, 'close'])
  })

  test('gets 408 although the cost budget of its key is empty', async () => {
    const other = await service.createKey()
    const connection = await stall(`${head(readingPath, declared(longBytes), other.key)}{`)
    await untilInFlight(1)
    for (let posted = 0; posted < 4; posted += 1) await service.postBatch('x'.repeat(1_000_000), other.key)
    await schedule.advance(graceMs + bodyHeartbeatMs)
    const answer = await onlyAnswer(connection)
    await connection.closed
    expect([answer.status, answer.headers.get('connection')]).toEqual([408, 'close'])
  })

  test('at 1 KiB a second is read to its end', async () => {
    const body = JSON.stringify({ readings: [validReading] }).padEnd(largeBytes)
    const connection = await stall(head(batchPath, declared(body.length)))
    await untilInFlight(1)
    await schedule.advance(graceMs)
    const piece = (bodyHeartbeatMs / 1_000) * 1024
    for (let sent = 0; sent < body.length; sent += piece) {
      expect(service.bodies.count).toBe(1)
      await connection.send(body.slice(sent, sent + piece))
      await untilRead()
      await schedule.advance(bodyHeartbeatMs)
    }
    expect((await onlyAnswer(connection)).status).toBe(200)
    expect((await acceptedReadings(service.log)).length).toBe(1)
    expect(reserved()).toBe(0)
  })

  test('gets its idle timer renewed by its own server', async () => {
    const renewed: number[] = []
    const server = service.server
    const { timeout } = server
    server.timeout = (request, seconds) => {
      renewed.push(seconds)
      timeout.call(server, request, seconds)
    }
    await stall(`${head(batchPath, declared(largeBytes))}{`)
    await untilInFlight(1)
    await schedule.advance(2 * bodyHeartbeatMs)
    expect(renewed).toEqual([connectionIdleSecondsMax, connectionIdleSecondsMax])
  })
})

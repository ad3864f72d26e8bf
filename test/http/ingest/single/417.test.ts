/** Bun sends `100 Continue` only for exactly `Expect: 100-continue`. The service answers every other `Expect` in time. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { bodyGraceMs, readingBodyBytesMax } from '../../../../src/http/http-bounds.ts'
import { bodyHeartbeatMs, continueWaitMs } from '../../../../src/http/unfinished-bodies.ts'
import { acceptedReadings, answerOf, expectRefusal } from '../../../support/answers.ts'
import { onlyAnswer, type RawConnection, rawConnect } from '../../../support/raw-http.ts'
import { type Service, startService, validReading } from '../../../support/test-service.ts'
import { type DrivenSchedule, drivenSchedule } from '../../../support/time/driven-schedule.ts'
import { until } from '../../../support/time/until.ts'

let schedule: DrivenSchedule
let service: Service
let key: string
let connection: RawConnection
beforeEach(async () => {
  schedule = drivenSchedule()
  service = await startService({ bodySchedule: schedule })
  key = (await service.createKey()).key
  connection = await rawConnect(service.url)
})
afterEach(async () => {
  connection.drop()
  await service.stop()
})

const body = JSON.stringify(validReading)

type Head = { readonly withKey?: string; readonly method?: string; readonly path?: string }

const sendHead = (
  lines: readonly string[],
  { withKey = key, method = 'POST', path = '/api/v1/ingest' }: Head = {},
): Promise<void> => {
  const head = [
    `${method} ${path} HTTP/1.1`,
    ...(lines.some((line) => line.startsWith('Host:')) ? [] : ['Host: 127.0.0.1']),
    `X-API-Key: ${withKey}`,
    'Content-Type: application/json',
    ...lines,
  ]
  return connection.send(`${head.join('\r\n')}\r\n\r\n`)
}

const length = `Content-Length: ${body.length}`
const expectStored = async (count: number): Promise<void> => {
  expect((await acceptedReadings(service.log)).length).toBe(count)
}
/** The service checks how much of a body has come only at heartbeats, and the first one does not count. */
const waitMs = bodyHeartbeatMs + continueWaitMs

describe('POST /api/v1/ingest answers 417 EXPECTATION_FAILED', () => {
  test.each(['100-continued', 'x', '100-continue, x', '100-continue;q=1', '200-ok'])(
    'to Expect: %s, and closes the connection',
    async (value) => {
      const response = await service.post(validReading, key, { Expect: value })
      expect(response.headers.get('Connection')).toBe('close')
      expect(expectRefusal(await answerOf(response), 417, 'EXPECTATION_FAILED')).toBe(
        'Expect must be 100-continue, in lower case, or absent: leave out that header, and send the body at once.',
      )
      await expectStored(0)
    },
  )

  test('before the body has come', async () => {
    await sendHead(['Expect: x', length])
    expect((await onlyAnswer(connection)).status).toBe(417)
    await connection.closed
  })

  test('only after it has checked the key', async () => {
    await sendHead(['Expect: x', length], { withKey: `${key}x` })
    expect((await onlyAnswer(connection)).status).toBe(401)
  })
})

describe('a refusal before the body is read', () => {
  // The client sends its body only after a 100. On an open connection, its next request would be read as the missing body.
  test.each<[string, Head & { readonly lines?: readonly string[] }]>([
    ['401', { withKey: 'clr_wrong' }],
    ['404', { path: '/api/v1/nothing' }],
    ['404', { path: '//api/v1/ingest' }],
    ['405', { method: 'PUT' }],
    ['413', { lines: [`Content-Length: ${readingBodyBytesMax + 1}`] }],
    ['415', { lines: ['Content-Encoding: br', length] }],
    ['421', { path: '/login', lines: ['Host: other.example', length] }],
  ])('closes the connection of a client that waits for a 100: %s %o', async (status, { lines = [length], ...head }) => {
    await sendHead(['Expect: 100-Continue', ...lines], head)
    const answer = await onlyAnswer(connection)
    expect([`${answer.status}`, answer.headers.get('connection')]).toEqual([status, 'close'])
    await connection.closed
  })

  test('closes it, too, when the key is over its limit', async () => {
    const limited = await service.createKey({ limit: { readings: 1, windowMs: 60_000 } })
    expect((await service.post(validReading, limited.key)).status).toBe(200)
    await sendHead(['Expect: 100-Continue', length], { withKey: limited.key })
    expect((await onlyAnswer(connection)).status).toBe(429)
    await connection.closed
  })

  test.each([[], ['Expect: 100-continue']])(
    'keeps the connection of a client that sends its body: %s',
    async (...lines) => {
      await sendHead([...lines, length], { withKey: 'clr_wrong' })
      await connection.send(body)
      await sendHead([length])
      await connection.send(body)
      const answers = await connection.answers(2 + lines.length)
      expect(answers.map(({ status }) => status)).toEqual([...lines.map(() => 100), 401, 200])
    },
  )
})

describe('a request with Expect: 100-continue', () => {
  test('gets 100 before its body, and 200 after', async () => {
    await sendHead(['Expect: 100-continue', length])
    expect((await onlyAnswer(connection)).status).toBe(100)
    await connection.send(body)
    expect((await connection.answers(2)).map(({ status }) => status)).toEqual([100, 200])
    await expectStored(1)
  })
})

describe('a request that expects 100-continue in another form', () => {
  const forms = ['100-Continue', '100-CONTINUE', '100-Continue, 100-continue', ',']

  test.each(forms)('%s, is stored when its body comes at once', async (form) => {
    await sendHead([`Expect: ${form}`, length])
    await connection.send(body)
    expect((await onlyAnswer(connection)).status).toBe(200)
    await expectStored(1)
  })

  test.each(forms)('%s, is stored when its client waits no longer', async (form) => {
    await sendHead([`Expect: ${form}`, length])
    await until(() => service.bodies.count === 1)
    await schedule.advance(waitMs - 1)
    await connection.send(body)
    expect((await onlyAnswer(connection)).status).toBe(200)
    await expectStored(1)
  })

  test.each([length, 'Transfer-Encoding: chunked'])(
    'gets 417 without a body when its body does not begin: %s',
    async (line) => {
      await sendHead(['Expect: 100-Continue', line])
      await until(() => service.bodies.count === 1)
      await schedule.advance(waitMs)
      const answer = await onlyAnswer(connection)
      await connection.closed
      expect([answer.status, answer.body, answer.headers.get('connection')]).toEqual([417, '', 'close'])
      expect([service.bodies.count, service.bodies.reservedBytes('devices')]).toEqual([0, 0])
      await expectStored(0)
    },
  )

  test('gets 408 when its body begins and then stalls', async () => {
    await sendHead(['Expect: 100-Continue', length])
    await connection.send('{')
    await until(() => service.bodies.count === 1)
    await (await fetch(`${service.url}/livez`)).text()
    await schedule.advance(waitMs)
    expect(service.bodies.count).toBe(1)
    await schedule.advance(bodyGraceMs + bodyHeartbeatMs)
    expect((await onlyAnswer(connection)).status).toBe(408)
  })

  test.each([
    [`Content-Length: ${readingBodyBytesMax + 1}`, 413],
    ['Content-Length: 0', 400],
  ])('gets its other refusals at once: %s', async (line, status) => {
    await sendHead(['Expect: 100-Continue', line])
    expect((await onlyAnswer(connection)).status).toBe(status)
  })
})

/**
 * What Bun does when a client sends something behind its request, or closes its sending side (docs/devices.md, "Answers without
 * JSON"). The service cannot change this. If a test fails after an update of Bun, the guide can promise more.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { acceptedReadings } from '../support/answers.ts'
import { type RawConnection, rawConnect } from '../support/raw-http.ts'
import { type Service, startService, validReading } from '../support/test-service.ts'
import { until } from '../support/time/until.ts'

let service: Service
let key: string
let connection: RawConnection
/** While this is true, requests wait just before they are stored. So their answers come after all that Bun does. */
let isHeld: boolean
let held: Promise<unknown>[]
beforeEach(async () => {
  isHeld = true
  held = []
  service = await startService({
    wrapCore: (core) => ({
      ...core,
      keys: {
        ...core.keys,
        acceptIdempotent: (...parameters) => {
          const storing = until(() => !isHeld).then(() => core.keys.acceptIdempotent(...parameters))
          held.push(storing)
          return storing
        },
      },
    }),
  })
  key = (await service.createKey()).key
  connection = await rawConnect(service.url)
})
afterEach(async () => {
  connection.drop()
  await service.stop()
})

const body = JSON.stringify(validReading)
const length = `Content-Length: ${body.length}`
const chunked = 'Transfer-Encoding: chunked'
const chunk = `${body.length.toString(16)}\r\n${body}\r\n`
const repeated = { 'Idempotency-Key': 'first' }

const requestOf = (lines: readonly string[], sent: string): string => {
  const head = ['POST /api/v1/ingest HTTP/1.1', 'Host: 127.0.0.1', `X-API-Key: ${key}`, 'Idempotency-Key: first']
  return [...head, 'Content-Type: application/json', ...lines, '', sent].join('\r\n')
}

/** Lets the one held request be stored. */
const release = async (): Promise<void> => {
  await until(() => held.length === 1)
  isHeld = false
  await held[0]
}

const expectRepeatAnswered = async (): Promise<void> => {
  const { status, headers } = await service.post(body, key, repeated)
  expect([status, headers.get('Idempotent-Replayed')]).toEqual([200, 'true'])
  expect((await acceptedReadings(service.log)).length).toBe(1)
}

const bare400 = 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n'

describe('a stored reading, whose answer is a bare 400', () => {
  test.each([
    ['a line break behind its body', [length], `${body}\r\n`],
    ['a line feed behind its body', [length], `${body}\n`],
    ['a trailer behind its chunks', [chunked], `${chunk}0\r\nX-Note: 1\r\n\r\n`],
    ['a trailer, and Connection: close', [chunked, 'Connection: close'], `${chunk}0\r\nX-Note: 1\r\n\r\n`],
  ])('has %s; its repeat gets the 200', async (_, lines, sent) => {
    await connection.send(requestOf(lines, sent))
    await connection.closed
    expect(connection.received()).toBe(bare400)
    await release()
    await expectRepeatAnswered()
  })
})

describe('a client that closes its sending side', () => {
  test.each([
    ['', [length]],
    [' and sends Connection: close', [length, 'Connection: close']],
  ])('gets no answer%s; its repeat gets the 200', async (_, lines) => {
    await connection.send(requestOf(lines, body))
    connection.finish()
    await connection.closed
    expect(connection.received()).toBe('')
    await release()
    await expectRepeatAnswered()
  })
})

describe('a line break behind the body', () => {
  test('does no harm with Connection: close', async () => {
    isHeld = false
    await connection.send(requestOf([length, 'Connection: close'], `${body}\r\n`))
    expect((await connection.answers(1)).map(({ status }) => status)).toEqual([200])
  })

  test('closes the connection when it comes after the answer', async () => {
    isHeld = false
    await connection.send(requestOf([length], body))
    expect((await connection.answers(1)).map(({ status }) => status)).toEqual([200])
    await connection.send('\r\n')
    await connection.closed
    expect((await connection.answers(2)).map(({ status }) => status)).toEqual([200, 400])
  })
})

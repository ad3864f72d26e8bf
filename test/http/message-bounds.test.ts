/**
 * If a proxy and the service see different ends of a request, its rest counts as the next client's request (request smuggling).
 * So Bun must refuse each request whose end is ambiguous.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { acceptedReadings } from '../support/answers.ts'
import { rawConnect, rawExchange } from '../support/raw-http.ts'
import { type Service, startService, validReading } from '../support/test-service.ts'

let service: Service
let key: string
beforeAll(async () => {
  service = await startService()
  key = (await service.createKey()).key
})
afterAll(() => service.stop())

const body = JSON.stringify(validReading)
const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`

const requestOf = (lines: readonly string[], sent: string): string => {
  const head = [
    'POST /api/v1/ingest HTTP/1.1',
    'Host: 127.0.0.1',
    `X-API-Key: ${key}`,
    'Content-Type: application/json',
  ]
  return `${[...head, ...lines].join('\r\n')}\r\n\r\n${sent}`
}

/**
 * Sends the request and a second one directly behind its body. Returns the statuses of all answers until the connection is
 * closed.
 */
const statusesOf = async (lines: readonly string[], sent: string): Promise<readonly number[]> => {
  const connection = await rawConnect(service.url)
  await connection.send(`${requestOf(lines, sent)}GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`)
  await connection.closed
  return (await connection.answers(2)).map(({ status }) => status)
}

describe('an ambiguous request', () => {
  test.each([
    ['a length and chunks', [`Content-Length: ${body.length}`, 'Transfer-Encoding: chunked'], chunks],
    ['chunks and a length', ['Transfer-Encoding: chunked', `Content-Length: ${body.length}`], chunks],
    ['two lengths', [`Content-Length: ${body.length}`, `Content-Length: ${body.length - 1}`], body],
    ['a length with a sign', [`Content-Length: +${body.length}`], body],
    ['a space before the colon', [`Content-Length : ${body.length}`], body],
    ['a header in two lines', ['X-Note: one', ' two', `Content-Length: ${body.length}`], body],
    ['another encoding before chunks', ['Transfer-Encoding: gzip, chunked'], chunks],
    ['another encoding behind chunks', ['Transfer-Encoding: chunked, identity'], chunks],
    ['an encoding that is none', ['Transfer-Encoding: xchunked', `Content-Length: ${body.length}`], body],
  ])('is refused, stores nothing, and its connection is closed: %s', async (_, lines, sent) => {
    expect(await statusesOf(lines, sent)).toEqual([400])
    expect(await acceptedReadings(service.log)).toEqual([])
  })
})

test.each([
  ['one length', [`Content-Length: ${body.length}`], body],
  ['chunks', ['Transfer-Encoding: chunked'], chunks],
])('an unambiguous request is accepted: %s', async (_, lines, sent) => {
  const answers = await rawExchange(service.url, requestOf(lines, sent))
  expect(answers.map(({ status }) => status)).toEqual([200])
})

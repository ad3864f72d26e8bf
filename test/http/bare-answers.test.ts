/** Bun answers these requests before the service sees them (docs/devices.md, "Answers without JSON"). */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { acceptedReadings } from '../support/answers.ts'
import { rawConnect } from '../support/raw-http.ts'
import { type Service, startService, validReading } from '../support/test-service.ts'

let service: Service
let key: string
beforeAll(async () => {
  service = await startService()
  key = (await service.createKey()).key
})
afterAll(() => service.stop())

const body = JSON.stringify(validReading)
const line = 'POST /api/v1/ingest HTTP/1.1'
const host = 'Host: 127.0.0.1'
const length = `Content-Length: ${body.length}`
const chunked = 'Transfer-Encoding: chunked'

const requestOf = (lines: readonly string[], sent = body): string =>
  [...lines, `X-API-Key: ${key}`, 'Content-Type: application/json', '', sent].join('\r\n')

/** Returns all bytes that come until the server closes the connection. */
const closedAfter = async (text: string): Promise<string> => {
  const connection = await rawConnect(service.url)
  await connection.send(text)
  await connection.closed
  return connection.received()
}

const bare = (reason: string): string => `HTTP/1.1 ${reason}\r\nConnection: close\r\n\r\n`

describe('a request that Bun answers by itself', () => {
  const headOf = (bytes: number): string => {
    const rest = requestOf([line, host, length, 'X-Note: '], '').length
    return requestOf([line, host, length, `X-Note: ${'x'.repeat(bytes - rest)}`])
  }
  const headers = (count: number): string => {
    const more = Array.from({ length: count - 4 }, (_, at) => `X-Note-${at}: 1`)
    return requestOf([line, host, length, ...more])
  }

  test.each<readonly [string, string, () => string]>([
    ['without Host', '400 Bad Request', () => requestOf([line, length])],
    ['without a slash', '400 Bad Request', () => requestOf(['POST api/v1/ingest HTTP/1.1', host, length])],
    ['after an empty line', '400 Bad Request', () => requestOf(['', line, host, length])],
    ['with a header without a colon', '400 Bad Request', () => requestOf([line, host, length, 'X-Note'])],
    ['with a space before the colon', '400 Bad Request', () => requestOf([line, host, length, 'X-Note : 1'])],
    ['with a control character', '400 Bad Request', () => requestOf([line, host, length, 'X-Note: a\x01b'])],
    ['with a header on two lines', '400 Bad Request', () => requestOf([line, host, length, 'X-Note: a', ' b'])],
    ['with a length that is no number', '400 Bad Request', () => requestOf([line, host, 'Content-Length: 1e2'])],
    ['with two lengths', '400 Bad Request', () => requestOf([line, host, length, 'Content-Length: 1'])],
    ['with a length and chunks', '400 Bad Request', () => requestOf([line, host, length, chunked], '0\r\n\r\n')],
    ['with broken chunks', '400 Bad Request', () => requestOf([line, host, chunked], `zz\r\n${body}`)],
    ['in TLS', '400 Bad Request', () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    [
      'with a length of 2^53',
      '413 Request Entity Too Large',
      () => requestOf([line, host, `Content-Length: ${2 ** 53}`]),
    ],
    ['with 16 KiB of headers and a byte', '431 Request Header Fields Too Large', () => headOf(16 * 1024 + 1)],
    ['with 199 headers', '431 Request Header Fields Too Large', () => headers(199)],
    ['of HTTP/2', '505 HTTP Version Not Supported', () => requestOf(['POST /api/v1/ingest HTTP/2.0', host, length])],
    ['without a version', '505 HTTP Version Not Supported', () => requestOf(['POST /api/v1/ingest', host, length])],
    [
      'with line feeds alone',
      '505 HTTP Version Not Supported',
      () => requestOf([line, host, length]).replaceAll('\r', ''),
    ],
    [
      'with a space in its path',
      '505 HTTP Version Not Supported',
      () => requestOf(['POST /api/v1/ ingest HTTP/1.1', host]),
    ],
  ])('gets no body, stores nothing, and its connection is closed: %s', async (_, reason, request) => {
    expect(await closedAfter(request())).toBe(bare(reason))
    expect(await acceptedReadings(service.log)).toEqual([])
  })

  test('is not one within these bounds', async () => {
    for (const text of [headOf(16 * 1024), headers(198), requestOf(['POST /api/v1/ingest HTTP/1.0', length])]) {
      const connection = await rawConnect(service.url)
      await connection.send(text)
      expect((await connection.answers(1)).map(({ status }) => status)).toEqual([200])
      connection.drop()
    }
  })
})

test('the guide lists every status that Bun answers by itself', async () => {
  const guide = await Bun.file(new URL('../../docs/devices.md', import.meta.url)).text()
  const [, section = ''] = guide.split('### Answers without JSON')
  const listed = (section.split('\n## ')[0] ?? '').match(/^\| \d{3} /gm)?.map((cell) => cell.slice(2, 5))
  expect([...new Set(listed)]).toEqual(['400', '413', '431', '505'])
})

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readingBodyBytesMax } from '../../../../src/http/http-bounds.ts'
import { acceptedReadings, answerOf, expectRefusal } from '../../../support/answers.ts'
import { rawConnect, rawExchange } from '../../../support/raw-http.ts'
import { type Service, startService, validReading } from '../../../support/test-service.ts'

let service: Service
let key: string
beforeAll(async () => {
  service = await startService()
  key = (await service.createKey()).key
})
afterAll(() => service.stop())

const head = (line: string): string =>
  `POST /api/v1/ingest HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\n${line}\r\n\r\n`

describe('POST /api/v1/ingest answers 413 PAYLOAD_TOO_LARGE', () => {
  test('to a valid reading one byte over the bound', async () => {
    const json = JSON.stringify(validReading)
    const answer = await answerOf(await service.post(json.padEnd(readingBodyBytesMax + 1), key))
    expect(expectRefusal(answer, 413, 'PAYLOAD_TOO_LARGE')).toBe(
      'body must be at most 16384 bytes: send one reading, without other data.',
    )
    expect(await acceptedReadings(service.log)).toEqual([])
  })

  test.each([16_385, 200_000_000, 99_999_999_999])(
    'to a declared length of %d bytes before the body',
    async (bytes) => {
      const [answer] = await rawExchange(service.url, head(`Content-Length: ${bytes}`))
      expect(answer?.status).toBe(413)
      expect(JSON.parse(String(answer?.body)).code).toBe('PAYLOAD_TOO_LARGE')
    },
  )

  test('to a body of unknown length at the bound', async () => {
    const connection = await rawConnect(service.url)
    await connection.send(head('Transfer-Encoding: chunked'))
    const chunk = `1000\r\n${' '.repeat(0x1000)}\r\n`
    for (let sent = 0; sent <= readingBodyBytesMax; sent += 0x1000) await connection.send(chunk)
    const [answer] = await connection.answers(1)
    expect(answer?.status).toBe(413)
    connection.drop()
  })

  test('and keeps the connection after the body', async () => {
    const body = JSON.stringify(validReading)
    const long = `${head(`Content-Length: ${100_000}`)}${' '.repeat(100_000)}`
    const good = `${head(`Content-Length: ${body.length}`)}${body}`
    const answers = await rawExchange(service.url, long + good, 2)
    expect(answers.map((answer) => answer.status)).toEqual([413, 200])
  })
})

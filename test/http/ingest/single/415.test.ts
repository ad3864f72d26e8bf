import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { answerOf, expectRefusal } from '../../../support/answers.ts'
import { rawExchange } from '../../../support/raw-http.ts'
import { type Service, startService, validReading } from '../../../support/test-service.ts'

let service: Service
let key: string
beforeAll(async () => {
  service = await startService()
  key = (await service.createKey()).key
})
afterAll(() => service.stop())

const post = async (headers: Record<string, string>) => answerOf(await service.post(validReading, key, headers))

describe('POST /api/v1/ingest answers 415 UNSUPPORTED_MEDIA_TYPE', () => {
  test.each([
    '',
    'text/plain',
    'text/json',
    'application/jsonx',
    'application/json-seq',
    'application/ld+json',
    'application/json, application/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'xapplication/json',
    ';application/json',
  ])('to the content type %j', async (type) => {
    expect(expectRefusal(await post({ 'Content-Type': type }), 415, 'UNSUPPORTED_MEDIA_TYPE')).toBe(
      'Content-Type must be application/json: send that header with the body.',
    )
  })

  test('to a body without a content type', async () => {
    const body = JSON.stringify(validReading)
    const lines = [`X-API-Key: ${key}`, `Content-Length: ${body.length}`]
    const [answer] = await rawExchange(
      service.url,
      `POST /api/v1/ingest HTTP/1.1\r\nHost: 127.0.0.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`,
    )
    expect(answer?.status).toBe(415)
  })

  test.each(['br', 'deflate', 'zstd', 'gzip, gzip', 'identity, gzip', 'gzip;q=1', 'x'])(
    'to the encoding %j, and says what is accepted',
    async (encoding) => {
      expect(expectRefusal(await post({ 'Content-Encoding': encoding }), 415, 'UNSUPPORTED_MEDIA_TYPE')).toBe(
        'Content-Encoding must be gzip, identity or absent: compress the body with gzip, or leave out the header.',
      )
    },
  )
})

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

const refusal = async (body: string | Uint8Array) =>
  expectRefusal(await answerOf(await service.post(body, key)), 400, 'MALFORMED_JSON')
const valid = JSON.stringify(validReading)

describe('POST /api/v1/ingest answers 400 MALFORMED_JSON', () => {
  test.each(['', ' ', '\r\n\t'])('to the empty body %j', async (body) => {
    expect(await refusal(body)).toBe('body must not be empty: send one JSON object.')
  })

  test('to a request without a body', async () => {
    const lines = [`X-API-Key: ${key}`, 'Content-Type: application/json']
    const [answer] = await rawExchange(
      service.url,
      `POST /api/v1/ingest HTTP/1.1\r\nHost: 127.0.0.1\r\n${lines.join('\r\n')}\r\n\r\n`,
    )
    expect(answer?.status).toBe(400)
    expect(JSON.parse(String(answer?.body)).code).toBe('MALFORMED_JSON')
  })

  test.each(['undefined', '"', `${valid}${valid}`, '[]]', '{"a":1}}'])('to %j', async (body) => {
    expect(await refusal(body)).toStartWith('body must be valid JSON')
  })

  test('to a NaN in a string, with other words', async () => {
    expect(await refusal(valid.replace('rack-17', 'NaN \\" NaN').slice(0, -1))).not.toContain('NaN')
  })

  test.each([
    ['a lone continuation byte', [0x80]],
    ['a sequence cut short', [0xe2, 0x82]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['an encoded surrogate', [0xed, 0xa0, 0x80]],
    ['Latin-1', [0xe9]],
  ])('to %s in a name, which is not UTF-8', async (_, bytes) => {
    const [before = '', after = ''] = valid.split('rack-17')
    const body = Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)])
    expect(await refusal(body)).toBe(
      `body must be UTF-8: encode the JSON in UTF-8. It breaks at byte ${before.length} (counted from 0).`,
    )
  })

  test('to UTF-16', async () => {
    expect(await refusal(Buffer.from(`\uFEFF${valid}`, 'utf16le'))).toStartWith(
      'body must be UTF-8: encode the JSON in UTF-8.',
    )
  })

  test('to 16,000 opening quotes', async () => {
    expect(await refusal('"'.repeat(16_000))).toContain('It breaks at byte 2 ')
  })

  test('to the first of many words', async () => {
    expect(await refusal(`[${'"NaN" '.repeat(2_000)}NaN]`)).toContain('It breaks at byte 7 ')
  })
})

import { describe, expect, test } from 'bun:test'
import { Webhook } from 'standardwebhooks'
import { secretFrom, signedHeaders } from '../../src/webhooks/signature.ts'

const secret = secretFrom(Buffer.from('thirty-two bytes of a test secret'))
const body = '{"text":"Gin: rack “A” is silent, with 12 kegs."}'
const signed = (atMs = Date.now()) => signedHeaders({ id: 'msg_1', atMs, body, secret })

describe('signedHeaders()', () => {
  test('pass the check of the library of Standard Webhooks', () => {
    expect(new Webhook(secret).verify(body, signed())).toEqual(JSON.parse(body))
  })

  test.each([
    ['another body', () => new Webhook(secret).verify(`${body} `, signed())],
    ['another id', () => new Webhook(secret).verify(body, { ...signed(), 'webhook-id': 'msg_2' })],
    ['another secret', () => new Webhook(secretFrom(Buffer.alloc(32))).verify(body, signed())],
    ['an old time', () => new Webhook(secret).verify(body, signed(Date.now() - 3_600_000))],
  ])('fail that check with %s', (_, verify) => {
    expect(verify).toThrow()
  })

  test('have the time of the attempt in whole seconds', () => {
    expect(signed(1_790_000_000_999)['webhook-timestamp']).toBe('1790000000')
  })
})

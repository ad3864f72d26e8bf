import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readingBodyBytesMax } from '../../../src/http/http-bounds.ts'
import { type Service, startService, validReading } from '../../support/test-service.ts'

let service: Service
let key: string
let spentKey: string
beforeAll(async () => {
  service = await startService()
  key = (await service.createKey()).key
  spentKey = (await service.createKey({ limit: { readings: 1, windowMs: 60_000 } })).key
  await service.post(validReading, spentKey)
  for (const each of [key, spentKey])
    await service.post({ ...validReading, value: 1 }, each, { 'Idempotency-Key': 'used' })
})
afterAll(() => service.stop())

type Fault =
  | 'key'
  | 'route'
  | 'method'
  | 'limit'
  | 'type'
  | 'idempotency key'
  | 'size'
  | 'json'
  | 'body'
  | 'fields'
  | 'cellar'
  | 'used idempotency key'

const send = async (faults: ReadonlySet<Fault>, headers: Record<string, string> = {}): Promise<string> => {
  const response = await fetch(`${service.url}/api/v1/${faults.has('route') ? 'nothing' : 'ingest'}`, {
    method: faults.has('method') ? 'PUT' : 'POST',
    headers: {
      'X-API-Key': faults.has('key') ? 'x' : faults.has('limit') ? spentKey : key,
      'Content-Type': faults.has('type') ? 'text/plain' : 'application/json',
      ...headers,
      ...(faults.has('used idempotency key') && { 'Idempotency-Key': 'used' }),
      ...(faults.has('idempotency key') && { 'Idempotency-Key': 'Köln' }),
    },
    body: bodyWith(faults),
  })
  const body: unknown = await response.json()
  return `${response.status} ${Reflect.get(Object(body), 'code') ?? Reflect.get(Object(body), 'error')}`
}

const bodyWith = (faults: ReadonlySet<Fault>): string => {
  const reading = {
    ...validReading,
    ...(faults.has('cellar') && { cellar: 'other' }),
    ...(faults.has('fields') && { value: 'x' }),
  }
  const json = JSON.stringify(faults.has('body') ? [reading] : reading)
  const text = faults.has('json') ? json.slice(1) : json
  return faults.has('size') ? text.padEnd(readingBodyBytesMax + 1) : text
}

// This is the order of docs/contract.md, "One order of checks".
const inOrder: readonly (readonly [Fault, string])[] = [
  ['key', '401 Invalid API key'],
  ['route', '404 NOT_FOUND'],
  ['method', '405 METHOD_NOT_ALLOWED'],
  ['limit', '429 RATE_LIMITED'],
  ['type', '415 UNSUPPORTED_MEDIA_TYPE'],
  ['idempotency key', '400 INVALID_IDEMPOTENCY_KEY'],
  ['size', '413 PAYLOAD_TOO_LARGE'],
  ['json', '400 MALFORMED_JSON'],
  ['body', '400 INVALID_BODY'],
  ['fields', '400 INVALID_TYPE'],
  ['cellar', '403 CELLAR_MISMATCH'],
  ['used idempotency key', '422 IDEMPOTENCY_KEY_REUSED'],
]

describe('of all faults of a request', () => {
  test.each(inOrder.map(([fault, answer], index) => [fault, answer, index] as const))(
    'the %s comes first (%s), before all later faults',
    async (fault, answer, index) => {
      expect(await send(new Set([fault]))).toBe(answer)
      for (const [later] of inOrder.slice(index + 1)) expect(await send(new Set([fault, later]))).toBe(answer)
      expect(await send(new Set(inOrder.slice(index).map(([every]) => every)))).toBe(answer)
    },
  )

  test('a valid Idempotency-Key changes nothing in that order', async () => {
    const valid = { 'Idempotency-Key': 'valid' }
    for (const [index, [fault, answer]] of inOrder.entries()) {
      expect(await send(new Set([fault]), valid)).toBe(answer)
      for (const [later] of inOrder.slice(index + 1)) expect(await send(new Set([fault, later]), valid)).toBe(answer)
      expect(await send(new Set(inOrder.slice(index).map(([every]) => every)), valid)).toBe(answer)
    }
  })

  test('none is reported for a valid request', async () => {
    expect(await send(new Set())).toBe('200 undefined')
  })
})

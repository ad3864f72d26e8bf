import { afterEach, describe, expect, test } from 'bun:test'
import { emailOf } from '../support/test-operators.ts'
import { type Service, startService, validReading } from '../support/test-service.ts'
import { signedIn, startWithOperators, visitor } from './dashboard/visitor.ts'

let service: Service
afterEach(() => service.stop())

const ids = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', parentId: '00f067aa0ba902b7' }
const traceparent = `00-${ids.traceId}-${ids.parentId}-01`
const linesOf = (what: string) => service.lines.filter((line) => line.what === what).map(({ facts }) => facts)

describe('the line about a request with a traceparent', () => {
  test('has its ids when a reading is refused', async () => {
    service = await startService()
    await service.post(validReading, 'wrong', { traceparent })
    expect(linesOf('request refused')).toEqual([expect.objectContaining(ids)])
  })

  test('has its ids when a bug ends the request', async () => {
    service = await startService({
      wrapCore: (core) => ({
        ...core,
        keys: {
          ...core.keys,
          usage: () => {
            throw new Error('a bug')
          },
        },
      }),
    })
    await service.post(validReading, (await service.createKey()).key, { traceparent })
    expect(linesOf('request failed')).toEqual([expect.objectContaining(ids)])
  })

  test('has its ids when a sign-in is refused, or a page fails', async () => {
    service = await startWithOperators({
      wrapCore: (core) => ({
        ...core,
        cellars: {
          ...core.cellars,
          create: () => {
            throw new Error('a bug')
          },
        },
      }),
    })
    const stranger = visitor(service.url)
    await stranger.get('/sign-in')
    await stranger.post('/sign-in', { email: emailOf.admin, password: 'wrong', next: '' }, { traceparent })
    expect(linesOf('sign-in refused')).toEqual([expect.objectContaining(ids)])

    const admin = await signedIn(service, 'admin')
    await admin.post('/cellars', { cellar: 'berlin', title: 'Berlin' }, { traceparent })
    expect(linesOf('page failed')).toEqual([expect.objectContaining(ids)])
  })
})

const valid: readonly string[] = [
  traceparent,
  `cc-${ids.traceId}-${ids.parentId}-01`,
  `cc-${ids.traceId}-${ids.parentId}-01-more`,
]
test.each(valid)('a traceparent %j is in the line', async (text) => {
  service = await startService()
  await service.post(validReading, 'wrong', { traceparent: text })
  expect(linesOf('request refused')).toEqual([expect.objectContaining(ids)])
})

const invalid: readonly string[] = [
  '',
  `${traceparent}-more`,
  `ff-${ids.traceId}-${ids.parentId}-01`,
  `00-${'0'.repeat(32)}-${ids.parentId}-01`,
  `00-${ids.traceId}-${'0'.repeat(16)}-01`,
  traceparent.toUpperCase(),
  `${traceparent} `.repeat(9),
  `x${traceparent}`,
  `cc-${ids.traceId}-${ids.parentId}-01more`,
]
test.each(invalid)('an invalid traceparent %j is not in the line', async (text) => {
  service = await startService()
  await service.post(validReading, 'wrong', { traceparent: text })
  expect(linesOf('request refused').map((facts) => Object.keys(facts))).toEqual([
    ['requestId', 'status', 'code', 'keyId', 'address'],
  ])
})

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { bodyInOnePieceBytesMax } from '../../../src/limits.ts'
import { type Service, startService, validReading } from '../../support/service.ts'

let service: Service
let key: string
beforeAll(async () => {
  service = await startService()
  key = (await service.createKey()).key
})
afterAll(() => service.stop())

const batch = JSON.stringify({ readings: [validReading] })
const count = 24

/** The most bodies that were parsed between two looks. A turn has one look and one body, in either order: two at most. */
const parsedInOneTurn = async (posts: () => readonly Promise<Response>[]): Promise<number> => {
  let most = 0
  let before = service.work.bodiesParsed
  let isAnswered = false
  const look = (): void => {
    most = Math.max(most, service.work.bodiesParsed - before)
    before = service.work.bodiesParsed
    if (!isAnswered) setImmediate(look)
  }
  setImmediate(look)
  const first = service.work.bodiesParsed
  for (const answer of await Promise.all(posts())) expect(answer.status).toBe(200)
  isAnswered = true
  expect(service.work.bodiesParsed - first).toBe(count)
  return most
}

const post =
  (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  () =>
    Array.from({ length: count }, () => service.postBatch(body, key, headers))

describe('a batch that may be large', () => {
  test('is judged in a turn of the event loop of its own when it is packed', async () => {
    const packed = new Uint8Array(gzipSync(batch))
    expect(await parsedInOneTurn(post(packed, { 'Content-Encoding': 'gzip' }))).toBeLessThanOrEqual(2)
  })

  test('is judged in a turn of its own when it is one byte over what is read in one piece', async () => {
    expect(await parsedInOneTurn(post(batch.padEnd(bodyInOnePieceBytesMax + 1)))).toBeLessThanOrEqual(2)
  })

  test('keeps its reservation until its turn, and has none afterwards', async () => {
    const packed = new Uint8Array(gzipSync(batch))
    let most = 0
    const posts = post(packed, { 'Content-Encoding': 'gzip' })()
    const look = (): void => {
      most = Math.max(most, service.bodies.count)
      if (service.bodies.count > 0 || most === 0) setImmediate(look)
    }
    look()
    await Promise.all(posts)
    expect(most).toBeGreaterThan(1)
    expect(service.bodies.reservedBytes('devices')).toBe(0)
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { bodyInOnePieceBytesMax } from '../../../src/http/read-body.ts'
import { mostInOneTurn } from '../../support/most-in-one-turn.ts'
import { type Service, startService, validReading } from '../../support/test-service.ts'

let service: Service
let key: string
beforeAll(async () => {
  service = await startService()
  key = (await service.createKey()).key
})
afterAll(() => service.stop())

const batch = JSON.stringify({ readings: [validReading] })
const packed = new Uint8Array(gzipSync(batch))
const gzip = { 'Content-Encoding': 'gzip' }
const count = 24

const postMany = async (
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<void> => {
  const posts = Array.from({ length: count }, () => service.postBatch(body, key, headers))
  for (const answer of await Promise.all(posts)) expect(answer.status).toBe(200)
}

const parsed = (): number => service.work.bodiesParsed

describe('a large batch', () => {
  test('has its own event loop turn if it is packed', async () => {
    expect(await mostInOneTurn(parsed, postMany(packed, gzip))).toBeLessThanOrEqual(2)
  })

  test('has its own turn if it is one byte over 128 KiB', async () => {
    const body = batch.padEnd(bodyInOnePieceBytesMax + 1)
    expect(await mostInOneTurn(parsed, postMany(body))).toBeLessThanOrEqual(2)
  })

  test('keeps its reservation until its turn', async () => {
    let most = 0
    const watched = (): number => {
      most = Math.max(most, service.bodies.count)
      return 0
    }
    await mostInOneTurn(watched, postMany(packed, gzip))
    expect(most).toBeGreaterThan(1)
    expect(service.bodies.reservedBytes('devices')).toBe(0)
  })
})

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { readingBodyBytesMax } from '../../../src/http/http-bounds.ts'
import { packedBodyBytesMax } from '../../../src/http/ingest/checks-after-the-key.ts'
import { batchBodyBytesMax } from '../../../src/http/ingest/ingest-batch.ts'
import { acceptedReadings, answerOf, expectAccepted, expectBatch, expectRefusal } from '../../support/answers.ts'
import { rawExchange } from '../../support/raw-http.ts'
import { type Service, startService, validReading } from '../../support/test-service.ts'
import { packedTo } from './packed-to.ts'

let service: Service
let key: string
beforeAll(async () => {
  service = await startService()
  key = (await service.createKey()).key
})
afterAll(() => service.stop())
// A minute refills the cost budget of the key.
afterEach(() => service.clock.advance(60_000))

const gzip = { 'Content-Encoding': 'gzip' }
const json = JSON.stringify(validReading)
const post = async (body: string | Uint8Array, headers: Record<string, string> = gzip) =>
  answerOf(await service.post(body, key, headers))
const postBatch = async (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = gzip) =>
  answerOf(await service.postBatch(body, key, headers))
const packed = (text: string | Uint8Array) => new Uint8Array(gzipSync(text))

describe('a gzip body', () => {
  test.each(['gzip', 'GZip', 'x-gzip'])('is unpacked on both paths, as %s', async (encoding) => {
    const before = (await acceptedReadings(service.log)).length
    expectAccepted(await post(packed(json), { 'Content-Encoding': encoding }))
    const batch = packed(`{"readings":[${json},${json}]}`)
    expectBatch(await postBatch(batch, { 'Content-Encoding': encoding }), 200)
    const stored = (await acceptedReadings(service.log)).slice(before)
    expect(stored.map(({ data }) => data)).toEqual([validReading, validReading, validReading])
  })

  test('may have several gzip members', async () => {
    expectAccepted(await post(Buffer.concat([gzipSync(json.slice(0, 9)), gzipSync(''), gzipSync(json.slice(9))])))
  })

  test('gets 413 if it has one byte too much unpacked', async () => {
    expectAccepted(await post(packed(json.padEnd(readingBodyBytesMax))))
    expectRefusal(await post(packed(json.padEnd(readingBodyBytesMax + 1))), 413, 'PAYLOAD_TOO_LARGE')
    const batch = `{"readings":[${json}]}`
    expectBatch(await postBatch(packed(batch.padEnd(batchBodyBytesMax))), 200)
    expectRefusal(await postBatch(packed(batch.padEnd(batchBodyBytesMax + 1))), 413, 'PAYLOAD_TOO_LARGE')
  })

  test.each([
    ['/api/v1/ingest', readingBodyBytesMax],
    ['/api/v1/ingest/batch', packedBodyBytesMax],
  ])('gets 413 unread on %s if it is too long packed', async (path, bytesMax) => {
    const lines = [`X-API-Key: ${key}`, 'Content-Type: application/json', 'Content-Encoding: gzip']
    const head = [`POST ${path} HTTP/1.1`, 'Host: 127.0.0.1', ...lines, `Content-Length: ${bytesMax + 1}`]
    const [answer] = await rawExchange(service.url, `${head.join('\r\n')}\r\n\r\n`)
    expect(answer?.status).toBe(413)
  })

  test('of a batch may have 128 KiB packed, and not a byte more', async () => {
    const batch = `{"readings":[${json}]}`
    expectBatch(await postBatch(packedTo(packedBodyBytesMax, batch)), 200)
    const tooLong = packedTo(packedBodyBytesMax + 1, batch)
    const words = 'body must be at most 131072 bytes of gzip data: send it plain, or in smaller batches.'
    expect(expectRefusal(await postBatch(tooLong), 413, 'PAYLOAD_TOO_LARGE')).toBe(words)
    const inChunks = async function* () {
      yield tooLong
    }
    const headers = { ...gzip, 'X-API-Key': key, 'Content-Type': 'application/json' }
    const url = `${service.url}/api/v1/ingest/batch`
    const answer = await fetch(url, { method: 'POST', headers, body: inChunks() })
    expect(expectRefusal(await answerOf(answer), 413, 'PAYLOAD_TOO_LARGE')).toBe(words)
  })

  test('that unpacks to 128 MiB is refused at the bound', async () => {
    const bomb = bombOf(2)
    expect(bomb.byteLength).toBeLessThan(packedBodyBytesMax)
    const before = process.memoryUsage.rss()
    for (let sent = 0; sent < 20; sent += 1) {
      expectRefusal(await postBatch(bomb), 413, 'PAYLOAD_TOO_LARGE')
      // A minute refills the cost budget of the key, so that the next body is not refused for its cost.
      service.clock.advance(60_000)
    }
    expect(process.memoryUsage.rss() - before).toBeLessThan(200 * 1024 * 1024)
  })

  const whole = packed(json)
  const flipped = (fromEnd: number) => whole.with(-fromEnd, (whole.at(-fromEnd) ?? 0) ^ 1)
  test.each([
    ['cut short by a byte', whole.slice(0, -1)],
    ['cut short by its checksum', whole.slice(0, -8)],
    ['cut short in its head', whole.slice(0, 5)],
    ['of a wrong checksum', flipped(8)],
    ['of a wrong length', flipped(1)],
    ['with other bytes behind it', Buffer.concat([whole, Buffer.from('x')])],
    ['with half a member behind it', Buffer.concat([whole, whole.slice(0, 9)])],
    ['that is not packed at all', Buffer.from(json)],
    ['that is packed as zlib does', deflateSync(json)],
    ['that is packed without a head', deflateRawSync(json)],
  ])('%s is refused as malformed', async (_, body) => {
    expect(expectRefusal(await post(body), 400, 'MALFORMED_JSON')).toBe(
      'body must be complete gzip data, as its Content-Encoding says: compress it, or leave out that header.',
    )
  })

  test('is judged as any other once it is unpacked', async () => {
    const refusal = async (body: string | Uint8Array) => expectRefusal(await post(packed(body)), 400, 'MALFORMED_JSON')
    expect(await refusal('')).toBe('body must not be empty: send one JSON object.')
    expect(await refusal(new Uint8Array([0x80]))).toStartWith('body must be UTF-8: encode the JSON in UTF-8.')
    expect(await refusal('{')).toStartWith('body must be valid JSON, but it ends at byte 1,')
    expect(expectRefusal(await post(new Uint8Array()), 400, 'MALFORMED_JSON')).toStartWith('body must not be empty')
    expectRefusal(await post(packed(packed(json))), 400, 'MALFORMED_JSON')
  })

  test('is optional: no encoding and identity mean a plain body', async () => {
    expectRefusal(await post(packed(json), {}), 400, 'MALFORMED_JSON')
    expectAccepted(await post(json, { 'Content-Encoding': 'identity' }))
  })
})

/** A gzip file of several parts. Each part unpacks to 64 MiB of zeros. */
const bombOf = (members: number): Uint8Array<ArrayBuffer> => {
  const member = gzipSync(new Uint8Array(64 * 1024 * 1024), { level: 9 })
  return new Uint8Array(Buffer.concat(Array.from({ length: members }, () => member)))
}

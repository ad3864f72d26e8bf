import { afterAll, beforeAll, expect, test } from 'bun:test'
import { visitorFormBodyBytesMax } from '../../../src/http/dashboard/forms/read-form.ts'
import { readingBodyBytesMax } from '../../../src/http/http-bounds.ts'
import { onlyAnswer, rawConnect } from '../../support/raw-http.ts'
import { type Service, startService, validReading } from '../../support/test-service.ts'

let service: Service
let key: string
let pieces = 0
beforeAll(async () => {
  service = await startService()
  key = (await service.createKey()).key
  countPieces()
})
afterAll(() => service.stop())

/** Counts how often the service is called for the next piece of a body: it notes each time how much has arrived. */
const countPieces = (): void => {
  const begin = service.bodies.begin.bind(service.bodies)
  service.bodies.begin = (...body) => {
    const begun = begin(...body)
    let bytes = 0
    if (begun === null) return null
    return Object.defineProperty(begun, 'receivedBytes', {
      get: () => bytes,
      set: (received: number) => {
        bytes = received
        pieces += 1
      },
    })
  }
}

const json = 'application/json'
const reading = JSON.stringify(validReading)
const batch = `{"readings":[${reading}]}`

const bodies = [
  { what: 'a batch', path: '/api/v1/ingest/batch', type: json, body: batch.padEnd(200_000), status: 200 },
  {
    what: 'a reading that is too long',
    path: '/api/v1/ingest',
    type: json,
    body: reading.padEnd(readingBodyBytesMax + 1),
    status: 413,
  },
  {
    what: 'a form of a visitor',
    path: '/sign-in',
    type: 'application/x-www-form-urlencoded',
    body: 'email='.padEnd(visitorFormBodyBytesMax, 'x'),
    status: 403,
  },
]

test.each(bodies)('$what in chunks of one byte is read in few pieces', async ({ path, type, body, status }) => {
  pieces = 0
  const head = [
    `POST ${path} HTTP/1.1`,
    `Host: ${new URL(service.url).host}`,
    `X-API-Key: ${key}`,
    `Content-Type: ${type}`,
    'Transfer-Encoding: chunked',
  ]
  const chunks = body.replaceAll(/./g, '1\r\n$&\r\n')
  const connection = await rawConnect(service.url)
  await connection.send(`${head.join('\r\n')}\r\n\r\n${chunks}0\r\n\r\n`)
  expect((await onlyAnswer(connection)).status).toBe(status)
  connection.drop()
  expect(pieces).toBeGreaterThan(0)
  expect(pieces).toBeLessThan(body.length / 10)
})

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { answerOf, expectRefusal } from '../../../support/answers.ts'
import { rawExchange } from '../../../support/raw-http.ts'
import { type Service, startService } from '../../../support/test-service.ts'

let service: Service
let key: string
beforeAll(async () => {
  service = await startService()
  key = (await service.createKey()).key
})
afterAll(() => service.stop())

describe('a valid key gets 404 NOT_FOUND', () => {
  test.each([
    '/api',
    '/api/',
    '/api/v1',
    '/api/v1/ingest/',
    '/api/v1//ingest',
    '/api/v1/%69ngest',
    '/api/v1/INGEST',
    '/api/v1/keys',
    '/api/v2/ingest',
    '/api/%ff',
  ])('with every method on %s', async (path) => {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND']) {
      const request = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: ${key}\r\n\r\n`
      const [answer] = await rawExchange(service.url, request)
      expect(`${method} ${answer?.status}`).toBe(`${method} 404`)
      expect(JSON.parse(String(answer?.body)).code).toBe('NOT_FOUND')
    }
  })

  test('with the documented body and the RateLimit headers', async () => {
    const response = await fetch(`${service.url}/api/v1/nothing`, { headers: { 'X-API-Key': key } })
    const answer = await answerOf(response)
    expect(expectRefusal(answer, 404, 'NOT_FOUND')).toBe(
      'path does not exist: send a reading to /api/v1/ingest, or a batch to /api/v1/ingest/batch.',
    )
    expect(answer.header('RateLimit-Policy')).toBe('"default";q=6000;w=60')
    expect(answer.header('RateLimit')).toBe('"default";r=6000;t=0')
  })
})

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

describe('/api/v1/ingest answers 405 METHOD_NOT_ALLOWED with Allow', () => {
  test.each(['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('to %s', async (method) => {
    const body = method === 'GET' ? undefined : JSON.stringify(validReading)
    const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' }
    const response = await fetch(`${service.url}/api/v1/ingest`, { method, headers, ...(body && { body }) })
    const answer = await answerOf(response)
    expect(expectRefusal(answer, 405, 'METHOD_NOT_ALLOWED')).toBe(
      'method must be POST on this path: change the method of the request.',
    )
    expect(answer.header('Allow')).toBe('POST')
    expect(answer.header('RateLimit')).toBe('"default";r=6000;t=0')
  })

  test('to HEAD, without a body', async () => {
    const response = await fetch(`${service.url}/api/v1/ingest`, { method: 'HEAD', headers: { 'X-API-Key': key } })
    expect(response.status).toBe(405)
    expect(response.headers.get('Allow')).toBe('POST')
    expect(await response.text()).toBe('')
  })

  test.each(['TRACE', 'PROPFIND'])('to %s', async (method) => {
    const request = `${method} /api/v1/ingest HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: ${key}\r\n\r\n`
    const [answer] = await rawExchange(service.url, request)
    expect(answer?.status).toBe(405)
    expect(answer?.headers.get('allow')).toBe('POST')
  })

  test('to another method in a header or the query', async () => {
    const url = `${service.url}/api/v1/ingest?_method=POST`
    const response = await fetch(url, { headers: { 'X-API-Key': key, 'X-HTTP-Method-Override': 'POST' } })
    expect(response.status).toBe(405)
  })
})

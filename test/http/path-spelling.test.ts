import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { endpointPaths } from '../../src/http/ingest/api-routes.ts'
import { askToCloseConnections } from '../../src/http/serve.ts'
import { type Answer, acceptedReadings, expectRefusal, expectUnauthorized } from '../support/answers.ts'
import { rawExchange } from '../support/raw-http.ts'
import { type Service, validReading } from '../support/test-service.ts'
import { startWithOperators } from './dashboard/visitor.ts'

let service: Service
let key: string
beforeAll(async () => {
  service = await startWithOperators()
  key = (await service.createKey()).key
})
afterAll(() => service.stop())

const reading = JSON.stringify(validReading)

/** `apiKey` is `null` for a request without that header. */
const ask = async (
  path: string,
  { method = 'POST', host = '127.0.0.1', apiKey = key, url = service.url }: Partial<Asked> = {},
): Promise<Answer> => {
  const keyLine = apiKey === null ? '' : `X-API-Key: ${apiKey}\r\n`
  const more = `Content-Type: application/json\r\nContent-Length: ${reading.length}\r\n`
  const [answer] = await rawExchange(
    url,
    `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n${keyLine}${more}\r\n${reading}`,
  )
  if (answer === undefined) throw new Error(`no answer to ${method} ${path}`)
  return { ...answer, header: (name) => answer.headers.get(name.toLowerCase()) ?? null }
}

type Asked = { readonly method: string; readonly host: string; readonly apiKey: string | null; readonly url: string }

const misspelt = [
  '//api/v1/ingest',
  '///api/v1/ingest',
  '/api//v1/ingest',
  '/api/v1//ingest',
  '//api//v1//ingest//',
  '/API/v1/ingest',
  '/Api/v1/ingest',
  '/api/V1/ingest',
  '/api/v1/INGEST',
  '/%61pi/v1/ingest',
  '/%41PI/v1/ingest',
  '/api/%761/ingest',
  '/api%2Fv1%2fingest',
  '/%2Fapi/v1/ingest',
  '/api/v1/ingest/',
  '/API/v1/ingest/?from=rack-17',
  '/./API/v1/ingest',
  '/x/..//api/v1/ingest',
  '/\\api\\v1\\ingest',
  'http://127.0.0.1//api/v1/ingest',
  'http://evil.example/API/v1/ingest',
  'http://x/api/v1/ingest/',
]

const misspeltText = (path: string): string =>
  `path must be exactly ${path}: send it in lower case, with single slashes, unencoded, and without a slash at the end.`

describe('a misspelt path of the API', () => {
  test.each(misspelt)('gets a 404 in JSON that names the right path, and stores nothing: %s', async (path) => {
    expect(expectRefusal(await ask(path), 404, 'NOT_FOUND')).toBe(misspeltText('/api/v1/ingest'))
    expect(await acceptedReadings(service.log)).toEqual([])
  })

  test.each(misspelt)('gets a 401 without a valid key: %s', async (path) => {
    expectUnauthorized(await ask(path, { apiKey: null }), 'API key is required')
    expectUnauthorized(await ask(path, { apiKey: 'clr_wrong' }), 'Invalid API key')
  })

  test.each(['GET', 'PUT', 'DELETE', 'OPTIONS', 'CONNECT', 'FOO', 'get'])(
    'gets a 404 for the method %s',
    async (method) => {
      for (const path of ['//api/v1/ingest', '/API/v1/ingest', '/%61pi/v1/ingest']) {
        expect(expectRefusal(await ask(path, { method }), 404, 'NOT_FOUND')).toBe(misspeltText('/api/v1/ingest'))
        expectUnauthorized(await ask(path, { method, apiKey: null }), 'API key is required')
      }
    },
  )

  test('gets the same answers whatever the Host header is', async () => {
    for (const host of ['evil.example', 'nas:3000', 'x:99999', '[::1', '']) {
      for (const path of ['//api/v1/ingest', '/API/v1/ingest']) {
        expectRefusal(await ask(path, { host }), 404, 'NOT_FOUND')
        expectUnauthorized(await ask(path, { host, apiKey: null }), 'API key is required')
      }
    }
  })

  test('gets a 404 in JSON while the service drains', async () => {
    const draining = await startWithOperators()
    const { key: apiKey } = await draining.createKey()
    askToCloseConnections(draining.server, draining.app)
    for (const method of ['GET', 'POST']) {
      const answer = await ask('//api/v1/ingest', { method, apiKey, url: draining.url })
      expect(expectRefusal(answer, 404, 'NOT_FOUND')).toBe(misspeltText('/api/v1/ingest'))
    }
    await draining.stop()
  })

  test('is named for every endpoint', async () => {
    for (const endpoint of endpointPaths) {
      const answer = await ask(`/${endpoint.toUpperCase()}`)
      expect(expectRefusal(answer, 404, 'NOT_FOUND')).toBe(misspeltText(endpoint))
    }
  })

  test.each([
    '//api',
    '/API',
    '/API/',
    '//api/v1/nothing',
    '/Api/v2/ingest',
    '//api/%ff',
    '//api/%',
    '/api/api/v1/ingest',
  ])('of no endpoint gets the usual text: %s', async (path) => {
    const text = expectRefusal(await ask(path), 404, 'NOT_FOUND')
    expect(text).toBe('path does not exist: send a reading to /api/v1/ingest, or a batch to /api/v1/ingest/batch.')
    expectUnauthorized(await ask(path, { apiKey: null }), 'API key is required')
  })
})

test.each(['/apis/v1/ingest', '/x/api/v1/ingest', '/?/api/v1/ingest', '/sign-in//api', '/ap%69s', '/.api'])(
  'a path outside the API is no misspelt one: %s',
  async (path) => {
    const { status, header } = await ask(path, { method: 'PUT' })
    expect([status === 404 || status === 405, header('Content-Type')]).toEqual([true, 'text/html; charset=utf-8'])
    expect((await ask(path, { host: 'evil.example' })).status).toBe(421)
  },
)

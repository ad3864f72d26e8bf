import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { askToCloseConnections } from '../../src/http/serve.ts'
import { onlyAnswer, type RawAnswer, rawConnect, rawExchange } from '../support/raw-http.ts'
import type { Service } from '../support/test-service.ts'
import { startWithOperators } from './dashboard/visitor.ts'

let service: Service
let key: string
beforeAll(async () => {
  service = await startWithOperators()
  key = (await service.createKey()).key
})
afterAll(() => service.stop())

const unknown = ['FOO', 'get', 'Get', 'PRI', 'X'.repeat(64)]

const request = (method: string, path: string, headers = '', body = ''): string =>
  `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`

const ask = async (text: string): Promise<RawAnswer> => {
  const connection = await rawConnect(service.url)
  await connection.send(text)
  const answer = await onlyAnswer(connection)
  connection.drop()
  return answer
}

describe('a method that Bun does not know', () => {
  test.each(unknown)('%s gets a 405 with the allowed methods', async (method) => {
    for (const [path, allow] of [
      ['/sign-in', 'GET, HEAD, POST'],
      ['/assets/app.css', 'GET, HEAD'],
      ['/livez', 'GET, HEAD'],
      ['/sign-out', 'POST'],
    ] as const) {
      const { status, headers } = await ask(request(method, path))
      expect([path, status, headers.get('allow')]).toEqual([path, 405, allow])
    }
    const api = await ask(request(method, '/api/v1/ingest', `X-API-Key: ${key}\r\n`, '{}'))
    expect([api.status, api.headers.get('allow'), JSON.parse(api.body).code]).toEqual([
      405,
      'POST',
      'METHOD_NOT_ALLOWED',
    ])
  })

  test('gets a 401 under /api/, elsewhere a 404', async () => {
    expect((await ask(request('FOO', '/api/v1/ingest'))).status).toBe(401)
    expect((await ask(request('FOO', '/no/such/page'))).status).toBe(404)
    expect((await ask(request('FOO', '//'))).status).toBe(404)
  })

  test('is no GET: no page and no session', async () => {
    const { body, headers } = await ask(request('FOO', '/sign-in'))
    expect(body).not.toContain('name="password"')
    expect(headers.get('content-length')).not.toBe('0')
  })

  test('keeps the connection for the next request', async () => {
    const pipelined = `${request('FOO', '/livez', '', 'hello')}${request('GET', '/livez')}`
    const answers = await rawExchange(service.url, pipelined, 2)
    expect(answers.map(({ status }) => status)).toEqual([405, 200])
    const chunked =
      'FOO /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n'
    const after = await rawExchange(service.url, `${chunked}${request('GET', '/livez')}`, 2)
    expect(after.map(({ status }) => status)).toEqual([405, 200])
  })

  test('is answered while the service drains', async () => {
    const draining = await startWithOperators()
    askToCloseConnections(draining.server, draining.app)
    for (const [method, path, status] of [
      ['FOO', '/sign-in', 405],
      ['GET', '/sign-in', 200],
      ['POST', '/api/v1/ingest', 401],
      ['FOO', '/api/v1/ingest', 401],
    ] as const) {
      const [answer] = await rawExchange(draining.url, request(method, path))
      expect([method, path, answer?.status, answer?.headers.get('connection')]).toEqual([method, path, status, 'close'])
    }
    await draining.stop()
  })
})

describe('a GET of any path reaches its route', () => {
  test.each([
    ['/', 303],
    ['/?a=1', 303],
    ['/sign-in?next=%2F', 200],
    ['/assets/app.css', 200],
    ['/%ff', 404],
    ['/%zz/b', 404],
    ['/a//b', 404],
    ['//', 404],
    ['//sign-in', 404],
    ['/:first', 404],
    ['/*', 404],
    ['/x/../sign-in', 200],
  ])('%s', async (path, status) => {
    expect((await ask(request('GET', path))).status).toBe(status)
  })
})

describe('CONNECT', () => {
  test.each(['127.0.0.1:443', 'http.example:443', '*', '/'])('to %s gets a 405', async (target) => {
    expect((await ask(request('CONNECT', target))).status).toBe(405)
  })
})

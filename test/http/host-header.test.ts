import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { askToCloseConnections } from '../../src/http/serve.ts'
import { acceptedReadings } from '../support/answers.ts'
import { type RawAnswer, rawExchange } from '../support/raw-http.ts'
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
const batch = JSON.stringify({ readings: [validReading] })
const requests = [
  ['POST', '/api/v1/ingest', reading],
  ['POST', '/api/v1/ingest/batch', batch],
  ['GET', '/api/v1/ingest', ''],
  ['POST', '/api/v1/nothing', ''],
  ['GET', '/livez', ''],
  ['GET', '/readyz', ''],
  ['GET', '/sign-in', ''],
  ['POST', '/sign-in', 'email=x'],
  ['GET', '/cellars', ''],
  ['GET', '/live/cellars', ''],
  ['GET', '/assets/app.css', ''],
  ['FOO', '/sign-in', ''],
  ['GET', '/no/such/page', ''],
] as const

const ask = async ([method, path, body]: readonly string[], hosts: readonly string[]): Promise<RawAnswer> => {
  const lines = hosts.map((host) => `Host: ${host}\r\n`).join('')
  const more = `X-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body?.length ?? 0}\r\n`
  const [answer] = await rawExchange(service.url, `${method} ${path} HTTP/1.1\r\n${lines}${more}\r\n${body}`)
  if (answer === undefined) throw new Error('no answer')
  return answer
}

const expectRefused = (request: readonly string[], answer: RawAnswer): void => {
  expect([request, answer.status]).toEqual([request, 400])
  expect(JSON.parse(answer.body)).toEqual({
    status: 'error',
    error: 'Host must be sent once: remove the second Host header.',
    code: 'AMBIGUOUS_HOST',
  })
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
  expect(answer.headers.get('cache-control')).toBe('no-store')
}

describe('two Host headers', () => {
  test.each([
    ['that differ', ['127.0.0.1', 'evil.example']],
    ['that differ the other way round', ['evil.example', '127.0.0.1']],
    ['that are alike', ['127.0.0.1', '127.0.0.1']],
    ['of which the first is empty', ['', '127.0.0.1']],
    ['of which the second is empty', ['127.0.0.1', '']],
    ['that are both empty', ['', '']],
    ['in one line', ['127.0.0.1, evil.example']],
  ])('%s are refused on every path', async (_, hosts) => {
    for (const request of requests) expectRefused(request, await ask(request, hosts))
    expect(await acceptedReadings(service.log)).toEqual([])
  })

  test('are refused while the service drains', async () => {
    const draining = await startWithOperators()
    askToCloseConnections(draining.server, draining.app)
    for (const request of requests) {
      const lines = 'Host: 127.0.0.1\r\nHost: 127.0.0.1\r\n'
      const [answer] = await rawExchange(draining.url, `${request[0]} ${request[1]} HTTP/1.1\r\n${lines}\r\n`)
      expect([request, answer?.status]).toEqual([request, 400])
    }
    await draining.stop()
  })

  test('do not change a single Host header', async () => {
    for (const host of ['127.0.0.1', 'localhost:3000', '[::1]']) {
      expect((await ask(['GET', '/sign-in', ''], [host])).status).toBe(200)
    }
  })
})

describe('a host in the request target', () => {
  test('is ignored: the Host header decides', async () => {
    const ours = await ask(['GET', 'http://evil.example/sign-in', ''], ['127.0.0.1'])
    expect([ours.status, ours.body.includes('evil.example')]).toEqual([200, false])
    expect((await ask(['GET', 'http://127.0.0.1/sign-in', ''], ['evil.example'])).status).toBe(421)
    const secure = await ask(['GET', 'https://cellar.example/sign-in', ''], ['cellar.example'])
    expect(secure.status).toBe(421)
    const stored = await ask(['POST', 'http://evil.example/api/v1/ingest', reading], ['127.0.0.1'])
    expect(stored.status).toBe(200)
  })
})

describe('Host: localhost', () => {
  const from = async (peer: string, headers = ''): Promise<number | undefined> => {
    const asked = await startWithOperators()
    asked.server.requestIP = () => ({ address: peer, port: 50_000, family: peer.includes(':') ? 'IPv6' : 'IPv4' })
    const statuses: (number | undefined)[] = []
    for (const host of ['localhost:3000', '127.0.0.1', '127.9.9.9', '[::1]:3000']) {
      const [answer] = await rawExchange(asked.url, `GET /sign-in HTTP/1.1\r\nHost: ${host}\r\n${headers}\r\n`)
      statuses.push(answer?.status)
    }
    await asked.stop()
    expect(new Set(statuses).size).toBe(1)
    return statuses[0]
  }

  test.each(['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'])('is trusted from %s', async (peer) => {
    expect(await from(peer)).toBe(200)
  })

  test.each(['10.0.0.9', '172.17.0.1', '2001:db8::1', 'fe80::1', '::ffff:10.0.0.9', '128.0.0.1'])(
    'is plain http from elsewhere when %s sends it',
    async (peer) => expect(await from(peer)).toBe(403),
  )

  test('is plain http from elsewhere when a proxy on this machine forwards it', async () => {
    expect(await from('127.0.0.1', 'X-Forwarded-For: 203.0.113.7\r\n')).toBe(403)
  })
})

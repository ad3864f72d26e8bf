import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type ConnectionOptions, connect } from 'node:tls'
import { selfSigned } from '../support/certificate.ts'
import { onlyAnswer, rawConnect } from '../support/raw-http.ts'
import { type Service, startService } from '../support/test-service.ts'
import { startWithOperators } from './dashboard/visitor.ts'

const oneYear = 'max-age=31536000'

type Headers = Readonly<Record<string, string>>

/** Gets a page with these headers. `Host` is the address that a browser would have opened. */
const look = async (service: Service, path: string, headers: Headers) => {
  const connection = await rawConnect(service.url)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  await connection.send(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
  const { status, headers: answered } = await onlyAnswer(connection)
  connection.drop()
  return { status, strict: answered.get('strict-transport-security') ?? null }
}

describe('Strict-Transport-Security over the service’s own TLS', () => {
  let service: Service
  beforeAll(async () => {
    service = await startWithOperators({ tls: selfSigned() })
  })
  afterAll(() => service.stop())

  test.each([
    ['/sign-in', 200],
    ['/', 303],
    ['/live/cellars', 200],
    ['/assets/app.css', 200],
    ['/no/such/page', 404],
    ['/sign-out', 405],
  ])('is on the answer to %s', async (path, status) => {
    expect(await look(service, path, { Host: 'cellar.example:8443' })).toEqual({ status, strict: oneYear })
  })

  test.each([
    'localhost',
    'LOCALHOST:3000',
    'cellarbook.localhost',
    'localhost.',
    '127.0.0.1:3000',
    '127.9.9.9',
    '192.168.1.5',
    '[::1]:3000',
    '[2001:db8::1]',
  ])('is missing for %s', async (host) => {
    expect(await look(service, '/sign-in', { Host: host })).toEqual({ status: 200, strict: null })
  })

  test('is there for a false loopback name', async () => {
    for (const host of ['localhost.example', 'notlocalhost', '127.example']) {
      expect([host, await look(service, '/sign-in', { Host: host })]).toEqual([host, { status: 200, strict: oneYear }])
    }
  })
})

describe('Strict-Transport-Security behind a proxy', () => {
  const host = 'cellar.example'
  const behind = async (trustedProxies: readonly string[], headers: Headers) => {
    const service = await startWithOperators({ web: { publicUrl: `https://${host}`, trustedProxies } })
    const seen = await look(service, '/sign-in', { Host: host, ...headers })
    await service.stop()
    return seen
  }
  const https = { 'X-Forwarded-For': '203.0.113.7', 'X-Forwarded-Proto': 'https' }

  test('is there when a trusted proxy says https', async () => {
    expect(await behind(['127.0.0.1'], https)).toEqual({ status: 200, strict: oneYear })
  })

  test('is missing when the proxy says http or nothing', async () => {
    expect(await behind(['127.0.0.1'], { ...https, 'X-Forwarded-Proto': 'http' })).toEqual({
      status: 403,
      strict: null,
    })
    expect(await behind(['127.0.0.1'], {})).toEqual({ status: 403, strict: null })
  })

  test('is missing when an untrusted sender says https', async () => {
    expect(await behind(['192.0.2.1'], https)).toEqual({ status: 403, strict: null })
  })

  test('is missing for another host', async () => {
    expect(await behind(['127.0.0.1'], { ...https, Host: 'other.example' })).toEqual({ status: 421, strict: null })
  })
})

test('Strict-Transport-Security is never sent over plain http', async () => {
  const service = await startWithOperators({ web: { publicUrl: 'http://nas:3000', allowInsecureHttp: true } })
  expect(await look(service, '/sign-in', { Host: 'nas:3000' })).toEqual({ status: 200, strict: null })
  expect(await look(service, '/sign-in', { Host: '127.0.0.1:3000' })).toEqual({ status: 200, strict: null })
  await service.stop()
})

describe('TLS', () => {
  let service: Service
  beforeAll(async () => {
    // The tests below offer cipher suites without forward secrecy, which need an RSA certificate. With another certificate, the
    // server would refuse them in any case.
    service = await startService({ tls: selfSigned('rsa') })
  })
  afterAll(() => service.stop())

  /** Returns the TLS version and the cipher suite, or the error text if the server refuses the handshake. */
  const handshake = (options: ConnectionOptions): Promise<string> =>
    new Promise((resolve) => {
      const { hostname, port } = new URL(service.url)
      const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false, ...options }, () => {
        resolve(`${socket.getProtocol()} ${socket.getCipher().name}`)
        socket.destroy()
      })
      socket.on('error', (error) => resolve(error.message))
    })

  test('is 1.3 with clients that can, and 1.2 with others', async () => {
    expect(await handshake({})).toStartWith('TLSv1.3 ')
    expect(await handshake({ maxVersion: 'TLSv1.2' })).toStartWith('TLSv1.2 ECDHE-RSA-')
  })

  test.each(['TLSv1.1', 'TLSv1'] as const)('is never %s', async (version) => {
    const said = await handshake({ minVersion: 'TLSv1', maxVersion: version })
    expect(said).toContain('TLSV1_ALERT_PROTOCOL_VERSION')
  })

  test.each(['ECDHE-RSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES256-GCM-SHA384', 'ECDHE-RSA-CHACHA20-POLY1305'])(
    'takes %s, which has forward secrecy',
    async (ciphers) => {
      expect(await handshake({ maxVersion: 'TLSv1.2', ciphers })).toBe(`TLSv1.2 ${ciphers}`)
    },
  )

  test.each(['AES128-GCM-SHA256', 'AES256-GCM-SHA384', 'AES128-SHA', 'AES256-SHA', 'ECDHE-RSA-AES128-SHA'])(
    'refuses %s, which lacks forward secrecy or authenticated encryption',
    async (ciphers) => {
      expect(await handshake({ maxVersion: 'TLSv1.2', ciphers })).toContain('HANDSHAKE_FAILURE')
    },
  )

  test('holds for an EC certificate, too', async () => {
    const other = await startService({ tls: selfSigned() })
    const port = Number(new URL(other.url).port)
    const suite = 'ECDHE-ECDSA-CHACHA20-POLY1305'
    expect(await handshake({ port, maxVersion: 'TLSv1.2', ciphers: suite })).toBe(`TLSv1.2 ${suite}`)
    const cbc = await handshake({ port, maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-SHA' })
    expect(cbc).toContain('HANDSHAKE_FAILURE')
    await other.stop()
  })
})

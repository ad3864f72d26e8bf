import { describe, expect, test } from 'bun:test'
import { originOf, type WebConfig } from '../../../../src/http/dashboard/door/origin.ts'
import { type RawAnswer, rawExchange } from '../../../support/raw-http.ts'
import { emailOf, fromSomewhere, testPassword } from '../../../support/test-operators.ts'
import type { Service } from '../../../support/test-service.ts'
import { startWithOperators } from '../visitor.ts'

const plain: WebConfig = { publicUrl: null, trustedProxies: [], allowInsecureHttp: false, program: 'cellarbook' }

const from = (
  headers: Readonly<Record<string, string>>,
  { web = {}, peer = '10.0.0.9', url = 'http://x/' }: { web?: Partial<WebConfig>; peer?: string; url?: string } = {},
) => originOf(new Request(url, { headers }), peer, { ...plain, ...web })

describe('originOf()', () => {
  test('trusts http by a loopback name, but no name that looks like one', () => {
    for (const host of [
      'localhost',
      'localhost:3000',
      'LocalHost',
      '127.0.0.1:80',
      '127.9.9.9',
      '[::1]',
      '[::1]:3000',
    ]) {
      expect([host, from({ host }, { peer: '127.0.0.1' }).trust]).toEqual([host, 'secure'])
      expect([host, from({ host }, { peer: '10.0.0.9' }).trust]).toEqual([host, 'insecure'])
    }
    for (const host of [
      'localhost.evil.example',
      'evil.example',
      '127.0.0.1.evil.example',
      '127.evil',
      '',
      'a b',
      '[::1',
    ]) {
      expect([host, from({ host }, { peer: '127.0.0.1' }).trust]).toEqual([host, 'unknown_host'])
    }
  })

  test('refuses http by IP address from elsewhere, unless the setting allows it', () => {
    for (const host of ['192.168.1.5:3000', '[2001:db8::1]:3000']) {
      expect([host, from({ host }).trust]).toEqual([host, 'insecure'])
      expect([host, from({ host }, { web: { allowInsecureHttp: true } }).trust]).toEqual([host, 'insecure_allowed'])
    }
  })

  test('accepts no name over http but PUBLIC_URL’s', () => {
    const web = { publicUrl: 'http://nas:3000', allowInsecureHttp: true }
    expect(from({ host: 'nas:3000' }, { web }).trust).toBe('insecure_allowed')
    expect(from({ host: 'nas' }, { web }).trust).toBe('unknown_host')
    expect(from({ host: 'nas:3000' }, { web: { allowInsecureHttp: true } }).trust).toBe('unknown_host')
  })

  test('trusts https by any name, since the certificate proves it', () => {
    expect(from({ host: 'cellar.example' }, { url: 'https://cellar.example/' }).trust).toBe('secure')
  })

  test('believes X-Forwarded-Proto and -For of a named proxy, and nobody else’s', () => {
    const headers = {
      host: 'cellar.example',
      'x-forwarded-proto': 'https',
      'x-forwarded-for': '6.6.6.6, 203.0.113.7',
    }
    const web = { publicUrl: 'https://cellar.example', trustedProxies: ['10.0.0.9'] }
    const behind = from(headers, { web })
    expect([behind.trust, behind.clientAddress]).toEqual(['secure', '203.0.113.7'])
    const forged = from(headers, { web, peer: '10.0.0.8' })
    expect([forged.trust, forged.clientAddress]).toEqual(['insecure', '10.0.0.8'])
    const mapped = from(headers, { web, peer: '::ffff:10.0.0.9' })
    expect(mapped.clientAddress).toBe('203.0.113.7')
  })

  test('looks past each named proxy from the right, and stops at the first stranger', () => {
    const web = { publicUrl: 'https://cellar.example', trustedProxies: ['10.0.0.9', '10.0.0.10'] }
    const headers = {
      host: 'cellar.example',
      'x-forwarded-proto': 'http, https',
      'x-forwarded-for': '10.0.0.10, 203.0.113.7, 10.0.0.10',
    }
    expect(from(headers, { web })).toMatchObject({ trust: 'secure', clientAddress: '203.0.113.7' })
    expect(from({ ...headers, 'x-forwarded-for': 'nonsense' }, { web }).clientAddress).toBe('10.0.0.9')
  })

  test('does not trust a proxy that uses a loopback name', () => {
    const headers = { host: '127.0.0.1:3000', 'x-forwarded-for': '203.0.113.7' }
    expect(from(headers, { peer: '127.0.0.1' }).trust).toBe('insecure')
    expect(from({ ...headers, 'x-forwarded-proto': 'http' }, { web: { trustedProxies: ['10.0.0.9'] } }).trust).toBe(
      'insecure',
    )
    const https = { ...headers, 'x-forwarded-proto': 'https' }
    expect(from(https, { web: { trustedProxies: ['10.0.0.9'] } }).trust).toBe('secure')
  })

  test('has PUBLIC_URL as base address, and accepts both origins as own', () => {
    const web = { publicUrl: 'https://cellar.example' }
    expect(from({ host: 'localhost:3000' }, { web })).toMatchObject({
      baseUrl: 'https://cellar.example',
      own: ['http://localhost:3000', 'https://cellar.example'],
    })
    expect(from({ host: 'localhost:3000' }).baseUrl).toBe('http://localhost:3000')
  })
})

const lanHost = '192.168.1.5:3000'

const ask = async (service: Service, head: string, body = ''): Promise<RawAnswer> => {
  const length =
    body === '' ? '' : `Content-Length: ${body.length}\r\nContent-Type: application/x-www-form-urlencoded\r\n`
  const [answer] = await rawExchange(service.url, `${head}\r\nHost: ${lanHost}\r\n${length}\r\n${body}`)
  if (answer === undefined) throw new Error('no answer')
  return answer
}

describe('plain http from elsewhere', () => {
  test('gets a page that explains https, without a form', async () => {
    const service = await startWithOperators()
    for (const path of ['/sign-in', '/', '/cellars', '/link/x', '/no/such/page']) {
      const answer = await ask(service, `GET ${path} HTTP/1.1`)
      expect([path, answer.status]).toEqual([path, 403])
      for (const words of ['TLS_CERT', 'PUBLIC_URL', 'TRUSTED_PROXIES', 'ALLOW_INSECURE_HTTP']) {
        expect(answer.body).toContain(words)
      }
      expect(answer.body).not.toContain('<form')
      expect(answer.headers.has('set-cookie')).toBe(false)
    }
    await service.stop()
  })

  test('gets a 404 when it posts to an unknown path', async () => {
    const service = await startWithOperators()
    const reading = '{"cellar":"wine-berlin"}'
    for (const path of ['/v1/ingest', '/app/v1/ingest']) {
      const away = await ask(service, `POST ${path} HTTP/1.1`, reading)
      const here = await fetch(`${service.url}${path}`, { method: 'POST', body: reading })
      expect([path, away.status, here.status]).toEqual([path, 404, 404])
      for (const body of [away.body, await here.text()]) expect(body).toContain('There is no page at this address.')
    }
    await service.stop()
  })

  test('opens no page with the right password or a session’s cookie', async () => {
    const service = await startWithOperators()
    const input = { email: emailOf.admin, password: testPassword }
    const signIn = await service.core.operators.signIn(input, fromSomewhere, 'test')
    if (!signIn.ok) throw new Error(signIn.refusal.kind)
    const before = (await service.log.readAll({ limit: 100 })).length
    const form = `email=${emailOf.admin}&password=${encodeURIComponent(testPassword)}`
    expect((await ask(service, 'POST /sign-in HTTP/1.1', form)).status).toBe(403)
    for (const name of ['__Host-cellarbook', 'cellarbook-insecure']) {
      const cookie = `Cookie: ${name}=${signIn.value.sessionSecret}`
      const answer = await ask(service, `GET /cellars HTTP/1.1\r\n${cookie}`)
      expect([answer.status, answer.body.includes(emailOf.admin)]).toEqual([403, false])
    }
    expect((await service.log.readAll({ limit: 100 })).length).toBe(before)
    await service.stop()
  })

  test('signs in by the setting, with another cookie and a warning', async () => {
    const service = await startWithOperators({ web: { allowInsecureHttp: true } })
    const page = await ask(service, 'GET /sign-in HTTP/1.1')
    expect(page.status).toBe(200)
    expect(page.body).toContain('This page was sent over plain http.')
    const [visitorCookie = ''] = (page.headers.get('set-cookie') ?? '').split(';')
    expect(visitorCookie).toStartWith('cellarbook-insecure-visitor=')
    const token = /name="_csrf" value="([^"]*)"/.exec(page.body)?.[1] ?? ''
    const form = `_csrf=${token}&email=${emailOf.admin}&password=${encodeURIComponent(testPassword)}`
    const head = `POST /sign-in HTTP/1.1\r\nCookie: ${visitorCookie}\r\nOrigin: `
    expect((await ask(service, `${head}http://other.example`, form)).status).toBe(403)
    const opened = await ask(service, `${head}http://${lanHost}`, form)
    expect(opened.status).toBe(303)
    const [session = ''] = (opened.headers.get('set-cookie') ?? '').split(';')
    expect(session).toMatch(/^cellarbook-insecure=[0-9A-Za-z]{43}$/)
    expect(opened.headers.get('set-cookie')).not.toContain('Secure')
    const cellars = await ask(service, `GET /cellars HTTP/1.1\r\nCookie: ${session}`)
    expect([cellars.status, cellars.body.includes('This page was sent over plain http.')]).toEqual([200, true])
    const renamed = `Cookie: ${session.replace('cellarbook-insecure', '__Host-cellarbook')}`
    expect((await ask(service, `GET /cellars HTTP/1.1\r\n${renamed}`)).status).toBe(303)
    await service.stop()
  })

  test('lets devices post readings', async () => {
    const service = await startWithOperators()
    const { key } = await service.createKey()
    const body = JSON.stringify({
      cellar: 'wine-berlin',
      rack: 'r',
      keg: 'k',
      value: 1,
      timestamp: '2026-03-01T12:00:00Z',
    })
    const head = `POST /api/v1/ingest HTTP/1.1\r\nHost: ${lanHost}\r\nX-API-Key: ${key}\r\nContent-Type: application/json`
    const [answer] = await rawExchange(service.url, `${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    expect(answer?.status).toBe(200)
    await service.stop()
  })
})

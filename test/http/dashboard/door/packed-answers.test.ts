import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { gunzipSync } from 'node:zlib'
import { paths } from '../../../../views/paths.ts'
import { emailOf, testPassword } from '../../../support/test-operators.ts'
import { type Service, testCellar } from '../../../support/test-service.ts'
import { signedIn, startWithOperators, type Visitor, visitor } from '../visitor.ts'

let service: Service
let admin: Visitor

beforeAll(async () => {
  service = await startWithOperators()
  await service.createKey()
  admin = await signedIn(service, 'admin')
})
afterAll(() => service.stop())

const own = { 'Sec-Fetch-Site': 'same-origin', 'Accept-Encoding': 'gzip, deflate, br' }

/** The bytes as they come over the wire. */
const onTheWire = async (
  person: Visitor,
  path: string,
  { url = service.url, ...init }: RequestInit & { url?: string },
) => {
  const Cookie = [...person.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const headers = { Cookie, ...Object.fromEntries(new Headers(init.headers)) }
  const answer = await fetch(url + path, { redirect: 'manual', ...init, headers, decompress: false })
  return {
    encoding: answer.headers.get('content-encoding'),
    vary: answer.headers.get('vary'),
    length: answer.headers.get('content-length'),
    bytes: await answer.bytes(),
  }
}

describe('an asset', () => {
  test('is packed for a browser that takes gzip, and is the same for others', async () => {
    for (const [, asset = ''] of (await admin.get(paths.cellars)).body.matchAll(/"(\/assets\/[^"]+)"/g)) {
      const plain = await onTheWire(admin, asset, { headers: { 'Accept-Encoding': 'br' } })
      const packed = await onTheWire(admin, asset, { headers: { 'Accept-Encoding': 'br, gzip' } })
      expect([plain.encoding, packed.encoding]).toEqual([null, 'gzip'])
      expect([plain.vary, packed.vary]).toEqual(['Accept-Encoding', 'Accept-Encoding'])
      expect(gunzipSync(packed.bytes).equals(plain.bytes)).toBe(true)
      expect(packed.bytes.length).toBeLessThan(plain.bytes.length)
    }
  })

  test.each([
    ['gzip', 'gzip'],
    ['br;q=1.0, GZIP;q=0.5', 'gzip'],
    ['gzip;q=0.001', 'gzip'],
    ['gzip;q=0', null],
    ['deflate, gzip; q=0.000', null],
    ['identity', null],
    ['gzipped', null],
  ])('to Accept-Encoding %j has the encoding %p', async (accepted, encoding) => {
    const answer = await onTheWire(admin, '/assets/app.css', { headers: { 'Accept-Encoding': accepted } })
    expect(answer.encoding).toBe(encoding)
  })
})

describe('a page', () => {
  test('is packed if its own site asks for it, or a person typed the address', async () => {
    for (const site of ['same-origin', 'none']) {
      const packed = await onTheWire(admin, paths.keys(testCellar), { headers: { ...own, 'Sec-Fetch-Site': site } })
      const page = gunzipSync(packed.bytes)
      expect([packed.encoding, packed.bytes.length * 2 < page.length]).toEqual(['gzip', true])
      expect(page.toString()).toContain('</html>')
    }
  })

  test('has its packed length in the answer to HEAD', async () => {
    for (const path of [paths.devicesGuide, '/nowhere']) {
      const init = { headers: { ...own, 'Accept-Encoding': 'gzip' } }
      const [page, head] = [
        await onTheWire(admin, path, init),
        await onTheWire(admin, path, { ...init, method: 'HEAD' }),
      ]
      expect(head.encoding).toBe('gzip')
      // A page says when it was made, and other times are packed into other lengths.
      expect(Math.abs(Number(head.length) - Number(page.length))).toBeLessThan(16)
      expect([head.bytes.length, page.bytes.length]).toEqual([0, Number(page.length)])
    }
  })

  test('is never packed for another site, which could try texts and compare sizes', async () => {
    for (const site of ['cross-site', 'same-site', null]) {
      const headers = { 'Accept-Encoding': 'gzip', ...(site !== null && { 'Sec-Fetch-Site': site }) }
      const answer = await onTheWire(admin, paths.keys(testCellar), { headers })
      expect([site, answer.encoding]).toEqual([site, null])
    }
  })

  test('that shows a new secret is not packed', async () => {
    const _csrf = /name="_csrf" value="([^"]*)"/.exec((await admin.get(paths.operators)).body)?.[1] ?? ''
    const form = { _csrf, email: 'new@example.org', role: 'auditor' }
    const answer = await onTheWire(admin, paths.operatorLinks, {
      method: 'POST',
      headers: { ...own, 'Content-Type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(form).toString(),
    })
    expect(answer.encoding).toBe(null)
    expect(new TextDecoder().decode(answer.bytes)).toContain('/link/')
  })

  test('is packed over plain http that an operator allowed, where nothing is hidden', async () => {
    const open = await startWithOperators({ web: { publicUrl: 'http://cellar.example', allowInsecureHttp: true } })
    const answer = await onTheWire(visitor(open.url), paths.signIn, {
      url: open.url,
      headers: { Host: 'cellar.example', 'Accept-Encoding': 'gzip' },
    })
    expect(answer.encoding).toBe('gzip')
    await open.stop()
  })

  test('of a browser that follows all this still takes its forms', async () => {
    const person = visitor(service.url)
    await person.get(paths.signIn, own)
    const answer = await person.post(paths.signIn, { email: emailOf.admin, password: testPassword, next: '' })
    expect(answer.status).toBe(303)
  })
})

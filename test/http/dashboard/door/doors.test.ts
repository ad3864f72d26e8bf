import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createApp } from '../../../../src/app.ts'
import { formBodyBytesMax, visitorFormBodyBytesMax } from '../../../../src/http/dashboard/forms/read-form.ts'
import { RefusalLines } from '../../../../src/http/ingest/refusal-lines.ts'
import { systemSchedule } from '../../../../src/schedule.ts'
import { paths } from '../../../../views/paths.ts'
import { selfSigned } from '../../../support/certificate.ts'
import { rawExchange } from '../../../support/raw-http.ts'
import { emailOf } from '../../../support/test-operators.ts'
import { type Service, testCellar, validReading } from '../../../support/test-service.ts'
import { type Seen, signedIn, startWithOperators, type Visitor, visitor } from '../visitor.ts'

let service: Service
let keyId = ''
let admin: Visitor
let auditor: Visitor

beforeAll(async () => {
  service = await startWithOperators()
  const created = await service.createKey()
  keyId = created.keyId
  await service.post(validReading, created.key)
  admin = await signedIn(service, 'admin')
  auditor = await signedIn(service, 'auditor')
})
afterAll(() => service.stop())

const requestId = '019ab3f2-51c4-7a02-8e55-0c11d2a9f0b3'

/** Every path of the dashboard, with its variables filled in. */
const mountedPaths = (): readonly string[] => {
  const web = { publicUrl: null, trustedProxies: [], allowInsecureHttp: false, program: 'cellarbook' }
  const lines = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
  const refusalLines = new RefusalLines(lines, systemSchedule)
  const parts = {
    core: service.core,
    lines,
    reasons: () => [],
    web,
    live: service.live,
    refusalLines,
    traces: service.traces,
  }
  const app = createApp({ ...parts, isReady: () => true, facts: () => service.facts, settings: [] })
  return [...new Set(app.routes.routes.map(({ path }) => path))]
    .filter((path) => !path.startsWith('/api') && !['/livez', '/readyz', '/openapi.json'].includes(path))
    .map(filledIn)
}

const filledIn = (path: string): string =>
  path
    .replace(':stream/:revision', `key-${keyId}/0`)
    .replace(':requestId', requestId)
    .replace(':cellar', testCellar)
    .replace(':rack', validReading.rack)
    .replace(':keg', validReading.keg)
    .replace(':keyId', keyId)
    .replace(':id', requestId)
    .replace(':webhookId', requestId)
    .replace(':secret', 'no-such-link')
    .replace(':email', encodeURIComponent(emailOf.auditor))
    .replace('/*', '/no/such/page')

const isPublic = (path: string): boolean =>
  ['/sign-in', '/link/no-such-link', '/no/such/page'].includes(path) || path.startsWith('/assets/')

const keg = (): string => paths.keg(testCellar, validReading.rack, validReading.keg)
const rack = (): string => paths.rack(testCellar, validReading.rack)

const unknownChange = paths.keysChange(requestId)
const unknownWebhook = paths.webhook(requestId)
/** They name no change, webhook or line. */
const isUnknown = (path: string): boolean => [unknownChange, unknownWebhook, paths.attentionPast([])].includes(path)

/** The pages that an auditor may open. All other pages are for admins. */
const auditorSees = (): readonly string[] => [
  '/',
  paths.cellars,
  paths.findCellars,
  `/cellars/${testCellar}`,
  paths.cellar(testCellar),
  keg(),
  rack(),
  paths.keys(testCellar),
  paths.allKeys(),
  paths.settings(testCellar),
  paths.cellarThen(testCellar),
  paths.key(keyId),
  unknownChange,
  paths.log(),
  paths.findInLog,
  paths.event(`key-${keyId}`, 0),
  paths.refusedRequest(requestId),
  paths.account,
  paths.operators,
  paths.attention,
  paths.attentionPast([]),
  paths.webhooks,
  unknownWebhook,
  paths.health,
  paths.devicesGuide,
  ...mountedPaths().filter((path) => path.startsWith(paths.deviceProgram(''))),
]

/** What an auditor may send: questions, forms of the own account, and exports, which add only a record of themselves. */
const isOwn = (path: string | undefined): boolean =>
  path === paths.signOut || path === paths.exports || path?.startsWith('/account/') === true || isQuestion(path)

const isQuestion = (path: string | undefined): boolean =>
  [
    paths.findCellars,
    paths.log(),
    paths.findInLog,
    paths.cellar(testCellar),
    paths.keys(testCellar),
    paths.allKeys(),
    keg(),
    rack(),
  ].some((known) => known === path)

const isLive = (path: string): boolean => path.startsWith('/live/')

const eventsInLog = async (): Promise<number> => (await service.log.readAll({ limit: 1_000 })).length

const fields = () => ({
  cellar: 'another',
  title: 'Another',
  label: 'label',
  note: '',
  expires: 'never',
  expires_on: '',
  limit_readings: '',
  limit_seconds: '',
  reason: 'reason',
  overlap: '24h',
  email: 'new@example.org',
  role: 'admin',
  password: 'twelve chars and more',
})

describe('the door', () => {
  test('has more than twenty routes', () => {
    expect(mountedPaths().length).toBeGreaterThan(20)
    expect(mountedPaths()).toContain(paths.revokeKey(keyId))
  })

  test('shows only the sign-in pages before sign-in', async () => {
    const nobody = visitor(service.url)
    for (const path of mountedPaths().filter((one) => !isPublic(one))) {
      const answer = await nobody.get(path)
      if (isLive(path)) expect([path, answer.status, answer.body]).toEqual([path, 200, 'event: end\ndata:\n\n'])
      else expectAmong(path, answer.status, [303, 405])
      if (answer.status === 303) expect(answer.location).toStartWith('/sign-in')
      expect(answer.body).not.toContain(testCellar)
      expect(answer.body).not.toContain(keyId)
    }
  })

  test('refuses every action before sign-in', async () => {
    const nobody = visitor(service.url)
    await nobody.get('/sign-in')
    const before = await eventsInLog()
    for (const path of mountedPaths().filter((one) => !isPublic(one))) {
      const answer = await nobody.post(path, fields())
      expectAmong(path, answer.status, [303, 405])
      if (answer.status === 303) expect(answer.location).toBe('/sign-in')
    }
    expect(await eventsInLog()).toBe(before)
  })

  test('shows an auditor every page, with forms for the own account and exports', async () => {
    for (const path of mountedPaths().filter((one) => !isPublic(one) && !isLive(one))) {
      const answer = await auditor.get(path)
      expectAmong(path, answer.status, auditorSees().includes(path) ? [isUnknown(path) ? 404 : 200, 303] : [403, 405])
      const actions = [...answer.body.matchAll(/<form method="post" action="([^"]*)"/g)].map(([, action]) => action)
      expect([path, actions.filter((action) => !isOwn(action))]).toEqual([path, []])
    }
  })

  test('lets an auditor change only the own account', async () => {
    await auditor.get('/cellars')
    const before = await eventsInLog()
    for (const path of mountedPaths().filter((one) => !isPublic(one) && !isOwn(one))) {
      const answer = await auditor.post(path, fields())
      expectAmong(path, answer.status, [403, 405])
    }
    for (const path of mountedPaths().filter(isQuestion))
      expectAmong(path, (await auditor.post(path, fields())).status, [303])
    expect(await eventsInLog()).toBe(before)
  })

  test('answers 405 to a wrong method and names the allowed ones', async () => {
    for (const path of mountedPaths().filter((one) => one !== '/no/such/page')) {
      for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
        const answer = await fetch(`${service.url}${path}`, { method, redirect: 'manual' })
        expect([method, path, answer.status]).toEqual([method, path, 405])
        expect(answer.headers.get('allow')).toMatch(/^(GET, HEAD)?(, )?(POST)?$/)
      }
    }
  })

  test('puts the strict headers on every answer, whatever it is', async () => {
    for (const path of mountedPaths()) {
      for (const person of [visitor(service.url), ...(isLive(path) ? [] : [admin])])
        expectStrict(await person.get(path))
    }
    await admin.get('/cellars')
  })

  test('forbids caching pages, and lets an asset be cached forever by its hash', async () => {
    const page = await admin.get('/cellars')
    expect(page.headers.get('cache-control')).toBe('no-store')
    const [asset = ''] = /\/assets\/app\.css\?v=[0-9a-f]+/.exec(page.body) ?? []
    const kept = await admin.get(asset)
    expect(kept.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    const other = await admin.get('/assets/app.css?v=0000')
    expect(other.headers.get('cache-control')).toBe('no-cache')
  })

  test('takes a form only with the token of its own session', async () => {
    const before = await eventsInLog()
    const page = await admin.get('/cellars/new')
    const auditorsToken = /name="_csrf" value="([^"]*)"/.exec((await auditor.get('/cellars')).body)?.[1] ?? ''
    for (const _csrf of ['', 'x', auditorsToken]) {
      const answer = await admin.post('/cellars', { cellar: 'forged', title: '', _csrf })
      expect([_csrf, answer.status]).toEqual([_csrf, 403])
    }
    expect(page.status).toBe(200)
    expect(await eventsInLog()).toBe(before)
  })

  test('refuses a form that another site’s page sent, even with the right token', async () => {
    const before = await eventsInLog()
    await admin.get('/cellars/new')
    const foreign = [
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'same-site' },
      { 'Sec-Fetch-Site': 'none' },
      { Origin: 'https://evil.example' },
      { Origin: 'null' },
      { Origin: service.url.replace('http:', 'https:') },
    ]
    for (const headers of foreign) {
      const answer = await admin.post('/cellars', { cellar: 'forged', title: '' }, headers)
      expect([headers, answer.status]).toEqual([headers, 403])
    }
    expect(await eventsInLog()).toBe(before)
    const own = await admin.post('/cellars', { cellar: 'own', title: '' }, { Origin: service.url })
    expect(own.status).toBe(303)
  })

  test('refuses a sign-in form without the visitor’s token', async () => {
    const victim = visitor(service.url)
    await victim.get('/sign-in')
    const answer = await victim.post('/sign-in', { email: 'x@example.org', password: 'x', _csrf: 'forged' })
    expect(answer.status).toBe(403)
  })

  test('reads a form up to its bound, and not one byte more', async () => {
    await admin.get('/cellars/new')
    const token = /name="_csrf" value="([^"]*)"/.exec((await admin.get('/cellars/new')).body)?.[1] ?? ''
    const head = `_csrf=${token}&cellar=&title=`
    const atBound = await sendForm(head.padEnd(formBodyBytesMax, 'x'))
    expect(atBound.status).toBe(422)
    const pastIt = await sendForm(head.padEnd(formBodyBytesMax + 1, 'x'))
    expect(pastIt.status).toBe(413)
  })

  test('reads a visitor’s form up to a lower bound', async () => {
    const stranger = visitor(service.url)
    const token = /name="_csrf" value="([^"]*)"/.exec((await stranger.get('/sign-in')).body)?.[1] ?? ''
    const head = `_csrf=${token}&email=eve@example.org&next=&password=`
    const sent = async (bytes: number) => sendForm(head.padEnd(bytes, 'x'), stranger, '/sign-in')
    expect((await sent(visitorFormBodyBytesMax)).status).toBe(401)
    const pastIt = await sent(visitorFormBodyBytesMax + 1)
    expect([pastIt.status, await pastIt.text()]).toEqual([413, expect.stringContaining('This form is too large')])
  })

  test('reads no other content type as a form', async () => {
    await admin.get('/cellars/new')
    for (const type of ['application/json', 'text/plain', 'multipart/form-data; boundary=x']) {
      const answer = await admin.post('/cellars', { cellar: 'typed', title: '' }, { 'Content-Type': type })
      expect([type, answer.status]).toEqual([type, 415])
    }
  })

  test('takes the first value of a repeated field, and ignores unknown fields', async () => {
    const token = /name="_csrf" value="([^"]*)"/.exec((await admin.get('/cellars/new')).body)?.[1] ?? ''
    const answer = await sendForm(`_csrf=${token}&_csrf=x&cellar=first&cellar=second&title=&role=admin&__proto__=x`)
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/cellars/first/keys'])
    expect(service.core.projections.cellars.get('second')).toBeNull()
  })

  test('refuses a host name that is not its own', async () => {
    const { port } = new URL(service.url)
    for (const host of ['evil.example', `evil.example:${port}`, `localhost.evil.example:${port}`, '']) {
      const [answer] = await rawExchange(service.url, `GET /sign-in HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
      expectAmong(host, answer?.status, [421, 400])
      expect(answer?.body).not.toContain('<form')
    }
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`, 'LOCALHOST']) {
      const [answer] = await rawExchange(service.url, `GET /sign-in HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
      expect([host, answer?.status]).toEqual([host, 200])
    }
  })

  const unreadableHosts = [':', 'x:99999', '[::1', '127.0.0.1:99999', 'localhost:x', 'a%']
  const ways = [{ way: 'plain http' }, { way: 'TLS, where any name is its own', tls: selfSigned() }]
  test.each(ways)('refuses an unreadable host with 400 over $way', async ({ tls }) => {
    const asked = await startWithOperators(tls === undefined ? {} : { tls })
    for (const host of unreadableHosts) {
      for (const path of ['/sign-in', '/cellars', '/live/cellars', '/no/such/page']) {
        const [answer] = await rawExchange(asked.url, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
        expect([host, path, answer?.status]).toEqual([host, path, 400])
        expect(answer?.body).toStartWith('The Host header is not valid.')
        expect(answer?.headers.get('content-security-policy')).toContain("default-src 'none'")
      }
    }
    expect(asked.lines.filter(({ level }) => level === 'error')).toEqual([])
    const [read] = await rawExchange(asked.url, 'GET /sign-in HTTP/1.1\r\nHost: 127.0.0.1:65535\r\n\r\n')
    expect(read?.status).toBe(200)
    await asked.stop()
  })

  test('answers a bug with 500, without its message and stack', async () => {
    const broken = await startWithOperators({
      wrapCore: (core) => ({
        ...core,
        operators: {
          ...core.operators,
          link: () => {
            throw new Error('secret of the house')
          },
        },
      }),
    })
    const answer = await visitor(broken.url).get('/link/any')
    expect(answer.status).toBe(500)
    expect(answer.body).not.toContain('secret of the house')
    expect(answer.body).toContain('Something went wrong')
    expectStrict(answer)
    expect(broken.lines.filter(({ level }) => level === 'error')).toHaveLength(1)
    expect((await visitor(broken.url).get('/sign-in')).status).toBe(200)
    await broken.stop()
  })
})

const expectAmong = (what: string, status: number | undefined, statuses: readonly number[]): void =>
  expect(statuses.map((one) => `${what} ${one}`)).toContain(`${what} ${status}`)

const expectStrict = ({ headers }: Seen): void => {
  expect(headers.get('content-security-policy')).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
      "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  )
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('referrer-policy')).toBe('same-origin')
  expect(headers.get('x-frame-options')).toBe('DENY')
  expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
  expect(headers.get('permissions-policy')).toContain('camera=()')
  expect(headers.get('cache-control')).not.toBeNull()
}

const sendForm = (body: string, sender = admin, path = '/cellars'): Promise<Response> =>
  fetch(service.url + path, {
    method: 'POST',
    redirect: 'manual',
    headers: {
      'Content-Type': 'application/x-www-form-urlencoded',
      Cookie: [...sender.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
    },
    body,
  })

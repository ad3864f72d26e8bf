/**
 * A new route fails here until it has a row. Each row has the statuses for a stranger, an auditor and an admin. A device gets
 * the answers of a stranger. Other methods get a 405.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createApp } from '../../src/app.ts'
import { Traces } from '../../src/http/dashboard/door/refusal-traces.ts'
import { RefusalLines } from '../../src/http/ingest/refusal-lines.ts'
import { systemSchedule } from '../../src/schedule.ts'
import { openFreshLog } from '../support/logs/engine.ts'
import { onlyAnswer, rawConnect } from '../support/raw-http.ts'
import { addOperator } from '../support/test-operators.ts'
import { type Service, testCellar } from '../support/test-service.ts'
import { manualClock } from '../support/time/manual-clock.ts'
import { signedIn, startWithOperators, type Visitor, visitor } from './dashboard/visitor.ts'

type Three = readonly [nobody: number, auditor: number, admin: number]
type Methods = { readonly GET?: Three; readonly POST?: Three }
type Row = Methods | 'api' | 'nothing'

const all = (status: number): Three => [status, status, status]
/** Strangers are redirected (303) to the sign-in page. */
const pageForAll: Methods = { GET: [303, 200, 200] }
/** A form that only asks is redirected to the address of its answer. */
const question: Methods = { POST: all(303) }
const pageForAdmins: Methods = { GET: [303, 403, 200] }
/** An admin passes the check of roles, so the admin gets `status`, which is the answer of the form itself. */
const formForAdmins = (status: number): Methods => ({ POST: [303, 403, status] })
const pageWithForm = (status: number): Methods => ({ ...pageForAdmins, ...formForAdmins(status) })
const stream: Methods = { GET: all(200) }
const forEveryone: Methods = { GET: all(200) }

const table: Readonly<Record<string, Row>> = {
  '/livez': forEveryone,
  '/readyz': forEveryone,
  '/openapi.json': forEveryone,
  '/api': 'api',
  '/api/*': 'api',
  '/api/v1/ingest': 'api',
  '/api/v1/ingest/batch': 'api',
  '/api/v1/ingest/check': 'api',
  '/api/v1/ingest/batch/check': 'api',
  '/': { GET: all(303) },
  '/cellars': { ...pageForAll, ...formForAdmins(422) },
  '/cellars/find': { ...pageForAll, ...question },
  '/cellars/new': pageForAdmins,
  '/cellars/:cellar': { GET: all(303) },
  '/cellars/:cellar/readings': { ...pageForAll, ...question },
  // No such keg.
  '/cellars/:cellar/kegs/:rack/:keg': { GET: [303, 404, 404], ...question },
  // No such rack.
  '/cellars/:cellar/racks/:rack': { GET: [303, 404, 404], ...question },
  '/cellars/:cellar/settings': pageForAll,
  '/cellars/:cellar/then': pageForAll,
  '/cellars/:cellar/title': formForAdmins(303),
  '/cellars/:cellar/policy': formForAdmins(303),
  '/cellars/:cellar/unit': pageWithForm(303),
  '/cellars/:cellar/silence': pageWithForm(422),
  '/cellars/:cellar/retention': pageWithForm(303),
  '/cellars/:cellar/keys': { ...pageForAll, ...question },
  '/cellars/:cellar/keys/new': pageWithForm(422),
  '/keys': { ...pageForAll, ...question },
  // Without a change in the address, there is no page. The id of a change is no id, so nobody has begun it.
  '/keys/change': { GET: [303, 403, 404], POST: [303, 403, 404] },
  '/keys/changes/:id': { GET: [303, 404, 404], POST: [303, 403, 303] },
  '/keys/:keyId': pageForAll,
  '/keys/:keyId/edit': pageWithForm(422),
  '/keys/:keyId/suspend': pageWithForm(303),
  // The key of this row is active, so there is nothing to resume and the pages redirect.
  '/keys/:keyId/resume': { GET: [303, 403, 303], POST: [303, 403, 303] },
  '/keys/:keyId/revoke': pageWithForm(303),
  '/keys/:keyId/rotate': pageWithForm(422),
  // The key of this row was never rotated.
  '/keys/:keyId/retire': { GET: [303, 403, 404], POST: [303, 403, 404] },
  '/keys/:keyId/keep': { GET: [303, 403, 404], POST: [303, 403, 404] },
  // The form for a new password is sent empty, so it gets 422. The session to end is unknown, which counts as ended: 303.
  '/log': { ...pageForAll, ...question },
  // Without a text to find, the box leads back to the log.
  '/log/find': { GET: all(303), ...question },
  '/log/:stream/:revision': pageForAll,
  '/log/requests/:requestId': pageForAll,
  '/account': pageForAll,
  '/account/password': { POST: [303, 422, 422] },
  '/account/sessions': { POST: all(303) },
  // The form is sent empty, so it gets 422.
  '/exports': { POST: [303, 422, 422] },
  '/operators': pageForAll,
  '/operators/links': formForAdmins(422),
  '/operators/:email/role': pageWithForm(200),
  '/operators/:email/sessions': pageWithForm(303),
  // This row must come after the other rows of this operator, because it removes the operator.
  '/operators/:email/remove': pageWithForm(303),
  '/sign-in': { GET: [200, 303, 303], POST: all(401) },
  '/link/:secret': { GET: all(410), POST: all(410) },
  '/attention': pageForAll,
  // No line is named.
  '/attention/past': { GET: [303, 404, 404] },
  // No line is named, so both lead back.
  '/attention/rest': { GET: [303, 403, 303], POST: [303, 403, 303] },
  '/attention/webhooks': { ...pageForAll, ...formForAdmins(422) },
  // No webhook has this id.
  '/attention/webhooks/:webhookId': { GET: [303, 404, 404], POST: [303, 403, 404] },
  '/attention/webhooks/:webhookId/secret': { GET: [303, 403, 303], POST: [303, 403, 404] },
  '/attention/webhooks/:webhookId/test': { POST: [303, 403, 404] },
  '/attention/webhooks/:webhookId/remove': { GET: [303, 403, 404], POST: [303, 403, 404] },
  '/health': pageForAll,
  '/docs/devices': pageForAll,
  '/docs/programs/send.c': pageForAll,
  '/docs/programs/send.go': pageForAll,
  '/docs/programs/send.mjs': pageForAll,
  '/docs/programs/send.py': pageForAll,
  '/docs/programs/send.sh': pageForAll,
  '/docs/programs/send_micropython.py': pageForAll,
  '/live/attention': stream,
  '/live/health': stream,
  '/live/cellars': stream,
  '/live/cellars/:cellar/readings': stream,
  '/live/cellars/:cellar/kegs/:rack/:keg': stream,
  '/live/cellars/:cellar/racks/:rack': stream,
  '/live/cellars/:cellar/keys': stream,
  '/live/keys': stream,
  '/live/log': stream,
  // Not the id of a change.
  '/live/keys/changes/:id': { GET: [200, 503, 503] },
  '/live/keys/:keyId': stream,
  '/live/keys/:keyId/first-reading': stream,
  '/assets/app.css': forEveryone,
  '/assets/app.js': forEveryone,
  '/assets/chart.js': forEveryone,
  '/assets/uplot.min.js': forEveryone,
  '/assets/icon.svg': forEveryone,
  '/assets/htmx.min.js': forEveryone,
  '/assets/hx-sse.min.js': forEveryone,
  // This row must be the last one with a session, because it ends the session.
  '/sign-out': { POST: all(303) },
  '/*': 'nothing',
}

const bystander = 'eve@example.org'

let service: Service
let device: string
beforeAll(async () => {
  const [log, clock] = [await openFreshLog(), manualClock()]
  await addOperator(log, clock.now(), { email: bystander, role: 'auditor' })
  service = await startWithOperators({ log, clock })
  device = (await service.createKey()).key
})
afterAll(async () => {
  await service.stop()
  await service.log.close()
})

const mountedPaths = (): ReadonlySet<string> => {
  const web = { publicUrl: null, trustedProxies: [], allowInsecureHttp: false, program: 'cellarbook' }
  const lines = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
  const traces = new Traces(lines, systemSchedule, () => {})
  const refusalLines = new RefusalLines(lines, systemSchedule)
  const parts = { core: service.core, lines, reasons: () => [], web, live: service.live, refusalLines, traces }
  const app = createApp({ ...parts, isReady: () => true, facts: () => service.facts, settings: [] })
  return new Set(app.routes.routes.map(({ path }) => path))
}

/** Each path gets a key of its own, because a form may end the key. */
const filledIn = async (path: string): Promise<string> =>
  path
    .replace(':cellar', testCellar)
    .replace(':keyId', (await service.createKey()).keyId)
    .replace(':secret', 'no-such-link')
    .replace(':stream/:revision', `key-${(await service.createKey()).keyId}/0`)
    .replace(':requestId', '019ab3f2-51c4-7a02-8e55-0c11d2a9f0b3')
    .replace(':email', encodeURIComponent(bystander))
    .replace('*', 'no/such/path')

type Asked = { readonly status: number; readonly allow: string | null; readonly location: string | null }

/** `FOO` and `get` are methods that Bun does not know. */
const rawMethods = ['TRACE', 'CONNECT', 'PURGE', 'FOO', 'get']
const otherMethods = ['PUT', 'PATCH', 'DELETE', 'OPTIONS', ...rawMethods]

const ask = async (method: string, path: string, headers: Readonly<Record<string, string>>): Promise<Asked> => {
  const answer = rawMethods.includes(method)
    ? await rawAsk(method, path, headers)
    : await fetchHead(method, path, headers)
  const asked = `${method} ${path}`
  expect([asked, answer.get('x-content-type-options')]).toEqual([asked, 'nosniff'])
  // Only what has no secrets may be cached.
  const cache = /^(GET|HEAD) \/(assets\/|openapi\.json$)/.test(asked) ? 'no-cache' : 'no-store'
  expect([asked, answer.get('cache-control')]).toEqual([asked, cache])
  expect([asked, answer.get('strict-transport-security')]).toEqual([asked, null])
  return { status: answer.status, allow: answer.get('allow'), location: answer.get('location') }
}

type Head = { readonly status: number; get(name: string): string | null }

const fetchHead = async (method: string, path: string, headers: Readonly<Record<string, string>>): Promise<Head> => {
  const leave = new AbortController()
  const response = await fetch(service.url + path, { method, headers, redirect: 'manual', signal: leave.signal })
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) leave.abort()
  else await response.arrayBuffer()
  return { status: response.status, get: (name) => response.headers.get(name) }
}

const rawAsk = async (method: string, path: string, headers: Readonly<Record<string, string>>): Promise<Head> => {
  const lines = Object.entries({ Host: new URL(service.url).host, ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  )
  const connection = await rawConnect(service.url)
  await connection.send(`${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
  const answer = await onlyAnswer(connection)
  connection.drop()
  return { status: answer.status, get: (name) => answer.headers.get(name) ?? null }
}

const cookieOf = ({ cookies }: Visitor): Readonly<Record<string, string>> => ({
  Cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
})

const allowOf = (row: Methods): string =>
  [...(row.GET === undefined ? [] : ['GET', 'HEAD']), ...(row.POST === undefined ? [] : ['POST'])].join(', ')

test('every mounted route has a row, and every row has a route', () => {
  expect(Object.keys(table).toSorted()).toEqual([...mountedPaths()].toSorted())
})

const people = ['nobody', 'auditor', 'admin'] as const

describe.each(people.map((who, column) => ({ who, column })))('$who', ({ who, column }) => {
  let person: Visitor
  beforeAll(async () => {
    person = who === 'nobody' ? visitor(service.url) : await signedIn(service, who)
    await person.get('/sign-in')
  })

  test.each(Object.entries(table).map(([path, row]) => ({ path, row })))(
    '$path by every method',
    async ({ path, row }) => {
      const filled = await filledIn(path)
      const given: Record<string, number> = {}
      const expected: Record<string, number> = {}
      for (const method of ['GET', 'HEAD', ...otherMethods]) {
        const { status, allow, location } = await ask(method, filled, cookieOf(person))
        given[method] = status
        expected[method] = statusOf(row, method, column)
        if (status === 405 && typeof row !== 'string') expect([method, allow]).toEqual([method, allowOf(row)])
        if (status === 303 && who === 'nobody') expect(location).toStartWith('/sign-in')
      }
      if (who === 'admin') await person.get('/cellars')
      const form = await person.post(filled, {})
      given['POST'] = form.status
      expected['POST'] = statusOf(row, 'POST', column)
      if (form.status === 303 && who === 'nobody') expect(form.location).toBe('/sign-in')
      expect(form.headers.get('x-content-type-options')).toBe('nosniff')
      expect(form.headers.get('cache-control')).toBe('no-store')
      expect(given).toEqual(expected)
    },
  )
})

const statusOf = (row: Row, method: string, column: number): number => {
  if (row === 'api') return 401
  if (row === 'nothing') return 404
  const three = method === 'POST' ? row.POST : method === 'GET' || method === 'HEAD' ? row.GET : undefined
  return three?.[column] ?? 405
}

test.each(Object.entries(table).map(([path, row]) => ({ path, row })))(
  'a device’s key at $path by every method',
  async ({ path, row }) => {
    const filled = await filledIn(path)
    const given: Record<string, number> = {}
    const expected: Record<string, number> = {}
    for (const method of ['GET', 'HEAD', ...otherMethods]) {
      given[method] = (await ask(method, filled, { 'X-API-Key': device })).status
      expected[method] = row === 'api' ? (path.startsWith('/api/v1/') ? 405 : 404) : statusOf(row, method, 0)
    }
    expect(given).toEqual(expected)
  },
)

import type { Role } from '../../../src/domain/events.ts'
import { openFreshLog } from '../../support/logs/engine.ts'
import { addOperators, emailOf, testPassword } from '../../support/test-operators.ts'
import { type Service, type ServiceOptions, startService } from '../../support/test-service.ts'
import { manualClock } from '../../support/time/manual-clock.ts'

/** Acts as a browser: keeps cookies and sends forms, but follows no redirect. */
export type Visitor = {
  readonly cookies: Map<string, string>
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Seen>
  /** Sends the CSRF token of the last page, or `_csrf` if the fields have it. */
  post(
    path: string,
    fields: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Seen>
}

export type Seen = {
  readonly status: number
  readonly headers: Headers
  readonly body: string
  readonly location: string | null
}

export const visitor = (url: string): Visitor => {
  const cookies = new Map<string, string>()
  let csrf = ''

  const send = async (
    path: string,
    init: RequestInit & { readonly headers: Record<string, string> },
  ): Promise<Seen> => {
    if (cookies.size > 0) init.headers['Cookie'] ??= [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(`${url}${path}`, { ...init, redirect: 'manual' })
    for (const line of response.headers.getSetCookie()) keep(cookies, line)
    const body = await response.text()
    csrf = tokenIn(body) ?? csrf
    return { status: response.status, headers: response.headers, body, location: response.headers.get('location') }
  }

  return {
    cookies,
    get: (path, headers = {}) => send(path, { headers: { ...headers } }),
    post: (path, fields, headers = {}) =>
      send(path, {
        method: 'POST',
        headers: { 'Content-Type': 'application/x-www-form-urlencoded', 'Sec-Fetch-Site': 'same-origin', ...headers },
        body: new URLSearchParams({ _csrf: csrf, ...fields }).toString(),
      }),
  }
}

const keep = (cookies: Map<string, string>, line: string): void => {
  const [pair = ''] = line.split(';')
  const at = pair.indexOf('=')
  if (/; Max-Age=0(;|$)/.test(line)) cookies.delete(pair.slice(0, at))
  else cookies.set(pair.slice(0, at), pair.slice(at + 1))
}

const tokenIn = (html: string): string | null => /name="_csrf" value="([^"]*)"/.exec(html)?.[1] ?? null

export const startWithOperators = async (options: ServiceOptions = {}): Promise<Service> => {
  const log = options.log ?? (await openFreshLog())
  const clock = options.clock ?? manualClock()
  await addOperators(log, clock.now())
  const service = await startService({ isDerived: true, ...options, log, clock })
  const stop = async (): Promise<void> => {
    await service.stop()
    if (options.log === undefined) await log.close()
  }
  return { ...service, stop }
}

export const signedIn = async (service: Service, role: Role): Promise<Visitor> => {
  const person = visitor(service.url)
  await person.get('/sign-in')
  const answer = await person.post('/sign-in', { email: emailOf[role], password: testPassword, next: '' })
  if (answer.status !== 303) throw new Error(`Cannot sign in for a test: ${answer.status}`, { cause: service.lines })
  await person.get('/cellars')
  return person
}

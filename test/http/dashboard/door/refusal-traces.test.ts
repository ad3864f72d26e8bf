import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { RefusedSignIn } from '../../../../src/actors/core-interface.ts'
import { operatorStream } from '../../../../src/domain/stream-names.ts'
import {
  type TracedRefusal,
  Traces,
  traceLineMs,
  traceLinesMax,
} from '../../../../src/http/dashboard/door/refusal-traces.ts'
import { signInAttemptsMax } from '../../../../src/http/dashboard/door/sign-in-throttle.ts'
import { emailOf, testPassword } from '../../../support/test-operators.ts'
import { type Service, testAsker } from '../../../support/test-service.ts'
import { type DrivenSchedule, drivenSchedule } from '../../../support/time/driven-schedule.ts'
import { signedIn, startWithOperators, visitor } from '../visitor.ts'

let service: Service
let schedule: DrivenSchedule
let told: RefusedSignIn[]
beforeEach(async () => {
  schedule = drivenSchedule()
  told = []
  service = await startWithOperators({
    lineSchedule: schedule,
    wrapCore: (core) => ({
      ...core,
      operators: { ...core.operators, signInRefused: (refused) => told.push(refused) },
    }),
  })
})
afterEach(() => service.stop())

const warnings = (): readonly object[] =>
  service.lines.filter(({ level }) => level === 'warn').map(({ what, facts }) => ({ what, ...facts }))

const anyId = expect.stringMatching(/^[0-9a-f-]{36}$/)
const line = (what: string, reason: string, email: string | null) => ({
  what,
  reason,
  account: email === null ? 'none' : operatorStream(email),
  address: '127.0.0.1',
  requestId: anyId,
})

const guess = async (fields: { readonly email: string; readonly password: string }, times = 1): Promise<void> => {
  const person = visitor(service.url)
  await person.get('/sign-in')
  for (let at = 0; at < times; at += 1) await person.post('/sign-in', { ...fields, next: '' })
}

describe('a refused sign-in’s line', () => {
  test('names the reason, the account’s stream, the address and the request', async () => {
    await guess({ email: ` ${emailOf.admin.toUpperCase()}`, password: 'wrong' })
    expect(warnings()).toEqual([line('sign-in refused', 'wrong_password', emailOf.admin)])
    const events = await service.log.readAll({ limit: 100 })
    expect(events.map(({ stream }) => stream)).toContain(operatorStream(emailOf.admin))
  })

  test('never has an unknown e-mail, which may be a password', async () => {
    const typed = 'hunter2-my-password'
    await guess({ email: typed, password: 'wrong password' })
    expect(warnings()).toEqual([line('sign-in refused', 'no_such_account', null)])
    const said = JSON.stringify(service.lines)
    for (const text of [typed, 'wrong password', operatorStream(typed).slice('operator-'.length)]) {
      expect(said).not.toContain(text)
    }
  })

  test('names the full counter', async () => {
    const known = await signedIn(service, 'admin')
    await guess({ email: emailOf.admin, password: 'wrong' }, signInAttemptsMax)
    await schedule.advance(2 * traceLineMs)
    await guess({ email: emailOf.admin, password: 'wrong' })
    await guess({ email: 'nobody@x.org', password: 'wrong' })
    for (let at = 0; at <= signInAttemptsMax; at += 1) {
      await schedule.advance(2 * traceLineMs)
      await known.post('/sign-in', { email: emailOf.admin, password: 'wrong', next: '' })
    }
    const wrong = Array(signInAttemptsMax).fill(line('sign-in refused', 'wrong_password', emailOf.admin))
    expect(warnings()).toEqual([
      ...wrong,
      line('sign-in refused', 'too_many_for_account', emailOf.admin),
      line('sign-in refused', 'too_many_from_address', null),
      ...wrong,
      line('sign-in refused', 'too_many_from_browser', emailOf.admin),
    ])
    const failed = Array(signInAttemptsMax).fill('failed')
    expect(told.map(({ reason }) => reason)).toEqual([...failed, 'throttled', 'throttled', ...failed, 'throttled'])
  })

  test('is not written for a sign-in that succeeded', async () => {
    await signedIn(service, 'admin')
    expect([warnings(), told]).toEqual([[], []])
  })
})

describe('a refused form’s line', () => {
  const post = async (headers: Readonly<Record<string, string>>, fields: Readonly<Record<string, string>> = {}) => {
    const person = await signedIn(service, 'auditor')
    return (await person.post('/sign-out', fields, headers)).status
  }

  test('names another site’s page', async () => {
    expect(await post({ 'Sec-Fetch-Site': 'cross-site' })).toBe(403)
    expect(warnings()).toEqual([line('request refused', 'cross_site', emailOf.auditor)])
  })

  test('names a wrong token', async () => {
    expect(await post({}, { _csrf: 'wrong' })).toBe(403)
    expect(warnings()).toEqual([line('request refused', 'form_token', emailOf.auditor)])
  })

  test('names a missing cookie', async () => {
    const person = visitor(service.url)
    await person.get('/sign-in')
    person.cookies.clear()
    expect((await person.post('/sign-in', { email: emailOf.admin, password: testPassword })).status).toBe(403)
    expect(warnings()).toEqual([line('request refused', 'no_cookie', null)])
  })

  test('names the role, for a form and for a page', async () => {
    const person = await signedIn(service, 'auditor')
    expect((await person.post('/cellars', { cellar: 'x', title: '' })).status).toBe(403)
    expect((await person.get('/cellars/new')).status).toBe(403)
    const expected = line('request refused', 'role', emailOf.auditor)
    expect(warnings()).toEqual([expected, expected])
  })
})

describe('a refused link’s line', () => {
  test('is written for a wrong or spent link, without its path', async () => {
    const invited = await service.core.operators.issueLink({ email: 'new@x.org', role: 'auditor' }, testAsker)
    if (!invited.ok) throw new Error(invited.refusal.kind)
    const { secret } = invited.value
    const person = visitor(service.url)
    await person.get(`/link/${secret}`)
    const choice = { email: '', password: testPassword }
    expect((await person.post(`/link/${secret}`, choice)).status).toBe(303)
    expect(warnings()).toEqual([])

    const late = visitor(service.url)
    expect((await late.get(`/link/${secret}`)).status).toBe(410)
    await late.get('/sign-in')
    expect((await late.post(`/link/${secret}`, choice)).status).toBe(410)
    expect((await late.get('/link/mistyped-secret')).status).toBe(410)
    const expected = line('link refused', 'link_wrong_or_spent', null)
    expect(warnings()).toEqual([expected, expected, expected])
    const said = JSON.stringify(service.lines)
    for (const text of [secret, 'mistyped-secret', '/link']) expect(said).not.toContain(text)
    expect(told).toEqual([])
  })
})

describe('Traces', () => {
  const refusal = (at: number): TracedRefusal => ({
    what: 'sign_in',
    reason: 'no_such_account',
    email: null,
    address: `2001:db8::${at.toString(16)}`,
    requestId: `request-${at}`,
  })
  const refuse = (count: number): void => {
    for (let at = 0; at < count; at += 1) service.traces.refused(refusal(at))
  }

  test('writes ten lines a second, and sums up the rest by reason and address', async () => {
    refuse(traceLinesMax)
    await schedule.advance(traceLineMs)
    expect(warnings()).toHaveLength(traceLinesMax)

    refuse(traceLinesMax + 3)
    service.traces.refused({ ...refusal(0), what: 'form', reason: 'role', address: '' })
    expect(warnings()).toHaveLength(2 * traceLinesMax)
    await schedule.advance(traceLineMs)
    expect(warnings().slice(2 * traceLinesMax)).toEqual([
      {
        what: 'more sign-ins, forms and links refused',
        refusals: 4,
        reasons: { no_such_account: 3, role: 1 },
        addresses: [
          { address: '2001:db8::/64', refusals: 3 },
          { address: 'unknown', refusals: 1 },
        ],
      },
    ])
  })

  test('counts the sum among the ten lines of the next second', async () => {
    refuse(traceLinesMax + 1)
    await schedule.advance(traceLineMs)
    refuse(traceLinesMax)
    expect(warnings()).toHaveLength(2 * traceLinesMax)
    await schedule.advance(traceLineMs)
    expect(warnings()).toHaveLength(2 * traceLinesMax + 1)
    await schedule.advance(10 * traceLineMs)
    refuse(traceLinesMax + 1)
    expect(warnings()).toHaveLength(3 * traceLinesMax + 1)
  })

  test('writes the last sum when it closes', () => {
    const lines: object[] = []
    const quiet = (): void => {}
    const sink = { debug: quiet, info: quiet, error: quiet, warn: (_: string, facts: object) => lines.push(facts) }
    const traces = new Traces(sink, schedule, quiet)
    for (let at = 0; at < traceLinesMax + 2; at += 1) traces.refused(refusal(at))
    traces.close()
    expect(lines.at(-1)).toMatchObject({ refusals: 2 })
    expect(lines).toHaveLength(traceLinesMax + 1)
  })

  test('records every refused sign-in, also without a line', () => {
    refuse(3 * traceLinesMax)
    expect(told).toHaveLength(3 * traceLinesMax)
    const address = `2001:db8::${(3 * traceLinesMax - 1).toString(16)}`
    expect(told.at(-1)).toEqual({ email: null, reason: 'failed', address })
  })
})

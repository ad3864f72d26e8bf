import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { RecordedEvent } from '../../../../src/domain/events.ts'
import { operatorStream, signInsStream } from '../../../../src/domain/stream-names.ts'
import { liveHeartbeatMs } from '../../../../src/http/dashboard/live/live-push.ts'
import { headerPartsMax } from '../../../../src/http/http-bounds.ts'
import { sessionIdleMsDefault } from '../../../../src/limits.ts'
import { emailOf, testPassword } from '../../../support/test-operators.ts'
import { type Service, testAsker } from '../../../support/test-service.ts'
import { drivenSchedule } from '../../../support/time/driven-schedule.ts'
import { signedIn, startWithOperators, type Visitor, visitor } from '../visitor.ts'

const idleMs = sessionIdleMsDefault
const deviceCookie = '__Host-cellarbook-device'
const sessionCookie = '__Host-cellarbook'

let service: Service
beforeEach(async () => {
  service = await startWithOperators()
})
afterEach(() => service.stop())

const signIn = async (person: Visitor, headers: Readonly<Record<string, string>> = {}) => {
  await person.get('/sign-in')
  return person.post('/sign-in', { email: emailOf.admin, password: testPassword, next: '' }, headers)
}

const eventsOf = async (stream: string): Promise<readonly RecordedEvent[]> =>
  (await service.log.readAll({ limit: 1_000 })).filter((event) => event.stream === stream)

test('a session is found among 200 cookies, and not behind them', async () => {
  const admin = await signedIn(service, 'admin')
  const session = `${sessionCookie}=${admin.cookies.get(sessionCookie)}`
  const behind = (others: number) => admin.get('/cellars', { Cookie: `${'a=b; '.repeat(others)}${session}` })
  expect((await behind(headerPartsMax - 1)).status).toBe(200)
  expect((await behind(headerPartsMax)).location).toBe('/sign-in?next=%2Fcellars')
})

describe('a sign-in', () => {
  test('keeps the browser known in a cookie that only this host gets back', async () => {
    const person = visitor(service.url)
    const answer = await signIn(person)
    const line = answer.headers.getSetCookie().find((one) => one.startsWith(deviceCookie))
    expect(line).toMatch(
      /^__Host-cellarbook-device=[0-9a-z]{8}-[0-9A-Za-z]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=34560000; Secure$/,
    )
    const secret = person.cookies.get(deviceCookie) ?? ''
    expect(JSON.stringify(await service.log.readAll({ limit: 1_000 }))).not.toContain(secret)
    expect(service.core.operators.isKnownDevice(emailOf.admin, secret)).toBe(true)
    person.cookies.delete(sessionCookie)
    await signIn(person)
    expect(person.cookies.get(deviceCookie)).toBe(secret)
  })

  test('records address and browser in signins-node alone', async () => {
    const agent = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:128.0) Gecko/20100101 Firefox/128.0'
    await signIn(visitor(service.url), { 'User-Agent': agent })
    expect(await eventsOf(signInsStream)).toMatchObject([
      { type: 'SignInSeen', data: { email: emailOf.admin, address: '127.0.0.1', browser: 'Firefox 128 on Windows' } },
    ])
    const own = JSON.stringify(await eventsOf(operatorStream(emailOf.admin)))
    for (const personal of ['127.0.0.1', 'Firefox']) expect(own).not.toContain(personal)
  })

  test('ends the session that the browser presents', async () => {
    const person = await signedIn(service, 'admin')
    const before = person.cookies.get(sessionCookie) ?? ''
    await person.post('/sign-in', { email: emailOf.admin, password: testPassword, next: '' })
    expect(person.cookies.get(sessionCookie)).not.toBe(before)
    expect(service.core.operators.session(before)).toBeNull()
    expect((await person.get('/cellars')).status).toBe(200)
  })

  test('leads to the account first if somebody else made a link to it', async () => {
    await service.core.operators.issueLink({ email: emailOf.admin, role: 'admin' }, testAsker)
    const person = visitor(service.url)
    const answer = await signIn(person)
    expect([answer.status, answer.location]).toEqual([303, '/account'])
    expect((await person.get('/account')).body).toContain('somebody else created or used a one-time link')
  })
})

describe('a session', () => {
  test('ends when nobody has used it for two hours, and not before', async () => {
    const person = await signedIn(service, 'admin')
    service.clock.advance(idleMs - 1)
    expect((await person.get('/cellars')).status).toBe(200)
    service.clock.advance(idleMs - 1)
    expect((await person.get('/cellars')).status).toBe(200)
    service.clock.advance(idleMs)
    expect((await person.get('/cellars')).status).toBe(303)
  })

  test('counts as used while a live page is open', async () => {
    const liveSchedule = drivenSchedule()
    const watched = await startWithOperators({ liveSchedule })
    const person = await signedIn(watched, 'admin')
    const cookie = `${sessionCookie}=${person.cookies.get(sessionCookie)}`
    const leaving = new AbortController()
    const stream = await fetch(`${watched.url}/live/cellars`, { headers: { cookie }, signal: leaving.signal })
    expect(stream.status).toBe(200)
    for (let halves = 0; halves < 6; halves += 1) {
      watched.clock.advance(idleMs / 2)
      await liveSchedule.advance(liveHeartbeatMs)
    }
    expect((await person.get('/cellars')).status).toBe(200)
    leaving.abort()
    await watched.stop()
  })

  test('is named in every event that it causes', async () => {
    const person = await signedIn(service, 'admin')
    await person.post('/cellars', { cellar: 'wine', title: '' })
    const [session] = service.core.operators.openSessions(emailOf.admin)
    const created = (await service.log.readAll({ limit: 1_000 })).find(({ type }) => type === 'CellarCreated')
    expect(created?.metadata.by).toEqual({
      kind: 'operator',
      email: emailOf.admin,
      session: { id: session?.id ?? '', linkMadeBy: null },
    })
  })
})

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { RefusedSignIn } from '../../../src/actors/core-interface.ts'
import { operatorStream, signInsStream } from '../../../src/domain/stream-names.ts'
import { signInAttemptsMax, signInWindowMs } from '../../../src/http/dashboard/door/sign-in-throttle.ts'
import { paths } from '../../../views/paths.ts'
import { openFreshLog } from '../../support/logs/engine.ts'
import { type FaultyLog, faultyLog } from '../../support/logs/faulty-log.ts'
import { emailOf, testPassword } from '../../support/test-operators.ts'
import { type Service, testAsker } from '../../support/test-service.ts'
import { type Seen, signedIn, startWithOperators, type Visitor, visitor } from './visitor.ts'

const sessionCookie = '__Host-cellarbook'
const deviceCookie = '__Host-cellarbook-device'
const newPassword = 'another twelve characters'
const firefox = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:128.0) Gecko/20100101 Firefox/128.0'

let log: FaultyLog
let service: Service
let told: RefusedSignIn[]
let admin: Visitor
beforeEach(async () => {
  told = []
  log = faultyLog(await openFreshLog())
  service = await startWithOperators({
    log,
    wrapCore: (core) => ({
      ...core,
      operators: { ...core.operators, signInRefused: (refused) => told.push(refused) },
    }),
  })
  admin = await signedIn(service, 'admin')
})
afterEach(async () => {
  await service.stop()
  await log.close()
})

const signInFrom = async (agent: string): Promise<Visitor> => {
  const person = visitor(service.url)
  await person.get(paths.signIn)
  const fields = { email: emailOf.admin, password: testPassword, next: '' }
  expect((await person.post(paths.signIn, fields, { 'User-Agent': agent })).status).toBe(303)
  await person.get(paths.cellars)
  return person
}

const isSignedIn = async (person: Visitor): Promise<boolean> => (await person.get(paths.cellars)).status === 200

const sessionIds = (email: string): readonly string[] => service.core.operators.openSessions(email).map(({ id }) => id)

const rowsWith = ({ body }: Seen, text: string): readonly string[] =>
  (body.match(/<tr>.*?<\/tr>/gs) ?? []).filter((row) => row.includes(text))

const signedInRow = 'row-name">Signed in<'

const warnings = (): readonly unknown[] =>
  service.lines.filter(({ level }) => level === 'warn').map(({ what, facts }) => [what, Reflect.get(facts, 'reason')])

describe('the account page', () => {
  test('lists the open sessions and marks this one', async () => {
    await signInFrom(firefox)
    service.clock.advance(60_000)
    const page = await admin.get(paths.account)
    expect(page.status).toBe(200)
    const [other = '', ...more] = rowsWith(page, 'Firefox 128 on Windows').filter((row) => row.includes('"session"'))
    expect([more.length, other.includes('127.0.0.1'), other.includes('1 minute ago')]).toEqual([0, true, false])
    expect(other).not.toContain('this session')
    expect(rowsWith(page, 'this session')).toHaveLength(1)
    expect(rowsWith(page, 'just now')).toEqual(rowsWith(page, 'this session'))
  })

  test('shows nothing of another operator', async () => {
    await signedIn(service, 'auditor')
    const page = await admin.get(paths.account)
    expect(page.body).not.toContain(emailOf.auditor)
    for (const id of sessionIds(emailOf.auditor)) expect(page.body).not.toContain(id)
  })

  test('is reached from the e-mail in the header, by both roles', async () => {
    for (const role of ['admin', 'auditor'] as const) {
      const person = await signedIn(service, role)
      expect((await person.get(paths.cellars)).body).toContain(`<a href="${paths.account}"`)
      expect((await person.get(paths.account)).body).toContain(emailOf[role])
    }
  })

  test('shows the sign-in history with address, browser and retention', async () => {
    await signInFrom(firefox)
    const page = await admin.get(paths.account)
    expect(page.body).toContain('kept for 30 days')
    const [newest = ''] = rowsWith(page, signedInRow)
    expect([newest.includes('Firefox 128 on Windows'), newest.includes('127.0.0.1')]).toEqual([true, true])
  })

  test('still opens after addresses and browsers were purged', async () => {
    await signInFrom(firefox)
    await log.truncate(signInsStream, 1)
    const page = await admin.get(paths.account)
    expect([page.status, page.body.includes('Unknown browser')]).toEqual([200, true])
    const [kept, gone] = rowsWith(page, signedInRow)
    expect(kept).toContain('127.0.0.1')
    expect(gone).toContain('No longer stored')
  })

  test('says if an old sign-in recorded no address and browser', async () => {
    const data = { sessionHash: 'old', expiresAt: 1, idleAt: 1, deviceHash: null, seenRevision: null }
    const by = { kind: 'operator', email: emailOf.admin } as const
    const metadata = { by, requestId: 'old', correlationId: 'old', causationId: 'old' }
    const event = {
      id: crypto.randomUUID(),
      type: 'OperatorSignedIn',
      recordedAt: service.clock.now(),
      data,
      metadata,
    } as const
    expect(await log.append(operatorStream(emailOf.admin), 1, [event])).toMatchObject({ outcome: 'written' })
    const [old, newer] = rowsWith(await admin.get(paths.account), signedInRow)
    expect([old?.includes('Not recorded'), newer?.includes('Not recorded')]).toEqual([true, false])
  })

  test('marks an invitation as another’s link only after a removal', async () => {
    const email = 'new@example.org'
    const mark = 'somebody else’s link'
    const joined = async (own?: { readonly password: string }): Promise<Seen> => {
      const asked = { email, role: 'auditor', ...(own !== undefined && { own }) } as const
      const link = await service.core.operators.issueLink(asked, testAsker)
      if (!link.ok) throw new Error(link.refusal.kind)
      const person = visitor(service.url)
      const path = paths.link(link.value.secret)
      await person.get(path)
      const spent = await person.post(path, { email: '', password: newPassword })
      expect(spent.status).toBe(303)
      return person.get(paths.account)
    }
    const first = await joined()
    expect([rowsWith(first, 'Invitation created').length, first.body.includes(mark)]).toEqual([1, false])
    expect(first.body).not.toContain('somebody else created or used a one-time link')
    expect(await service.core.operators.remove(email, testAsker)).toMatchObject({ ok: true })
    const second = await joined({ password: testPassword })
    expect(rowsWith(second, 'One-time link created')[0]).toContain(mark)
    expect(rowsWith(second, 'Invitation created')[0]).not.toContain(mark)
    expect(second.body).toContain('somebody else created or used a one-time link')
  })

  test('marks links of other makers, and the sessions that they opened', async () => {
    expect((await admin.get(paths.account)).body).not.toContain('somebody else’s link')
    const link = await service.core.operators.issueLink({ email: emailOf.admin, role: 'admin' }, testAsker)
    if (!link.ok) throw new Error(link.refusal.kind)
    const made = rowsWith(await admin.get(paths.account), 'One-time link created')
    expect(made[0]).toContain('somebody else’s link')
    const person = visitor(service.url)
    const path = paths.link(link.value.secret)
    await person.get(path)
    const spent = await person.post(path, { email: '', password: newPassword })
    expect([spent.status, spent.location]).toEqual([303, paths.account])
    const page = await person.get(paths.account)
    expect(page.body).toContain('somebody else created or used a one-time link')
    expect(rowsWith(page, 'this session')[0]).toContain('somebody else’s link')
    expect(rowsWith(page, 'Password set with a one-time link')[0]).toContain('the command line')
  })

  test('says that the store is away if it cannot read the history', async () => {
    log.goAway()
    const page = await admin.get(paths.account)
    log.comeBack()
    expect([page.status, page.body.includes('The event log is unavailable')]).toEqual([503, true])
  })
})

describe('a password change', () => {
  const fields = { own_password: testPassword, password: newPassword }

  test('ends every other session and keeps this browser signed in and known', async () => {
    const other = await signInFrom(firefox)
    const before = admin.cookies.get(sessionCookie)
    const changed = await admin.post(paths.accountPassword, fields)
    expect([changed.status, changed.location]).toEqual([303, paths.account])
    expect((await admin.get(paths.account)).body).toContain('Password changed.')
    expect(admin.cookies.get(sessionCookie)).not.toBe(before)
    expect(service.core.operators.isKnownDevice(emailOf.admin, admin.cookies.get(deviceCookie) ?? '')).toBe(true)
    expect([await isSignedIn(admin), await isSignedIn(other)]).toEqual([true, false])
    await other.get(paths.signIn)
    const signIn = { email: emailOf.admin, next: '' }
    expect((await other.post(paths.signIn, { ...signIn, password: testPassword })).status).toBe(401)
    expect((await other.post(paths.signIn, { ...signIn, password: newPassword })).status).toBe(303)
  })

  test('renews the browser’s secret, so a stolen copy has no guesses of its own', async () => {
    const stolen = admin.cookies.get(deviceCookie) ?? ''
    expect((await admin.post(paths.accountPassword, fields)).status).toBe(303)
    expect(admin.cookies.get(deviceCookie)).not.toBe(stolen)
    expect(service.core.operators.isKnownDevice(emailOf.admin, stolen)).toBe(false)
    const thief = visitor(service.url)
    thief.cookies.set(deviceCookie, stolen)
    await thief.get(paths.signIn)
    const guess = { email: emailOf.admin, password: 'a wrong guess', next: '' }
    for (let at = 0; at < signInAttemptsMax; at += 1) expect((await thief.post(paths.signIn, guess)).status).toBe(401)
    const stranger = visitor(service.url)
    await stranger.get(paths.signIn)
    expect((await stranger.post(paths.signIn, { ...guess, password: newPassword })).status).toBe(429)
  })

  test('renews the secret in each other browser too, also if operators share it', async () => {
    service.clock.advance(1_000)
    const shared = await signedIn(service, 'auditor')
    const signInShared = async (email: string, password: string): Promise<string> => {
      await shared.get(paths.signIn)
      shared.cookies.delete(sessionCookie)
      await shared.get(paths.signIn)
      expect((await shared.post(paths.signIn, { email, password, next: '' })).status).toBe(303)
      return shared.cookies.get(deviceCookie) ?? ''
    }
    const stolen = await signInShared(emailOf.admin, testPassword)
    expect(await signInShared(emailOf.auditor, testPassword)).toBe(stolen)
    service.clock.advance(1_000)
    expect((await admin.post(paths.accountPassword, fields)).status).toBe(303)
    service.clock.advance(1_000)
    expect(await signInShared(emailOf.auditor, testPassword)).toBe(stolen)
    const renewed = await signInShared(emailOf.admin, newPassword)
    expect([renewed === stolen, service.core.operators.isKnownDevice(emailOf.admin, stolen)]).toEqual([false, false])
    expect(await signInShared(emailOf.auditor, testPassword)).toBe(renewed)
    expect(await signInShared(emailOf.admin, newPassword)).toBe(renewed)
  })

  test('by a link renews the secret too', async () => {
    const stolen = admin.cookies.get(deviceCookie) ?? ''
    const link = await service.core.operators.issueLink({ email: emailOf.admin, role: 'admin' }, testAsker)
    if (!link.ok) throw new Error(link.refusal.kind)
    const path = paths.link(link.value.secret)
    await admin.get(path)
    const spent = { email: '', password: newPassword }
    expect((await admin.post(path, spent)).status).toBe(303)
    const known = [stolen, admin.cookies.get(deviceCookie) ?? '']
    expect(known.map((secret) => service.core.operators.isKnownDevice(emailOf.admin, secret))).toEqual([false, true])
  })

  test('makes a browser without its cookie known again', async () => {
    admin.cookies.delete(deviceCookie)
    expect((await admin.post(paths.accountPassword, fields)).status).toBe(303)
    expect(service.core.operators.isKnownDevice(emailOf.admin, admin.cookies.get(deviceCookie) ?? '')).toBe(true)
  })

  test('shows a fault at its field and repeats no password', async () => {
    const wrong = [
      [{ ...fields, own_password: '' }, 'fault-own_password'],
      [{ ...fields, own_password: 'not my own password' }, 'fault-own_password'],
      [{ ...fields, password: 'short' }, 'fault-password'],
    ] as const
    for (const [form, fault] of wrong) {
      const answer = await admin.post(paths.accountPassword, form)
      expect([fault, answer.status]).toEqual([fault, 422])
      expect(answer.body).toContain(`id="${fault}"`)
      for (const password of Object.values(form)) expect(password !== '' && answer.body.includes(password)).toBe(false)
    }
    expect(await service.log.read(operatorStream(emailOf.admin), { limit: 10 })).toHaveLength(2)
  })
})

describe('wrong own passwords', () => {
  const change = { password: newPassword }
  const guess = (at: number, own_password = 'a wrong guess'): Promise<Seen> =>
    at % 2 === 0
      ? admin.post(paths.accountPassword, { ...change, own_password })
      : admin.post(paths.operatorLinks, { email: emailOf.auditor, role: 'auditor', own_password })

  test('are counted together for both forms and the sign-in page', async () => {
    for (let at = 0; at < signInAttemptsMax; at += 1) expect((await guess(at)).status).toBe(422)
    for (const at of [0, 1]) {
      const answer = await guess(at, testPassword)
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, String(signInWindowMs / 1_000)])
      expect(answer.body).toContain('Wait 15 minutes')
    }
    const signIn = { email: emailOf.admin, password: testPassword, next: '' }
    expect((await admin.post(paths.signIn, signIn)).status).toBe(429)
    service.clock.advance(signInWindowMs)
    expect((await guess(1, testPassword)).status).toBe(201)
  })

  test('write a line each, and are recorded for the account', async () => {
    for (let at = 0; at <= signInAttemptsMax; at += 1) await guess(at)
    // The last refusal gets no line, because at most 10 lines are written in a second.
    expect(warnings()).toEqual(Array(signInAttemptsMax).fill(['sign-in refused', 'wrong_own_password']))
    const of = { email: emailOf.admin, address: '127.0.0.1' }
    expect(told).toEqual([
      ...Array(signInAttemptsMax).fill({ ...of, reason: 'failed' }),
      { ...of, reason: 'throttled' },
    ])
  })

  test('are forgotten after the right one', async () => {
    for (let at = 1; at < signInAttemptsMax; at += 1) await guess(at)
    expect((await guess(1, testPassword)).status).toBe(201)
    for (let at = 1; at < signInAttemptsMax; at += 1) expect((await guess(at)).status).toBe(422)
  })

  test('are not forgotten by an invitation, which needs no password', async () => {
    const invite = (at: number): Promise<Seen> =>
      admin.post(paths.operatorLinks, { email: `new-${at}@example.org`, role: 'auditor', own_password: 'anything' })
    for (let at = 0; at < signInAttemptsMax; at += 1) expect((await invite(at)).status).toBe(201)
    for (let at = 0; at < signInAttemptsMax; at += 1) expect((await guess(at)).status).toBe(422)
    expect((await invite(0)).status).toBe(201)
    expect((await guess(1)).status).toBe(429)
  })

  test('are not counted if no password was compared', async () => {
    for (let at = 0; at <= signInAttemptsMax; at += 1) {
      const short = { own_password: testPassword, password: 'short' }
      expect((await admin.post(paths.accountPassword, short)).status).toBe(422)
      expect((await guess(at, '')).status).toBe(422)
    }
    expect((await guess(1, testPassword)).status).toBe(201)
    expect([warnings(), told]).toEqual([[], []])
  })
})

describe('ending sessions', () => {
  const idOfOther = (): string => {
    const own = service.core.operators.session(admin.cookies.get(sessionCookie) ?? '')?.id
    return sessionIds(emailOf.admin).find((id) => id !== own) ?? 'none'
  }

  test('ends only the named session', async () => {
    const other = await signInFrom(firefox)
    const named = idOfOther()
    const third = await signInFrom(firefox)
    const ended = await admin.post(paths.accountSessions, { session: named })
    expect([ended.status, ended.location]).toEqual([303, paths.account])
    expect((await admin.get(paths.account)).body).toContain('Session ended.')
    expect([await isSignedIn(other), await isSignedIn(third), await isSignedIn(admin)]).toEqual([false, true, true])
  })

  test('ends all other sessions and keeps this one', async () => {
    const others = [await signInFrom(firefox), await signInFrom(firefox)]
    const page = await admin.get(paths.account)
    expect(page.body).toContain('End all other sessions')
    expect((await admin.post(paths.accountSessions, { session: 'others' })).status).toBe(303)
    expect((await admin.get(paths.account)).body).toContain('All your other sessions have ended.')
    expect((await admin.get(paths.account)).body).not.toContain('End all other sessions')
    for (const other of others) expect(await isSignedIn(other)).toBe(false)
  })

  test('leads to sign-in if it ends the present session', async () => {
    const [own = ''] = sessionIds(emailOf.admin)
    const ended = await admin.post(paths.accountSessions, { session: own })
    expect([ended.status, ended.location]).toEqual([303, paths.signIn])
    expect(admin.cookies.has(sessionCookie)).toBe(false)
    expect((await admin.get(paths.signIn)).body).toContain('You are signed out.')
  })

  test('on the own account page ends no session of another operator', async () => {
    const auditor = await signedIn(service, 'auditor')
    for (const session of [...sessionIds(emailOf.auditor), '', 'others']) {
      expect((await admin.post(paths.accountSessions, { session })).status).toBe(303)
    }
    const [ofAdmin = ''] = sessionIds(emailOf.admin)
    expect((await auditor.post(paths.accountSessions, { session: ofAdmin })).status).toBe(303)
    expect([await isSignedIn(auditor), await isSignedIn(admin)]).toEqual([true, true])
  })

  test('of another operator needs a confirmation and an admin', async () => {
    const auditor = await signedIn(service, 'auditor')
    const [ofAuditor, ofAdmin] = [paths.operatorSessions(emailOf.auditor), paths.operatorSessions(emailOf.admin)]
    expect((await auditor.get(ofAdmin)).status).toBe(403)
    await auditor.get(paths.account)
    expect((await auditor.post(ofAdmin, {})).status).toBe(403)
    expect(await isSignedIn(admin)).toBe(true)

    expect((await admin.get(ofAuditor)).body).toContain('This operator is signed out everywhere')
    expect(await isSignedIn(auditor)).toBe(true)
    const ended = await admin.post(ofAuditor, {})
    expect([ended.status, ended.location]).toEqual([303, paths.operators])
    expect((await admin.get(paths.operators)).body).toContain('Sessions ended. The operator must sign in again.')
    expect(await isSignedIn(auditor)).toBe(false)
    const page = await signedIn(service, 'auditor').then((person) => person.get(paths.account))
    expect(rowsWith(page, 'Session ended')[0]).toContain(emailOf.admin)
  })

  test('on the operators’ page keeps the admin’s present session', async () => {
    const other = await signInFrom(firefox)
    const path = paths.operatorSessions(emailOf.admin)
    expect((await admin.get(path)).body).toContain('This session stays open.')
    expect((await admin.post(path, {})).status).toBe(303)
    expect([await isSignedIn(admin), await isSignedIn(other)]).toEqual([true, false])
    expect((await admin.get(paths.operators)).body).not.toContain(path)
  })

  test('of an unknown operator answers 404', async () => {
    const path = paths.operatorSessions('nobody@example.org')
    expect((await admin.get(path)).status).toBe(404)
    expect((await admin.post(path, {})).status).toBe(404)
  })
})

describe('the operators’ page', () => {
  test('shows the last sign-in and the open sessions of each operator', async () => {
    expect(rowsWith(await admin.get(paths.operators), emailOf.auditor)[0]).toContain('Never')
    service.clock.advance(61_000)
    await signedIn(service, 'auditor')
    const [row = ''] = rowsWith(await admin.get(paths.operators), emailOf.auditor)
    expect([row.includes('12:01:01 UTC'), row.includes('1 open session<')]).toEqual([true, true])
  })

  test('makes a link to an account only with the own password', async () => {
    const link = { email: emailOf.auditor, role: 'auditor' }
    for (const [own_password, words] of [
      ['', 'Enter your own password.'],
      ['wrong', 'This is not your password.'],
    ] as const) {
      const answer = await admin.post(paths.operatorLinks, { ...link, own_password })
      expect([answer.status, answer.body.includes(words)]).toEqual([422, true])
      expect(answer.body).toContain('id="fault-own_password"')
      expect(answer.body).toContain(`value="${emailOf.auditor}"`)
    }
    expect(await service.log.read(operatorStream(emailOf.auditor), { limit: 10 })).toHaveLength(1)
    expect((await admin.post(paths.operatorLinks, { ...link, own_password: testPassword })).status).toBe(201)
  })
})

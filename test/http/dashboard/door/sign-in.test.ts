import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Role } from '../../../../src/domain/events.ts'
import { safeNext } from '../../../../src/http/dashboard/pages/sign-in-pages.tsx'
import { sessionMsMax } from '../../../../src/limits.ts'
import { emailOf, testPassword } from '../../../support/test-operators.ts'
import { type Service, startService, testAsker } from '../../../support/test-service.ts'
import { signedIn, startWithOperators, visitor } from '../visitor.ts'

let service: Service
beforeEach(async () => {
  service = await startWithOperators()
})
afterEach(() => service.stop())

const hour = 3_600_000

describe('sign-in', () => {
  test('opens a session in a cookie for this host alone, hidden from scripts', async () => {
    const person = visitor(service.url)
    await person.get('/sign-in')
    const answer = await person.post('/sign-in', { email: emailOf.admin, password: testPassword, next: '/operators' })
    expect([answer.status, answer.location]).toEqual([303, '/operators'])
    const [session = ''] = answer.headers.getSetCookie()
    expect(session).toMatch(
      /^__Host-cellarbook=[0-9A-Za-z]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=43200; Secure$/,
    )
    expect((await person.get('/operators')).status).toBe(200)
  })

  test('keeps the session’s secret out of the log', async () => {
    const person = await signedIn(service, 'admin')
    const secret = person.cookies.get('__Host-cellarbook') ?? ''
    expect(secret).toHaveLength(43)
    expect(JSON.stringify(await service.log.readAll({ limit: 100 }))).not.toContain(secret)
  })

  test('answers a wrong password and an unknown e-mail alike', async () => {
    const bodies = []
    for (const email of [emailOf.admin, 'nobody@example.org']) {
      const person = visitor(service.url)
      await person.get('/sign-in')
      const answer = await person.post('/sign-in', { email, password: 'wrong password', next: '' })
      expect(answer.status).toBe(401)
      expect(answer.headers.getSetCookie()).toEqual([])
      expect(answer.body).toContain('The e-mail or the password is wrong.')
      bodies.push(answer.body.replaceAll(email, 'EMAIL').replaceAll(/name="_csrf" value="[^"]*"/g, 'CSRF'))
    }
    expect(bodies[0]).toBe(bodies[1])
  })

  test('tells a browser without cookies the reason', async () => {
    const person = visitor(service.url)
    await person.get('/sign-in')
    person.cookies.clear()
    const answer = await person.post('/sign-in', { email: emailOf.admin, password: testPassword, next: '' })
    expect([answer.status, answer.body.includes('Your browser blocks cookies')]).toEqual([403, true])
  })

  test('never repeats a password on a page', async () => {
    const person = visitor(service.url)
    await person.get('/sign-in')
    const answer = await person.post('/sign-in', { email: 'x@example.org', password: 'hunter2hunter2', next: '' })
    expect(answer.body).not.toContain('hunter2hunter2')
  })

  test('begins a new session whatever cookie was sent', async () => {
    const person = visitor(service.url)
    person.cookies.set('__Host-cellarbook', 'chosen-by-somebody-else')
    await person.get('/sign-in')
    await person.post('/sign-in', { email: emailOf.admin, password: testPassword, next: '' })
    expect(person.cookies.get('__Host-cellarbook')).toMatch(/^[0-9A-Za-z]{43}$/)
  })

  test('ends to the millisecond when the session expires', async () => {
    const person = await signedIn(service, 'admin')
    for (let usedMs = hour; usedMs < sessionMsMax; usedMs += hour) {
      service.clock.advance(hour)
      expect((await person.get('/cellars')).status).toBe(200)
    }
    service.clock.advance(hour - 1)
    expect((await person.get('/cellars')).status).toBe(200)
    service.clock.advance(1)
    const ended = await person.get('/cellars?status=x')
    expect([ended.status, ended.location]).toEqual([303, '/sign-in?next=%2Fcellars%3Fstatus%3Dx'])
  })

  test('ends at sign-out for whoever holds the secret, and says so once', async () => {
    const person = await signedIn(service, 'admin')
    const secret = person.cookies.get('__Host-cellarbook') ?? ''
    const out = await person.post('/sign-out', {})
    expect([out.status, out.location]).toEqual([303, '/sign-in'])
    expect(person.cookies.has('__Host-cellarbook')).toBe(false)
    expect((await person.get('/sign-in')).body).toContain('class="notice" role="status">You are signed out.')
    expect((await person.get('/sign-in')).body).not.toContain('You are signed out.')
    person.cookies.set('__Host-cellarbook', secret)
    expect((await person.get('/cellars')).status).toBe(303)
  })

  test('clears the browser’s cache at sign-out, and keeps it known', async () => {
    const person = await signedIn(service, 'admin')
    const device = person.cookies.get('__Host-cellarbook-device') ?? ''
    const out = await person.post('/sign-out', {})
    expect(out.headers.get('clear-site-data')).toBe('"cache", "storage"')
    expect(person.cookies.get('__Host-cellarbook-device')).toBe(device)
    expect(device).toHaveLength(52)
    expect((await person.get('/sign-in')).headers.has('clear-site-data')).toBe(false)
  })

  test('refuses a form after the session’s end, and says that nothing changed', async () => {
    const person = await signedIn(service, 'admin')
    await person.get('/account')
    service.clock.advance(sessionMsMax)
    const late = await person.post('/account/password', { own_password: testPassword, password: 'another long one' })
    expect([late.status, late.location]).toEqual([303, '/sign-in'])
    expect((await person.get('/sign-in')).body).toContain('class="notice calm" role="status">Your session has ended.')
    expect((await signedIn(service, 'admin')).cookies.size).toBeGreaterThan(0)
  })

  test('tells the first visitor how to create an admin', async () => {
    const fresh = await startService()
    expect((await visitor(fresh.url).get('/sign-in')).body).toContain('There is no account yet.')
    await fresh.stop()
    expect((await visitor(service.url).get('/sign-in')).body).not.toContain('There is no account yet.')
  })

  test('leads to a path of ours, and to no other site', async () => {
    for (const next of [
      '//evil.example',
      '/\\evil.example',
      'https://evil.example',
      '/\t/evil.example',
      'javascript:x',
    ]) {
      const person = visitor(service.url)
      await person.get(`/sign-in?next=${encodeURIComponent(next)}`)
      const answer = await person.post('/sign-in', { email: emailOf.admin, password: testPassword, next })
      expect([next, answer.location]).toEqual([next, '/cellars'])
    }
  })
})

describe('safeNext()', () => {
  test('keeps a path with its query', () => {
    expect(safeNext('/keys/x?at=2026-03-01%2010:14')).toBe('/keys/x?at=2026-03-01%2010:14')
    expect(safeNext('/cellars/a%2Fb/readings')).toBe('/cellars/a%2Fb/readings')
  })

  test('never returns a path that a browser takes for another site', () => {
    for (const text of ['', 'x', '//x', '///x', '/\\x', '\\\\x', '/\r\n/x', ' //x', 'http:/x', '/..//x', '/.//x']) {
      const next = safeNext(text)
      expect([text, new URL(next, 'http://here.example').origin]).toEqual([text, 'http://here.example'])
      expect(next.startsWith('//')).toBe(false)
    }
  })
})

describe('a one-time link', () => {
  const linkFor = async (email: string | null, role: Role = 'admin', { core } = service): Promise<string> => {
    const link = await core.operators.issueLink({ email, role }, testAsker)
    if (!link.ok) throw new Error(link.refusal.kind)
    return `/link/${link.value.secret}`
  }
  const choice = { email: 'First@Example.org', password: testPassword }

  test('makes the first admin, signs in, and is then spent', async () => {
    const path = await linkFor(null)
    const person = visitor(service.url)
    expect((await person.get(path)).body).toContain('You will be an admin: you can create')
    const spent = await person.post(path, choice)
    expect([spent.status, spent.location]).toEqual([303, '/cellars'])
    expect((await person.get('/cellars')).body).toContain('first@example.org')
    expect(service.core.projections.operators.get('first@example.org')?.role).toBe('admin')

    const second = visitor(service.url)
    const shown = await second.get(path)
    expect([shown.status, shown.body.includes('no longer works')]).toEqual([410, true])
    await second.get('/sign-in')
    const again = await second.post(path, { ...choice, email: 'second@example.org' })
    expect(again.status).toBe(410)
    expect(service.core.projections.operators.list()).toHaveLength(3)
  })

  test('shows the role that it gives, and whether the admin is first', async () => {
    const fresh = await startService()
    const first = (await visitor(fresh.url).get(await linkFor(null, 'admin', fresh))).body
    expect(first).toContain('Set up Cellarbook')
    expect(first).toContain('You will be the first operator, and an admin: you can create')
    await fresh.stop()
    for (const role of ['admin', 'auditor'] as const) {
      const later = (await visitor(service.url).get(await linkFor(null, role))).body
      expect(later).toContain(`You will be an ${role}: you can `)
      expect(later).not.toContain('Set up Cellarbook')
      expect((await visitor(service.url).get(await linkFor(`new-${role}@example.org`, role))).body).toContain(
        `You are invited as an ${role}: you can `,
      )
    }
  })

  test('that is spent suggests no command for a new operator', async () => {
    const { body } = await visitor(service.url).get('/link/spent')
    expect(body).toContain('operator link --email you@example.com')
  })

  test('is not spent by a GET', async () => {
    const path = await linkFor(null)
    for (let look = 0; look < 3; look += 1) expect((await visitor(service.url).get(path)).status).toBe(200)
  })

  test('is spent once by two forms at the same moment', async () => {
    const path = await linkFor(null)
    const [ada, bob] = [visitor(service.url), visitor(service.url)]
    await Promise.all([ada.get(path), bob.get(path)])
    const answers = await Promise.all([ada.post(path, choice), bob.post(path, { ...choice, email: 'bob@example.org' })])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 410])
    expect(service.core.projections.operators.list()).toHaveLength(3)
  })

  test('shows a fault at its field, and stays unspent', async () => {
    const path = await linkFor(null)
    const person = visitor(service.url)
    await person.get(path)
    const wrong = [
      [{ ...choice, password: 'short' }, 'fault-password'],
      [{ ...choice, email: 'no address' }, 'fault-email'],
    ] as const
    for (const [fields, fault] of wrong) {
      const answer = await person.post(path, fields)
      expect([fault, answer.status]).toEqual([fault, 422])
      expect(answer.body).toContain(`id="${fault}"`)
      expect(answer.body).toContain(`value="${fields.email}"`)
      expect(answer.body).not.toContain(fields.password)
    }
    expect((await person.post(path, choice)).status).toBe(303)
  })

  test('for one account cannot open another account', async () => {
    const path = await linkFor('eva@example.org')
    const person = visitor(service.url)
    await person.get(path)
    await person.post(path, { ...choice, email: 'mallory@example.org' })
    expect(service.core.projections.operators.get('mallory@example.org')).toBeNull()
    expect(service.core.projections.operators.get('eva@example.org')).not.toBeNull()
  })

  test('for a lost password ends every open session', async () => {
    const before = await signedIn(service, 'admin')
    const path = await linkFor(emailOf.admin)
    const person = visitor(service.url)
    expect((await person.get(path)).body).toContain('Choose a new password')
    const password = 'another twelve characters'
    expect((await person.post(path, { email: '', password })).status).toBe(303)
    expect((await before.get('/cellars')).status).toBe(303)
    expect((await person.get('/cellars')).status).toBe(200)
  })

  test('leaves its secret out of log lines', async () => {
    const path = await linkFor(null)
    const person = visitor(service.url)
    await person.get(path)
    await person.post(path, choice)
    expect(JSON.stringify(service.lines)).not.toContain(path.slice('/link/'.length))
  })
})

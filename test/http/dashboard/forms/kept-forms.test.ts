import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { keptBytesMax } from '../../../../src/http/dashboard/forms/kept-form.ts'
import { sessionMsMax } from '../../../../src/limits.ts'
import { paths } from '../../../../views/paths.ts'
import { emailOf, testPassword } from '../../../support/test-operators.ts'
import { type Service, testAsker, testCellar } from '../../../support/test-service.ts'
import { type Seen, signedIn, startWithOperators, type Visitor } from '../visitor.ts'
import { fieldsOfForm } from './form-fields.ts'

let service: Service
let admin: Visitor
let keyId: string
beforeEach(async () => {
  service = await startWithOperators()
  keyId = (await service.createKey({ label: 'Press' })).keyId
  admin = await signedIn(service, 'admin')
})
afterEach(() => service.stop())

type Fields = Readonly<Record<string, string>>

const filledIn = async (page: string, action: string, typed: Fields): Promise<Fields> => ({
  ...fieldsOfForm((await admin.get(page)).body, action),
  ...typed,
})

const endSessions = () => service.core.operators.endSessions(emailOf.admin, { allBut: null }, testAsker)

/** Signs in with the page that the lost form led to, and sends on what the next page carries. */
const signInFrom = async (page: Seen, email = emailOf.admin): Promise<Seen> =>
  admin.post(paths.signIn, { ...fieldsOfForm(page.body, paths.signIn), email, password: testPassword })

const openForm = async (page: Seen, action: string): Promise<Seen> =>
  admin.post(action, fieldsOfForm((await signInFrom(page)).body, action))

const changesInLog = async (): Promise<number> =>
  (await service.log.readAll({ limit: 1_000 })).filter(({ stream }) => stream.startsWith('key-')).length

describe('a form that is sent after the end of its session', () => {
  const ends: readonly { readonly what: string; readonly end: () => Promise<unknown> }[] = [
    { what: 'was ended by somebody', end: endSessions },
    { what: 'expired', end: async () => service.clock.advance(sessionMsMax) },
    {
      what: 'was signed out in another tab',
      end: async () => admin.post(paths.signOut, fieldsOfForm((await admin.get(paths.cellars)).body, paths.signOut)),
    },
  ]
  test.each(ends)('opens again as it was, if the session $what', async ({ end }) => {
    const edit = paths.editKey(keyId)
    const typed = { label: 'Press & "pump" <2>', note: 'two\r\nlines &amp;', expires: '30d', limit_readings: '7' }
    const form = await filledIn(edit, edit, typed)
    await end()
    const page = await admin.post(edit, form)
    expect([page.status, page.body.includes('your form was not sent')]).toEqual([401, true])
    const before = await changesInLog()
    const again = await openForm(page, edit)
    expect(await changesInLog()).toBe(before)
    expect([again.status, again.body.includes('so this form was not sent')]).toEqual([200, true])
    expect(service.core.projections.keys.get(keyId)?.label).toBe('Press')
    const { _csrf: _, ...fields } = fieldsOfForm(again.body, edit)
    const { _csrf: __, ...sent } = form
    expect(fields).toEqual({ ...sent, expires_on: '' })
    await admin.post(edit, { ...fieldsOfForm(again.body, edit), limit_seconds: '60' })
    expect(service.core.projections.keys.get(keyId)).toMatchObject({
      label: typed.label,
      note: 'two\nlines &amp;',
      limit: { readings: 7, windowMs: 60_000 },
    })
  })

  test('survives a wrong password', async () => {
    const form = await filledIn(paths.newCellar, paths.cellars, { cellar: 'mosel', title: 'Mosel' })
    await endSessions()
    const page = await admin.post(paths.cellars, form)
    const wrong = await admin.post(paths.signIn, {
      ...fieldsOfForm(page.body, paths.signIn),
      email: emailOf.admin,
      password: 'wrong',
    })
    expect(wrong.status).toBe(401)
    const again = await openForm(wrong, paths.cellars)
    expect(fieldsOfForm(again.body, paths.cellars)).toMatchObject({
      cellar: 'mosel',
      title: 'Mosel',
      _key_id: form['_key_id'] ?? '',
    })
    expect(service.core.projections.cellars.get('mosel')).toBeNull()
  })

  test('opens at once if its operator has signed in again meanwhile', async () => {
    const edit = paths.editKey(keyId)
    const form = await filledIn(edit, edit, { label: 'Pump' })
    await endSessions()
    admin = await signedIn(service, 'admin')
    const again = await admin.post(edit, form)
    expect([again.status, fieldsOfForm(again.body, edit)['label']]).toEqual([200, 'Pump'])
    expect(service.core.projections.keys.get(keyId)?.label).toBe('Press')
  })

  test('opens from its sign-in page if its operator has signed in elsewhere meanwhile', async () => {
    const edit = paths.editKey(keyId)
    const form = await filledIn(edit, edit, { label: 'Pump' })
    await endSessions()
    const page = await admin.post(edit, form)
    const other = await signedIn(service, 'admin')
    for (const [name, value] of other.cookies) admin.cookies.set(name, value)
    const again = await openForm(page, edit)
    expect([again.status, fieldsOfForm(again.body, edit)['label']]).toEqual([200, 'Pump'])
    const sign = { ...fieldsOfForm(page.body, paths.signIn), email: emailOf.admin, password: testPassword }
    expect((await admin.post(paths.signIn, sign, { 'Sec-Fetch-Site': 'same-site' })).status).toBe(403)
    expect((await admin.post(paths.signIn, { ...sign, kept: '' })).status).toBe(403)
    await service.core.operators.setRole(emailOf.auditor, 'admin', testAsker)
    const auditor = await signedIn(service, 'auditor')
    for (const [name, value] of auditor.cookies) admin.cookies.set(name, value)
    const ofAnother = await admin.post(paths.signIn, sign)
    expect([ofAnother.status, ofAnother.location, ofAnother.body.includes('Pump')]).toEqual([303, paths.cellars, false])
  })

  test('waits for a click if the sign-in warns of a one-time link', async () => {
    const edit = paths.editKey(keyId)
    const form = await filledIn(edit, edit, { label: 'Pump' })
    const link = await service.core.operators.issueLink({ email: emailOf.admin, role: 'admin' }, testAsker)
    expect(link.ok).toBe(true)
    await endSessions()
    const page = await admin.post(edit, form)
    const other = { email: emailOf.admin, password: testPassword, kept: 'of another' }
    expect((await admin.post(paths.signIn, { ...fieldsOfForm(page.body, paths.signIn), ...other })).location).toBe(
      '/account',
    )
    await endSessions()
    const warned = await signInFrom(await admin.post(edit, form))
    expect([warned.status, warned.body.includes('created or used a one-time link for your account')]).toEqual([
      200,
      true,
    ])
    expect(warned.body).toContain('data-goes-on="asked"')
    const again = await admin.post(edit, fieldsOfForm(warned.body, edit))
    expect([again.status, fieldsOfForm(again.body, edit)['label']]).toEqual([200, 'Pump'])
  })

  test('is dropped if another operator signs in, who is told', async () => {
    await service.core.operators.setRole(emailOf.auditor, 'admin', testAsker)
    const revoke = paths.revokeKey(keyId)
    const form = await filledIn(revoke, revoke, { reason: 'stolen' })
    await endSessions()
    const signedInAs = await signInFrom(await admin.post(revoke, form), emailOf.auditor)
    expect([signedInAs.status, signedInAs.location]).toEqual([303, paths.cellars])
    expect((await admin.get(paths.cellars)).body).toContain('belonged to another operator')
    const sent = await admin.post(revoke, form)
    expect([sent.status, sent.body.includes('stolen')]).toEqual([403, false])
    expect(service.core.projections.keys.get(keyId)?.revoked).toBeNull()
  })

  test('is not kept without a proof that our own page sent it', async () => {
    const edit = paths.editKey(keyId)
    const form = await filledIn(edit, edit, { label: 'planted' })
    await endSessions()
    const sent = (headers: Fields) => admin.post(edit, form, headers)
    for (const headers of [{ 'Sec-Fetch-Site': 'same-site' }, { Origin: 'https://evil.example' }])
      expect((await sent(headers)).status).toBe(403)
    const bare = await fetch(service.url + edit, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(form).toString(),
    })
    expect([bare.status, bare.headers.get('location')]).toEqual([303, paths.signIn])
    admin = await signedIn(service, 'admin')
    const cookie = [...admin.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const later = await fetch(service.url + edit, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', Cookie: cookie },
      body: new URLSearchParams(form).toString(),
    })
    expect([later.status, (await later.text()).includes('planted')]).toEqual([403, false])
  })

  test('carries no password, and no secret of a key', async () => {
    const secret = `clr_${keyId}_${'x'.repeat(49)}`
    const typed = { email: 'eve@example.org', role: 'admin', own_password: 'my own password', note: secret }
    const form = await filledIn(paths.operators, paths.operatorLinks, typed)
    await endSessions()
    const page = await admin.post(paths.operatorLinks, form)
    const { kept = '' } = fieldsOfForm(page.body, paths.signIn)
    const text = Buffer.from(kept, 'base64url').toString()
    expect(text).toContain('eve@example.org')
    for (const hidden of ['own_password', 'my own password', secret]) expect(text).not.toContain(hidden)
    const again = await openForm(page, paths.operatorLinks)
    expect(fieldsOfForm(again.body, paths.operatorLinks)).toMatchObject({ email: 'eve@example.org', role: 'admin' })
    expect(JSON.stringify(service.lines)).not.toContain('eve@example.org')
  })

  test('carries no secret in the values that it showed, either', async () => {
    const edit = paths.editKey(keyId)
    const secret = 'y'.repeat(43)
    const form = await filledIn(edit, edit, { _shown: new URLSearchParams({ note: `/link/${secret}` }).toString() })
    await endSessions()
    const { kept = '' } = fieldsOfForm((await admin.post(edit, form)).body, paths.signIn)
    expect(kept).not.toBe('')
    expect(Buffer.from(kept, 'base64url').toString()).not.toContain(secret)
  })

  test('is carried with the longest texts in Chinese', async () => {
    const [label, note] = ['葡'.repeat(80), '萄'.repeat(500)]
    const made = await service.createKey({ label, note })
    const edit = paths.editKey(made.keyId)
    const form = await filledIn(edit, edit, { note: '酒'.repeat(500) })
    await endSessions()
    const again = await openForm(await admin.post(edit, form), edit)
    expect(again.status).toBe(200)
    expect(fieldsOfForm(again.body, edit)).toMatchObject({
      label,
      note: '酒'.repeat(500),
      _shown: form['_shown'] ?? '',
    })
  })

  test('is carried up to its bound, and the sign-in page still accepts it', async () => {
    const edit = paths.editKey(keyId)
    const form = await filledIn(edit, edit, {})
    await endSessions()
    const kept = async (note: string) =>
      fieldsOfForm((await admin.post(edit, { ...form, note })).body, paths.signIn)['kept']
    const without = (await kept(''))?.length ?? 0
    const room = Math.floor(((keptBytesMax - without) * 3) / 4) - 3
    const longest = await admin.post(edit, { ...form, note: 'x'.repeat(room) })
    const longestPassword = '%'.repeat(512)
    const answer = await admin.post(paths.signIn, {
      ...fieldsOfForm(longest.body, paths.signIn),
      email: `${'%'.repeat(242)}@example.org`,
      password: longestPassword,
    })
    expect([longest.status, answer.status]).toEqual([401, 401])
    const pastIt = await admin.post(edit, { ...form, note: 'x'.repeat(room + 8) })
    expect([pastIt.status, pastIt.location]).toEqual([303, paths.signIn])
  })
})

describe('the form that opens again', () => {
  const cellar = testCellar
  const forms: readonly (readonly [page: string, action: string, typed: Fields])[] = [
    [paths.newKey(cellar), paths.newKey(cellar), { label: 'New', expires: '90d', note: 'n' }],
    [paths.settings(cellar), paths.rename(cellar), { title: 'Typed title' }],
    [paths.settings(cellar), paths.policy(cellar), { limit_readings: '5', age_max: 'x' }],
    [`${paths.retention(cellar)}?days=30`, paths.retention(cellar), {}],
    [paths.unit(cellar, { rack: 'rack', keg: 'keg' }), paths.unit(cellar), { unit: 'bar' }],
    [paths.operators, paths.operatorLinks, { email: 'eve@example.org', role: 'admin' }],
  ]
  test('has the fields as they were typed', async () => {
    const ofKey = ['suspend', 'revoke', 'rotate'].map((action) => `/keys/${keyId}/${action}`)
    const all = [...forms, ...ofKey.map((path) => [path, path, { reason: 'why', overlap: '1h' }] as const)]
    for (const [page, action, typed] of all) {
      const form = await filledIn(page, action, typed)
      await endSessions()
      const again = await openForm(await admin.post(action, form), action)
      const { _csrf, ...fields } = fieldsOfForm(again.body, action)
      expect([action, again.status, _csrf === form['_csrf']]).toEqual([action, 200, false])
      for (const name of Object.keys(fields))
        expect([action, name, fields[name]]).toEqual([action, name, form[name] ?? ''])
    }
  })

  test('keeps its meaning, or says that it is already done', async () => {
    const [role, action] = [paths.operatorRole(emailOf.auditor), paths.operatorRole(emailOf.auditor)]
    const form = await filledIn(role, action, {})
    expect(form['role']).toBe('admin')
    await endSessions()
    const page = await admin.post(action, form)
    await service.core.operators.setRole(emailOf.auditor, 'admin', testAsker)
    const done = await openForm(page, action)
    expect([done.status, done.location]).toEqual([303, paths.operators])
    expect((await admin.get(paths.operators)).body).toContain('already has this role')
    expect(service.core.projections.operators.get(emailOf.auditor)?.role).toBe('admin')
  })
})

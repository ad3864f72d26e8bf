import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { base62 } from '../../../src/domain/base62.ts'
import { paths } from '../../../views/paths.ts'
import { type Service, testAsker, testCellar } from '../../support/test-service.ts'
import { type Seen, signedIn, startWithOperators, type Visitor, visitor } from './visitor.ts'

let service: Service
let admin: Visitor
let key: { readonly key: string; readonly keyId: string }
let link: string

beforeAll(async () => {
  service = await startWithOperators()
  admin = await signedIn(service, 'admin')
  key = await service.createKey()
  link = `https://example.org/link/${base62(service.core.entropy.bytes(32), 43)}`
})
afterAll(() => service.stop())

const secretOf = (): string => key.key.slice('clr_12345678_'.length)
const logText = async (): Promise<string> => JSON.stringify(await service.log.readAll({ limit: 1_000 }))

const expectNoSecret = async (): Promise<void> => {
  const stored = await logText()
  expect([stored.includes(secretOf()), stored.includes(link)]).toEqual([false, false])
}

const sent = async (path: string, fields: Readonly<Record<string, string>>, status: number): Promise<Seen> => {
  const answer = await admin.post(path, fields)
  expect([path, answer.status]).toEqual([path, status])
  return answer
}

describe('the log keeps no secret of a key or a link that somebody typed as', () => {
  test('a title, a label, a note or a reason', async () => {
    const text = `copied ${key.key} and ${link}`
    await sent(paths.cellars, { cellar: 'with-secret', title: text }, 303)
    await sent(paths.rename('with-secret'), { title: `again ${text}` }, 303)
    const form = await admin.get(paths.newKey('with-secret'))
    const _key_id = /name="_key_id" value="([^"]*)"/.exec(form.body)?.[1] ?? ''
    const typed = { label: text, note: `${text}\r\n${text}` }
    const fields = { ...typed, _key_id, expires: 'never', expires_on: '', limit_readings: '', limit_seconds: '' }
    await sent(paths.newKey('with-secret'), fields, 201)
    await sent(paths.editKey(key.keyId), fields, 303)
    for (const path of [paths.suspendKey, paths.resumeKey]) await sent(path(key.keyId), { reason: text }, 303)
    const { keyId } = await service.createKey()
    await sent(paths.revokeKey(keyId), { reason: text }, 303)
    await expectNoSecret()
    const stored = await logText()
    for (const type of ['CellarCreated', 'CellarRenamed', 'KeyCreated', 'KeyRelabelled', 'KeySuspended', 'KeyRevoked'])
      expect([type, new RegExp(`"type":"${type}"[^}]*copied clr_${key.keyId} and`).test(stored)]).toEqual([type, true])
  })

  test('an identifier or an e-mail, which are refused', async () => {
    const cellar = await sent(paths.cellars, { cellar: key.key, title: '' }, 422)
    expect(cellar.body).toContain('The identifier must not contain an API key.')
    await sent(paths.operatorLinks, { email: `${key.key}@example.org`, role: 'auditor', own_password: '' }, 422)
    await expectNoSecret()
    expect((await logText()).includes(secretOf().toLowerCase())).toBe(false)
  })

  test('a field of an export', async () => {
    for (const field of ['rack', 'keg', 'stream']) {
      const answer = await sent(paths.exports, { list: 'readings', format: 'csv', [field]: key.key }, 200)
      expect(answer.body.split('\n')).toHaveLength(2)
    }
    await sent(paths.exports, { list: 'history', format: 'csv', key: key.key }, 200)
    await expectNoSecret()
    expect(await logText()).toContain(`"filter":{"rack":"clr_${key.keyId}"}`)
  })

  test('the name of a browser', async () => {
    const person = visitor(service.url)
    await person.get(paths.signIn)
    const fields = { email: 'ada@example.org', password: 'twelve chars and more', next: '' }
    await person.post(paths.signIn, fields, { 'User-Agent': `${key.key}/1.0 (device)` })
    expect(await logText()).toContain(`"browser":"clr_${key.keyId} 1"`)
    await expectNoSecret()
  })
})

describe('an address keeps no secret', () => {
  const asked: readonly (readonly [path: string, field: string])[] = [
    [paths.findInLog, 'what'],
    [paths.log(), 'key'],
    [paths.log(), 'actor'],
    [paths.cellar(testCellar), 'find'],
  ]

  test.each(asked)('of a form that is sent by POST to %s', async (path, field) => {
    const { location } = await sent(path, { [field]: ` ${key.key}` }, 303)
    expect(location).toBe(`${path}?${field}=+clr_${key.keyId}`)
    const next = await admin.get(location ?? '')
    expect(`${next.location}${next.body}`).toContain(key.keyId)
    expect(`${next.location}${next.body}`).not.toContain(secretOf())
  })

  test.each([...asked, [paths.signIn, 'next'] as const])('that somebody opens at %s', async (path, field) => {
    for (const person of [admin, visitor(service.url)]) {
      const typed = field === 'next' ? paths.log({ key: key.key }) : key.key
      const { status, location } = await person.get(`${path}?page=1&${field}=${encodeURIComponent(typed)}`)
      expect([status, location?.includes(secretOf())]).toEqual([303, false])
      expect(location).toContain(`clr_${key.keyId}`)
    }
  })

  test('that leads to another site', async () => {
    const { status, location } = await admin.get(`//example.org/log?what=${key.key}`)
    expect([status, location]).toEqual([404, null])
  })
})

test('a session that ended leads an asked question to the sign-in', async () => {
  const person = await signedIn(service, 'auditor')
  await service.core.operators.endSessions('otto@example.org', { allBut: null }, testAsker)
  const { status, location } = await person.post(paths.findInLog, { what: key.key })
  expect([status, location]).toEqual([303, paths.signIn])
})

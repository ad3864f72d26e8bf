import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { sessionMsMax } from '../../../src/limits.ts'
import { paths } from '../../../views/paths.ts'
import { type RawAnswer, rawConnect } from '../../support/raw-http.ts'
import { emailOf } from '../../support/test-operators.ts'
import { type Service, testAsker } from '../../support/test-service.ts'
import { until } from '../../support/time/until.ts'
import { signedIn, startWithOperators, type Visitor } from './visitor.ts'

const bobsEmail = emailOf.auditor

let service: Service
let ada: Visitor
let bob: Visitor
/** Counts how often the service has looked up a session, which it does before it reads the body of a form. */
let judged: number
beforeEach(async () => {
  judged = 0
  service = await startWithOperators({
    wrapCore: (core) => ({
      ...core,
      operators: {
        ...core.operators,
        session: (secret) => {
          judged += 1
          return core.operators.session(secret)
        },
      },
    }),
  })
  ada = await signedIn(service, 'admin')
  await service.core.operators.setRole(bobsEmail, 'admin', testAsker)
  bob = await signedIn(service, 'auditor')
})
afterEach(() => service.stop())

type Held = { finish(): Promise<RawAnswer> }

/** Sends a form without its last byte, and waits until the service has looked up the session. */
const hold = async (person: Visitor, path: string, fields: Readonly<Record<string, string>>): Promise<Held> => {
  const page = await person.get(paths.operators)
  const _csrf = /name="_csrf" value="([^"]*)"/.exec(page.body)?.[1] ?? ''
  const body = new URLSearchParams({ _csrf, ...fields }).toString()
  const head = [
    `POST ${path} HTTP/1.1`,
    `Host: ${new URL(service.url).host}`,
    `Cookie: ${[...person.cookies].map(([name, value]) => `${name}=${value}`).join('; ')}`,
    'Content-Type: application/x-www-form-urlencoded',
    `Content-Length: ${body.length}`,
  ]
  const connection = await rawConnect(service.url)
  const before = judged
  await connection.send(`${head.join('\r\n')}\r\n\r\n${body.slice(0, -1)}`)
  await until(() => judged > before)
  const finish = async (): Promise<RawAnswer> => {
    await connection.send(body.slice(-1))
    const [answer] = await connection.answers(1)
    connection.drop()
    if (answer === undefined) throw new Error('no answer')
    return answer
  }
  return { finish }
}

const holdLink = (): Promise<Held> => hold(bob, paths.operatorLinks, { email: 'eve@example.org', role: 'admin' })

const eventsInLog = async (): Promise<number> => (await service.log.readAll({ limit: 1_000 })).length

describe('a slow form', () => {
  test('succeeds if its sender is still allowed', async () => {
    const answer = await (await holdLink()).finish()
    expect([answer.status, answer.body]).toEqual([201, expect.stringContaining('/link/')])
  })

  const ends: readonly { readonly what: string; readonly end: () => Promise<unknown> }[] = [
    { what: 'was removed', end: () => ada.post(paths.removeOperator(bobsEmail), {}) },
    { what: 'signed out', end: () => bob.post(paths.signOut, {}) },
    { what: 'held it for longer than a session lasts', end: async () => service.clock.advance(sessionMsMax) },
  ]
  test.each(ends)('is lost if its sender $what meanwhile', async ({ end }) => {
    const held = await holdLink()
    const other = await hold(bob, paths.cellars, { cellar: 'afterwards', title: '' })
    await end()
    const before = await eventsInLog()
    for (const { finish } of [held, other]) {
      const answer = await finish()
      expect([answer.status, answer.headers.get('location')]).toEqual([303, paths.signIn])
      expect(answer.body).not.toContain('/link/')
    }
    expect(await eventsInLog()).toBe(before)
  })

  test('is refused if its sender is no longer an admin', async () => {
    const held = await holdLink()
    await ada.post(paths.operatorRole(bobsEmail), { role: 'auditor' })
    const before = await eventsInLog()
    const answer = await held.finish()
    expect([answer.status, answer.body]).toEqual([403, expect.stringContaining('Only an admin can do this')])
    expect(await eventsInLog()).toBe(before)
  })
})

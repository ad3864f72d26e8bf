import { describe, expect, test } from 'bun:test'
import type { Operators } from '../../../src/actors/core-interface.ts'
import { linkMsMax } from '../../../src/actors/operator/operator-requests.ts'
import { nobodysPasswordHash } from '../../../src/actors/operator/passwords.ts'
import { sessionIdleMsDefault, sessionMsMax } from '../../../src/limits.ts'
import { fromSomewhere } from '../../support/test-operators.ts'
import { asker, Cluster } from '../../support/two-nodes.ts'

const email = 'ada@example.org'
const password = 'correct horse battery'

const withAdmin = async () => {
  const cluster = new Cluster()
  const node = await cluster.open()
  const { operators } = node.core
  const issued = await operators.issueLink({ email: null, role: 'admin' }, asker)
  if (!issued.ok) throw new Error(issued.refusal.kind)
  const { secret } = issued.value
  expect(await operators.spendLink({ secret, email, password }, asker)).toEqual({ ok: true, value: { email } })
  return { cluster, node, operators, secret }
}

const signedIn = async ({ operators }: Pick<Awaited<ReturnType<typeof withAdmin>>, 'operators'>) => {
  const answer = await operators.signIn({ email, password }, fromSomewhere, 'request')
  if (!answer.ok) throw new Error(answer.refusal.kind)
  return answer.value
}

describe('a set-up link', () => {
  test('makes the first admin, once', async () => {
    const { node, operators, secret } = await withAdmin()
    expect(node.core.projections.operators.list()).toMatchObject([{ email, role: 'admin' }])
    expect(operators.link(secret)).toBeNull()
    expect(await operators.spendLink({ secret, email: 'eve@example.org', password }, asker)).toMatchObject({
      refusal: { kind: 'link_invalid' },
    })
  })

  test('expires at its time on every node', async () => {
    const cluster = new Cluster()
    const node = await cluster.open()
    const issued = await node.core.operators.issueLink({ email: null, role: 'admin' }, asker)
    if (!issued.ok) throw new Error(issued.refusal.kind)
    const other = await cluster.open()
    cluster.clock.advance(linkMsMax - 1)
    expect(other.core.operators.link(issued.value.secret)).toEqual({ email: null, role: 'admin', isNew: true })
    cluster.clock.advance(1)
    expect(other.core.operators.link(issued.value.secret)).toBeNull()
  })

  test('can be spent again after a crash between its two appends', async () => {
    const cluster = new Cluster()
    const node = await cluster.open()
    const issued = await node.core.operators.issueLink({ email: null, role: 'admin' }, asker)
    if (!issued.ok) throw new Error(issued.refusal.kind)
    const { secret } = issued.value
    node.faults.failAppend({ fault: 'not_written', nth: 2 })
    expect(await node.core.operators.spendLink({ secret, email, password }, asker)).toMatchObject({ ok: false })
    const { operators } = (await cluster.open()).core
    const stranger = { secret, email: 'eve@example.org', password }
    expect(await operators.spendLink(stranger, asker)).toMatchObject({ refusal: { kind: 'link_invalid' } })
    expect(await operators.spendLink({ secret, email, password }, asker)).toMatchObject({ ok: true })
  })
})

const second = 'grace@example.org'

const withTwoAdmins = async () => {
  const made = await withAdmin()
  const { operators } = made
  const issued = await operators.issueLink({ email: second, role: 'admin' }, asker)
  if (!issued.ok) throw new Error(issued.refusal.kind)
  const spent = await operators.spendLink({ secret: issued.value.secret, email: second, password }, asker)
  expect(spent).toMatchObject({ ok: true })
  return made
}

describe('an operator who is removed', () => {
  test('loses all access on every node that hears of it', async () => {
    const { cluster, operators, secret } = await withTwoAdmins()
    const { sessionSecret } = await signedIn({ operators })
    const lost = await operators.issueLink({ email, role: 'admin' }, asker)
    if (!lost.ok) throw new Error(lost.refusal.kind)
    const neighbour = await cluster.open()
    const other = neighbour.core.operators
    expect(other.session(sessionSecret)).not.toBeNull()
    expect(await operators.remove('ADA@example.org', asker)).toEqual({ ok: true, value: { email } })
    neighbour.late.deliver()
    const restarted = (await cluster.open()).core.operators
    for (const node of [operators, other, restarted]) {
      expect(node.session(sessionSecret)).toBeNull()
      expect(await node.signIn({ email, password }, fromSomewhere, 'request')).toMatchObject({
        refusal: { kind: 'wrong_credentials' },
      })
      for (const link of [secret, lost.value.secret]) {
        expect(node.link(link)).toBeNull()
        expect(await node.spendLink({ secret: link, email, password }, asker)).toMatchObject({
          refusal: { kind: 'link_invalid' },
        })
      }
    }
  })

  test('returns by an invitation, not by a set-up link', async () => {
    const { operators } = await withTwoAdmins()
    const setUp = await operators.issueLink({ email: null, role: 'admin' }, asker)
    expect(await operators.remove(email, asker)).toMatchObject({ ok: true })
    if (!setUp.ok) throw new Error(setUp.refusal.kind)
    expect(await operators.spendLink({ secret: setUp.value.secret, email, password }, asker)).toMatchObject({
      refusal: { kind: 'operator_was_removed' },
    })
    expect(operators.link(setUp.value.secret)).toMatchObject({ email: null })
    const invited = await operators.issueLink({ email, role: 'auditor' }, asker)
    if (!invited.ok) throw new Error(invited.refusal.kind)
    expect(operators.link(invited.value.secret)).toEqual({ email, role: 'auditor', isNew: true })
    expect(await operators.spendLink({ secret: invited.value.secret, email, password }, asker)).toMatchObject({
      ok: true,
    })
    expect((await signedIn({ operators })).session.role).toBe('auditor')
  })
})

describe('the last admin', () => {
  test('remains when two admins remove each other at once', async () => {
    const changes = [
      (operators: Operators, whom: string) => operators.remove(whom, asker),
      (operators: Operators, whom: string) => operators.setRole(whom, 'auditor', asker),
    ]
    for (const change of changes) {
      const { node, operators } = await withTwoAdmins()
      const answers = await Promise.all([change(operators, email), change(operators, second)])
      expect(answers).toMatchObject([{ ok: true }, { refusal: { kind: 'last_admin' } }])
      const admins = node.core.projections.operators.list().filter(({ role }) => role === 'admin')
      expect(admins.map((admin) => admin.email)).toEqual([second])
    }
  })

  test('is refused, and may go once there is another admin', async () => {
    const { operators } = await withAdmin()
    expect(await operators.remove(email, asker)).toMatchObject({ refusal: { kind: 'last_admin' } })
    expect(await operators.setRole(email, 'auditor', asker)).toMatchObject({ refusal: { kind: 'last_admin' } })
    expect(await operators.remove('nobody@example.org', asker)).toMatchObject({
      refusal: { kind: 'operator_not_found' },
    })
    expect(await operators.remove('no address', asker)).toMatchObject({ refusal: { field: 'email' } })
  })
})

describe('a sign-in', () => {
  test('opens a session that only its secret finds', async () => {
    const { cluster, operators, secret } = await withAdmin()
    const { sessionSecret, session } = await signedIn({ operators })
    expect(operators.session(sessionSecret)).toEqual(session)
    const log = JSON.stringify(await cluster.all())
    for (const hidden of [sessionSecret, secret, password]) expect(log).not.toContain(hidden)
    const usedEveryMs = sessionIdleMsDefault - 1
    for (let passedMs = usedEveryMs; passedMs < sessionMsMax; passedMs += usedEveryMs) {
      cluster.clock.advance(usedEveryMs)
      operators.useSession(sessionSecret)
    }
    cluster.clock.advance(session.expiresAt - 1 - cluster.clock.now())
    expect(operators.session(sessionSecret)).toEqual(session)
    cluster.clock.advance(1)
    expect(operators.session(sessionSecret)).toBeNull()
  })

  test('gets one refusal for a wrong password and an unknown e-mail', async () => {
    const { operators } = await withAdmin()
    const refusal = { ok: false, refusal: { kind: 'wrong_credentials' } } as const
    const wrong = [
      { email, password: `${password}!` },
      { email, password: '' },
      { email, password: 'x'.repeat(100_000) },
      { email: 'eve@example.org', password },
      { email: 'not an e-mail', password },
    ]
    for (const input of wrong) expect(await operators.signIn(input, fromSomewhere, 'request')).toEqual(refusal)
  })

  test('costs the same hash with an unknown e-mail', async () => {
    const cost = (hash: string): string => hash.split('$').slice(0, 4).join('$')
    expect(cost(nobodysPasswordHash)).toBe(cost(await Bun.password.hash(password, 'argon2id')))
  })

  test('ends at its sign-out, and other sign-ins stay', async () => {
    const { operators } = await withAdmin()
    const [first, second] = [await signedIn({ operators }), await signedIn({ operators })]
    expect(await operators.signOut(first.sessionSecret, 'request')).toEqual({ ok: true, value: null })
    expect(operators.session(first.sessionSecret)).toBeNull()
    expect(operators.session(second.sessionSecret)).not.toBeNull()
    expect(await operators.signOut('unknown', 'request')).toEqual({ ok: true, value: null })
  })
})

describe("a link for an operator's e-mail", () => {
  test('sets a password, ends every session, and works once', async () => {
    const { operators } = await withAdmin()
    const { sessionSecret } = await signedIn({ operators })
    const issued = await operators.issueLink({ email, role: 'auditor' }, asker)
    if (!issued.ok) throw new Error(issued.refusal.kind)
    const { secret } = issued.value
    expect(operators.link(secret)).toEqual({ email, role: 'admin', isNew: false })
    const stranger = { secret, email: 'eve@example.org', password }
    expect(await operators.spendLink(stranger, asker)).toMatchObject({ refusal: { kind: 'link_invalid' } })
    const next = 'another long password'
    expect(await operators.spendLink({ secret, email, password: next }, asker)).toMatchObject({ ok: true })
    expect(operators.session(sessionSecret)).toBeNull()
    expect(await operators.signIn({ email, password }, fromSomewhere, 'request')).toMatchObject({ ok: false })
    expect(await operators.signIn({ email, password: next }, fromSomewhere, 'request')).toMatchObject({ ok: true })
    expect(await operators.spendLink({ secret, email, password }, asker)).toMatchObject({
      refusal: { kind: 'link_invalid' },
    })
  })

  test('adds an invited auditor, and refuses a short password', async () => {
    const { node, operators } = await withAdmin()
    const issued = await operators.issueLink({ email: 'Grace@Example.org', role: 'auditor' }, asker)
    if (!issued.ok) throw new Error(issued.refusal.kind)
    const { secret } = issued.value
    const short = { secret, email: 'grace@example.org', password: 'short' }
    expect(await operators.spendLink(short, asker)).toMatchObject({ refusal: { field: 'password' } })
    expect(await operators.spendLink({ ...short, password }, asker)).toMatchObject({ ok: true })
    expect(node.core.projections.operators.get('grace@example.org')).toMatchObject({ role: 'auditor' })
  })
})

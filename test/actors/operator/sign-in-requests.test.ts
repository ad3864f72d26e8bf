import { describe, expect, test } from 'bun:test'
import type { Asker, SignedIn, SignInFrom } from '../../../src/actors/core-interface.ts'
import { type OpenCore, openCore } from '../../../src/actors/open-core.ts'
import { sessionRenewalDivisor } from '../../../src/actors/operator/sessions.ts'
import { signInHistory, signInPlaces } from '../../../src/actors/operator/sign-in-history.ts'
import { refusedSignInAccountsMax, refusedSignInsToldMs } from '../../../src/actors/operator/sign-in-records.ts'
import { linksToldMsMax } from '../../../src/actors/operator/sign-in-requests.ts'
import type { RecordedEvent } from '../../../src/domain/events.ts'
import { operatorStream, signInsStream } from '../../../src/domain/stream-names.ts'
import { refusedSignInAddressesMax, sessionIdleMsDefault, sessionMsMax } from '../../../src/limits.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { passingLog } from '../../support/logs/passing-log.ts'
import { seededEntropy } from '../../support/seeded-entropy.ts'
import { addOperators, emailOf, fromSomewhere, testPassword } from '../../support/test-operators.ts'
import { drivenSchedule } from '../../support/time/driven-schedule.ts'
import { until } from '../../support/time/until.ts'
import { Cluster, type TestNode } from '../../support/two-nodes.ts'

const email = emailOf.admin
const idleMs = sessionIdleMsDefault
const renewalMs = idleMs / sessionRenewalDivisor
const cliAsker: Asker = { by: { kind: 'cli' }, requestId: 'request' }

const withOperators = async () => {
  const cluster = new Cluster()
  await addOperators(cluster.log, cluster.clock.now())
  return { cluster, node: await cluster.open() }
}

/** A record that a newer version wrote, as this version reads it. */
const unread = ({ stream, revision, position, id, metadata }: RecordedEvent): RecordedEvent<'RecordUnreadable'> => {
  const data = { type: 'Newer', why: 'this version does not know its type' }
  return { stream, revision, position, id, metadata, recordedAt: 0, type: 'RecordUnreadable', data }
}

type From = { readonly who?: string; readonly from?: Partial<SignInFrom>; readonly password?: string }

const signIn = async (
  { core }: Pick<TestNode, 'core'>,
  { who = email, from = {}, password }: From = {},
): Promise<SignedIn> => {
  const input = { email: who, password: password ?? testPassword }
  const answer = await core.operators.signIn(input, { ...fromSomewhere, ...from }, 'request')
  if (!answer.ok) throw new Error(answer.refusal.kind)
  return answer.value
}

const isOpen = ({ core }: Pick<TestNode, 'core'>, { sessionSecret }: SignedIn): boolean =>
  core.operators.session(sessionSecret) !== null

const eventsOf = async (cluster: Cluster, stream: string): Promise<readonly RecordedEvent[]> =>
  (await cluster.all()).filter((event) => event.stream === stream)

const renewalsOf = async (cluster: Cluster): Promise<number> =>
  (await eventsOf(cluster, operatorStream(email))).filter(({ type }) => type === 'OperatorSessionRenewed').length

describe('a session that nobody uses', () => {
  test('ends to the millisecond, and isSessionOver() is true', async () => {
    const { cluster, node } = await withOperators()
    const opened = await signIn(node)
    cluster.clock.advance(idleMs - 1)
    expect(isOpen(node, opened)).toBe(true)
    expect(node.core.operators.isSessionOver(opened.sessionSecret)).toBe(false)
    cluster.clock.advance(1)
    expect(isOpen(node, opened)).toBe(false)
    expect(node.core.operators.isSessionOver(opened.sessionSecret)).toBe(true)
    expect(node.core.operators.openSessions(email)).toEqual([])
  })

  test('is not brought back by a late use', async () => {
    const { cluster, node } = await withOperators()
    const opened = await signIn(node)
    cluster.clock.advance(idleMs)
    node.core.operators.useSession(opened.sessionSecret)
    await node.schedule.quiet()
    expect(isOpen(node, opened)).toBe(false)
  })
})

describe('a used session', () => {
  test('stays open for the idle time without an event per use', async () => {
    const { cluster, node } = await withOperators()
    const opened = await signIn(node)
    cluster.clock.advance(renewalMs - 1)
    node.core.operators.useSession(opened.sessionSecret)
    await node.schedule.quiet()
    expect(await renewalsOf(cluster)).toBe(0)
    cluster.clock.advance(idleMs - 1)
    expect(isOpen(node, opened)).toBe(true)
    cluster.clock.advance(1)
    expect(isOpen(node, opened)).toBe(false)
  })

  test('is renewed in the log for other nodes and the next start', async () => {
    const { cluster, node } = await withOperators()
    const opened = await signIn(node)
    cluster.clock.advance(renewalMs)
    node.core.operators.useSession(opened.sessionSecret)
    node.core.operators.useSession(opened.sessionSecret)
    await node.schedule.quiet()
    expect(await renewalsOf(cluster)).toBe(1)
    const other = await cluster.open()
    cluster.clock.advance(idleMs - 1)
    expect(isOpen(other, opened)).toBe(true)
    cluster.clock.advance(1)
    expect(isOpen(other, opened)).toBe(false)
  })

  test('still ends at its expiry', async () => {
    const { cluster, node } = await withOperators()
    const opened = await signIn(node)
    for (let passedMs = renewalMs; passedMs < sessionMsMax; passedMs += renewalMs) {
      cluster.clock.advance(renewalMs)
      node.core.operators.useSession(opened.sessionSecret)
      await node.schedule.quiet()
    }
    expect(isOpen(node, opened)).toBe(true)
    expect(await renewalsOf(cluster)).toBeLessThan(sessionMsMax / renewalMs)
    cluster.clock.advance(renewalMs)
    expect(isOpen(node, opened)).toBe(false)
  })

  test('is renewed only once while the store is slow', async () => {
    const { cluster, node } = await withOperators()
    const opened = await signIn(node)
    const held = node.faults.hold('before')
    for (let uses = 0; uses < 3; uses += 1) {
      cluster.clock.advance(renewalMs)
      node.core.operators.useSession(opened.sessionSecret)
      await node.schedule.quiet()
    }
    held.release()
    await node.schedule.quiet()
    expect(await renewalsOf(cluster)).toBe(1)
  })

  test('is renewed by a later use after a failed renewal', async () => {
    const { cluster, node } = await withOperators()
    const opened = await signIn(node)
    cluster.clock.advance(renewalMs)
    node.faults.failAppend({ fault: 'not_written' })
    node.core.operators.useSession(opened.sessionSecret)
    await node.schedule.quiet()
    expect(await renewalsOf(cluster)).toBe(0)
    node.core.operators.useSession(opened.sessionSecret)
    await node.schedule.quiet()
    expect(await renewalsOf(cluster)).toBe(1)
  })
})

describe('the record of a sign-in', () => {
  const from = { address: '198.51.100.77', browser: 'Firefox 128 on Plan 9' }

  test('comes before the sign-in, and alone has address and browser', async () => {
    const { cluster, node } = await withOperators()
    await signIn(node)
    await signIn(node, { from })
    const all = await cluster.all()
    const seen = all.filter(({ stream }) => stream === signInsStream)
    const [last] = all.slice(-1)
    expect(seen).toMatchObject([{ type: 'SignInSeen' }, { type: 'SignInSeen', data: { email, ...from } }])
    expect(last).toMatchObject({ type: 'OperatorSignedIn', data: { seenRevision: seen[1]?.revision } })
    expect(all.at(-2)).toBe(seen[1])
    const elsewhere = JSON.stringify(all.filter(({ stream }) => stream !== signInsStream))
    for (const personal of Object.values(from)) expect(elsewhere).not.toContain(personal)
  })

  test('is needed: without it, no session begins', async () => {
    const { cluster, node } = await withOperators()
    const before = (await cluster.all()).length
    node.faults.failAppend({ fault: 'not_written' })
    const answer = await node.core.operators.signIn({ email, password: testPassword }, fromSomewhere, 'request')
    expect(answer).toMatchObject({ refusal: { kind: 'store_unavailable' } })
    expect(await cluster.all()).toHaveLength(before)
  })

  test('has its own revision when two nodes write at once', async () => {
    const { cluster, node } = await withOperators()
    const other = await cluster.open()
    await Promise.all([signIn(node), signIn(other), signIn(node), signIn(other)])
    const all = await cluster.all()
    const referred = all.flatMap(({ type, data }) => (type === 'OperatorSignedIn' ? [data] : []))
    expect(new Set(referred.map((data) => JSON.stringify(data))).size).toBe(4)
    expect(all.filter(({ type }) => type === 'SignInSeen').map(({ revision }) => revision)).toEqual([0, 1, 2, 3])
  })

  test('follows an unreadable record, which the history leaves out', async () => {
    const { cluster, node } = await withOperators()
    await signIn(node)
    const inner = passingLog(cluster.log)
    const log: EventLog = {
      ...inner,
      read: async (...asked) =>
        (await inner.read(...asked)).map((event) => (event.stream === signInsStream ? unread(event) : event)),
    }
    const other = await cluster.open({}, log)
    await signIn(other)
    expect(await eventsOf(cluster, signInsStream)).toHaveLength(2)
    const history = await signInHistory(other.core.log, email)
    expect(history).toMatchObject([
      { kind: 'signed_in', place: 'purged' },
      { kind: 'signed_in', place: 'purged' },
    ])
  })

  test('names the session, as do later events of the session', async () => {
    const { cluster, node } = await withOperators()
    const { session } = await signIn(node)
    const by = { kind: 'operator', email, session: { id: session.id, linkMadeBy: null } }
    expect((await cluster.all()).slice(-2)).toMatchObject([
      { data: { sessionId: session.id }, metadata: { by } },
      { type: 'OperatorSignedIn', metadata: { by } },
    ])
  })
})

describe('a sign-in over another session', () => {
  test('ends the same operator’s session in the same append', async () => {
    const { cluster, node } = await withOperators()
    const first = await signIn(node)
    const second = await signIn(node, { from: { sessionSecret: first.sessionSecret } })
    expect([isOpen(node, first), isOpen(node, second)]).toEqual([false, true])
    const own = await eventsOf(cluster, operatorStream(email))
    expect(own.slice(-2).map(({ type }) => type)).toEqual(['OperatorSignedOut', 'OperatorSignedIn'])
  })

  test('also ends the session of another operator', async () => {
    const { node } = await withOperators()
    const first = await signIn(node, { who: emailOf.auditor })
    const second = await signIn(node, { from: { sessionSecret: first.sessionSecret } })
    expect([isOpen(node, first), isOpen(node, second)]).toEqual([false, true])
  })
})

describe('a browser that has signed in', () => {
  test('keeps its secret, by which the account knows it', async () => {
    const { node } = await withOperators()
    const { operators } = node.core
    const { deviceSecret } = await signIn(node)
    expect(operators.isKnownDevice(email, deviceSecret)).toBe(true)
    expect(operators.isKnownDevice(emailOf.auditor, deviceSecret)).toBe(false)
    expect(operators.isKnownDevice(email, 'another')).toBe(false)
    expect((await signIn(node, { from: { deviceSecret } })).deviceSecret).toBe(deviceSecret)
  })

  test('cannot choose its own secret', async () => {
    const { node } = await withOperators()
    const chosen = { from: { deviceSecret: 'chosen-by-somebody-else' } }
    expect((await signIn(node, chosen)).deviceSecret).not.toBe(chosen.from.deviceSecret)
  })

  test('is forgotten after a password change, which gives the changing browser a new secret', async () => {
    const { cluster, node } = await withOperators()
    const [here, there] = [await signIn(node), await signIn(node)]
    const input = {
      sessionSecret: here.sessionSecret,
      ownPassword: testPassword,
      newPassword: 'four quite random words',
    }
    const changed = await node.core.operators.changePassword(input, { ...fromSomewhere, ...here }, 'request')
    if (!changed.ok) throw new Error(changed.refusal.kind)
    const { operators } = (await cluster.open()).core
    const known = [changed.value, here, there].map(({ deviceSecret }) => operators.isKnownDevice(email, deviceSecret))
    expect(known).toEqual([true, false, false])
  })
})

describe('a password change', () => {
  const newPassword = 'four quite random words'

  test('needs the old password, and ends every other session', async () => {
    const { node } = await withOperators()
    const { operators } = node.core
    const [here, there] = [await signIn(node), await signIn(node)]
    const input = { sessionSecret: here.sessionSecret, newPassword }
    const wrong = await operators.changePassword({ ...input, ownPassword: 'wrong' }, fromSomewhere, 'request')
    expect(wrong).toMatchObject({ refusal: { kind: 'wrong_own_password' } })
    expect([here, there].map((session) => isOpen(node, session))).toEqual([true, true])
    const right = await operators.changePassword({ ...input, ownPassword: testPassword }, fromSomewhere, 'request')
    if (!right.ok) throw new Error(right.refusal.kind)
    expect([here, there, right.value].map((session) => isOpen(node, session))).toEqual([false, false, true])
    await expect(signIn(node)).rejects.toThrow('wrong_credentials')
    expect((await signIn(node, { password: newPassword })).session.email).toBe(email)
  })

  test('is refused for a short password, and after the session has ended', async () => {
    const { cluster, node } = await withOperators()
    const { operators } = node.core
    const { sessionSecret } = await signIn(node)
    const input = { sessionSecret, ownPassword: testPassword, newPassword }
    const short = await operators.changePassword({ ...input, newPassword: 'short' }, fromSomewhere, 'request')
    expect(short).toMatchObject({ refusal: { kind: 'invalid_field', field: 'password' } })
    cluster.clock.advance(idleMs)
    const late = await operators.changePassword(input, fromSomewhere, 'request')
    expect(late).toMatchObject({ refusal: { kind: 'session_has_ended' } })
  })
})

describe('sessions', () => {
  test('of one operator are listed and ended, and those of another are not', async () => {
    const { node } = await withOperators()
    const { operators } = node.core
    const [first, second, auditor] = [
      await signIn(node),
      await signIn(node),
      await signIn(node, { who: emailOf.auditor }),
    ]
    expect(operators.openSessions(email).map(({ id }) => id)).toEqual([first.session.id, second.session.id])
    await operators.endSessions(email, { id: auditor.session.id }, cliAsker)
    expect(isOpen(node, auditor)).toBe(true)
    await operators.endSessions(email, { id: first.session.id }, cliAsker)
    expect([first, second].map((session) => isOpen(node, session))).toEqual([false, true])
    const third = await signIn(node)
    await operators.endSessions(email, { allBut: third.sessionSecret }, cliAsker)
    expect([second, third].map((session) => isOpen(node, session))).toEqual([false, true])
    await operators.endSessions(email, { allBut: null }, cliAsker)
    expect([third, auditor].map((session) => isOpen(node, session))).toEqual([false, true])
  })
})

describe('a link to an existing account', () => {
  const asker = ({ session }: SignedIn): Asker => ({
    by: { kind: 'operator', email: session.email, session: { id: session.id, linkMadeBy: session.linkMadeBy } },
    requestId: 'request',
  })
  const forAuditor = { email: emailOf.auditor, role: 'auditor' } as const

  /** Sets the auditor's password with a link that `by` issued. */
  const takeOver = async ({ core }: Pick<TestNode, 'core'>, by: Asker, password: string): Promise<void> => {
    const issued = await core.operators.issueLink({ ...forAuditor, own: { password: testPassword } }, by)
    if (!issued.ok) throw new Error(issued.refusal.kind)
    const { secret } = issued.value
    const spent = await core.operators.spendLink({ secret, email: emailOf.auditor, password }, by)
    if (!spent.ok) throw new Error(spent.refusal.kind)
  }

  test('needs the maker’s password, except on the command line', async () => {
    const { cluster, node } = await withOperators()
    const { operators } = node.core
    const admin = asker(await signIn(node))
    const before = (await cluster.all()).length
    expect(await operators.issueLink(forAuditor, admin)).toMatchObject({ refusal: { kind: 'own_password_needed' } })
    const wrong = { ...forAuditor, own: { password: 'wrong' } }
    expect(await operators.issueLink(wrong, admin)).toMatchObject({ refusal: { kind: 'wrong_own_password' } })
    expect(await operators.issueLink({ email, role: 'admin' }, admin)).toMatchObject({ ok: false })
    expect(await cluster.all()).toHaveLength(before)
    expect(await operators.issueLink({ ...forAuditor, own: { password: testPassword } }, admin)).toMatchObject({
      ok: true,
    })
    expect(await operators.issueLink(forAuditor, cliAsker)).toMatchObject({ ok: true })
    expect(await operators.issueLink({ email: 'new@example.org', role: 'auditor' }, admin)).toMatchObject({ ok: true })
    const purposes = (await cluster.all()).flatMap(({ type, data }) =>
      type === 'OperatorLinkIssued' ? [data.purpose] : [],
    )
    expect(purposes).toEqual(['reset', 'reset', 'invite'])
  })

  test('needs that password also after the account was removed', async () => {
    const { node } = await withOperators()
    const { operators } = node.core
    const admin = asker(await signIn(node))
    expect(await operators.remove(emailOf.auditor, admin)).toMatchObject({ ok: true })
    expect(await operators.issueLink(forAuditor, admin)).toMatchObject({ refusal: { kind: 'own_password_needed' } })
    expect(await operators.issueLink({ ...forAuditor, own: { password: testPassword } }, admin)).toMatchObject({
      ok: true,
    })
  })

  test('is refused when its maker signs out meanwhile', async () => {
    const { cluster } = await withOperators()
    let checking = Promise.resolve()
    const verify = async (): Promise<boolean> => {
      await checking
      return true
    }
    const core = await openCore({
      log: cluster.log,
      clock: cluster.clock,
      entropy: seededEntropy(5),
      schedule: drivenSchedule(),
      passwordHasher: { hash: async () => 'hash', verify },
    })
    const signed = await signIn({ core })
    const held = Promise.withResolvers<void>()
    checking = held.promise
    const issuing = core.operators.issueLink({ ...forAuditor, own: { password: testPassword } }, asker(signed))
    expect(await core.operators.signOut(signed.sessionSecret, 'request')).toMatchObject({ ok: true })
    held.resolve()
    expect(await issuing).toMatchObject({ refusal: { kind: 'session_has_ended' } })
  })

  test('marks its sessions, and is mentioned for 30 days', async () => {
    const { cluster, node } = await withOperators()
    await takeOver(node, asker(await signIn(node)), 'chosen by the other admin')
    const taken = await signIn(node, { who: emailOf.auditor, password: 'chosen by the other admin' })
    expect(taken.session.linkMadeBy).toBe(email)
    const created = await node.core.cellars.create({ cellar: 'c', title: '' }, asker(taken))
    expect(created.ok).toBe(true)
    expect((await cluster.all()).at(-1)).toMatchObject({ metadata: { by: { session: { linkMadeBy: email } } } })
    cluster.clock.advance(linksToldMsMax - 1)
    const later = await signIn(node, { who: emailOf.auditor, password: 'chosen by the other admin' })
    expect(later.isToldOfLink).toBe(true)
    cluster.clock.advance(1)
    const last = await signIn(node, { who: emailOf.auditor, password: 'chosen by the other admin' })
    expect(last.isToldOfLink).toBe(false)
    expect((await signIn(node)).isToldOfLink).toBe(false)
  })
})

describe('refused sign-ins', () => {
  const refuse = (core: OpenCore, count: number, of: { who?: string | null; address?: string } = {}): void => {
    for (let index = 0; index < count; index += 1) {
      core.operators.signInRefused({
        email: of.who === undefined ? email : of.who,
        reason: 'failed',
        address: of.address ?? 'a',
      })
    }
  }
  const refusedIn = async (cluster: Cluster) =>
    (await eventsOf(cluster, signInsStream)).flatMap((event) => (event.type === 'SignInsRefused' ? [event.data] : []))

  test('reach the log as one event a minute, with counts and addresses', async () => {
    const { cluster, node } = await withOperators()
    refuse(node.core, 500, { address: '203.0.113.1' })
    node.core.operators.signInRefused({ email, reason: 'throttled', address: '203.0.113.2' })
    refuse(node.core, 3, { who: null })
    await node.schedule.advance(refusedSignInsToldMs)
    const accounts = [{ email, failed: 500, throttled: 1, addresses: ['203.0.113.1', '203.0.113.2'] }]
    expect(await refusedIn(cluster)).toMatchObject([{ accounts, others: { failed: 3, throttled: 0 } }])
    await node.schedule.advance(refusedSignInsToldMs)
    expect(await refusedIn(cluster)).toHaveLength(1)
  })

  test('name a bounded number of accounts and addresses, and count the rest', async () => {
    const { cluster, node } = await withOperators()
    for (let index = 0; index <= refusedSignInAccountsMax; index += 1)
      refuse(node.core, 1, { who: `${index}@example.org` })
    for (let index = 0; index <= refusedSignInAddressesMax; index += 1) {
      refuse(node.core, 1, { who: '0@example.org', address: `address ${index}` })
    }
    await node.schedule.advance(refusedSignInsToldMs)
    const [sums] = await refusedIn(cluster)
    expect(sums?.accounts).toHaveLength(refusedSignInAccountsMax)
    expect(sums?.accounts[0]?.addresses).toHaveLength(refusedSignInAddressesMax)
    expect(sums?.accounts[0]?.failed).toBe(refusedSignInAddressesMax + 2)
    expect(sums?.others).toEqual({ failed: 1, throttled: 0 })
  })

  test('are told with the next ones if the store refused them', async () => {
    const { cluster, node } = await withOperators()
    refuse(node.core, 2)
    node.faults.failAppend({ fault: 'not_written' })
    await node.schedule.advance(refusedSignInsToldMs)
    expect(await refusedIn(cluster)).toEqual([])
    refuse(node.core, 3)
    refuse(node.core, 1, { who: null })
    await node.schedule.advance(refusedSignInsToldMs)
    expect(await refusedIn(cluster)).toMatchObject([{ accounts: [{ failed: 5 }], others: { failed: 1 } }])
  })

  test('keep all addresses when refused sums join later ones', async () => {
    const { cluster, node } = await withOperators()
    refuse(node.core, 1, { address: '203.0.113.1' })
    node.faults.failAppend({ fault: 'not_written' })
    const held = node.faults.hold('before')
    await node.schedule.advance(refusedSignInsToldMs)
    await until(() => held.waiting === 1)
    for (const last of [2, 1, 3]) refuse(node.core, 1, { address: `203.0.113.${last}` })
    held.release()
    await node.schedule.quiet()
    await node.schedule.advance(refusedSignInsToldMs)
    const addresses = ['203.0.113.1', '203.0.113.2', '203.0.113.3']
    expect(await refusedIn(cluster)).toMatchObject([{ accounts: [{ failed: 4, addresses }] }])
  })

  test('are told again after a bug lost some', async () => {
    const { cluster } = await withOperators()
    const inner = passingLog(cluster.log)
    let isBroken = true
    const broken = await cluster.open(
      {},
      {
        ...inner,
        append: (...asked) => {
          if (asked[0] === signInsStream && isBroken) throw new Error('a bug')
          return inner.append(...asked)
        },
      },
    )
    refuse(broken.core, 1)
    await broken.schedule.advance(refusedSignInsToldMs)
    expect(broken.bugs).toMatchObject([{ message: 'a bug' }])
    isBroken = false
    refuse(broken.core, 2)
    await broken.schedule.advance(refusedSignInsToldMs)
    expect(await refusedIn(cluster)).toMatchObject([{ accounts: [{ failed: 2 }] }])
  })

  test('are told before the node stops', async () => {
    const { cluster, node } = await withOperators()
    refuse(node.core, 2)
    await node.schedule.until(node.core.drain())
    expect(await refusedIn(cluster)).toMatchObject([{ accounts: [{ failed: 2 }] }])
  })
})

describe('the history of an account', () => {
  test('shows all events of that account only, newest first', async () => {
    const { cluster, node } = await withOperators()
    const { operators } = node.core
    const step = (): void => cluster.clock.advance(1_000)
    const { session } = await signIn(node, { from: { address: '198.51.100.7' } })
    step()
    await signIn(node, { who: emailOf.auditor })
    step()
    operators.signInRefused({ email, reason: 'failed', address: '203.0.113.9' })
    operators.signInRefused({ email: emailOf.auditor, reason: 'failed', address: '203.0.113.10' })
    await node.schedule.advance(refusedSignInsToldMs)
    step()
    await operators.issueLink({ email, role: 'admin' }, cliAsker)
    step()
    await operators.endSessions(email, { id: session.id }, cliAsker)
    const place = { address: '198.51.100.7', browser: fromSomewhere.browser }
    expect(await signInHistory(node.core.log, email)).toMatchObject([
      { kind: 'signed_out', sessionId: session.id, by: { kind: 'cli' } },
      { kind: 'link_made', madeBy: 'cli' },
      { kind: 'refused', failed: 1, throttled: 0, addresses: ['203.0.113.9'] },
      { kind: 'signed_in', sessionId: session.id, place },
    ])
    const ofAuditor = await signInHistory(node.core.log, emailOf.auditor)
    expect(ofAuditor).toMatchObject([{ kind: 'refused', addresses: ['203.0.113.10'] }, { kind: 'signed_in' }])
    const { seenRevision } = session
    expect(await signInPlaces(node.core.log, [seenRevision ?? -1, 99])).toEqual(new Map([[seenRevision ?? -1, place]]))
  })
})

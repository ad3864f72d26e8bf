import { describe, expect, test } from 'bun:test'
import type { Asker, SignedIn } from '../../../src/actors/core-interface.ts'
import { addOperator, addOperators, emailOf, fromSomewhere, testPassword } from '../../support/test-operators.ts'
import { until } from '../../support/time/until.ts'
import { Cluster } from '../../support/two-nodes.ts'

const taken = emailOf.auditor
const other = 'dora@example.org'

const asker = ({ session }: SignedIn): Asker => ({
  by: { kind: 'operator', email: session.email, session: { id: session.id, linkMadeBy: session.linkMadeBy } },
  requestId: 'request',
})

const opened = async () => {
  const cluster = new Cluster()
  await addOperators(cluster.log, cluster.clock.now())
  await addOperator(cluster.log, cluster.clock.now(), { email: other, role: 'admin' })
  const { operators } = (await cluster.open()).core
  const signIn = async (email: string, password: string): Promise<SignedIn> => {
    const answer = await operators.signIn({ email, password }, fromSomewhere, 'request')
    if (!answer.ok) throw new Error(answer.refusal.kind)
    return answer.value
  }
  const link = async (by: Asker, password: string): Promise<string> => {
    const issued = await operators.issueLink({ email: taken, role: 'auditor', own: { password } }, by)
    if (!issued.ok) throw new Error(issued.refusal.kind)
    return issued.value.secret
  }
  const spend = async (secret: string, password: string, by: Asker): Promise<void> => {
    const spent = await operators.spendLink({ secret, email: taken, password }, by)
    if (!spent.ok) throw new Error(spent.refusal.kind)
  }
  return { operators, signIn, link, spend }
}

describe('the mark of a link', () => {
  test('stays when a session that has it changes the password', async () => {
    const { operators, signIn, link, spend } = await opened()
    const admin = asker(await signIn(emailOf.admin, testPassword))
    await spend(await link(admin, testPassword), 'chosen by the other admin', admin)
    const { sessionSecret } = await signIn(taken, 'chosen by the other admin')
    const passwords = { ownPassword: 'chosen by the other admin', newPassword: 'chosen once more by them' }
    const changed = await operators.changePassword({ sessionSecret, ...passwords }, fromSomewhere, 'request')
    expect(changed).toMatchObject({ ok: true, value: { session: { linkMadeBy: emailOf.admin } } })
  })

  test('stays when a marked session makes its own link', async () => {
    const { operators, signIn, link, spend } = await opened()
    const admin = asker(await signIn(emailOf.admin, testPassword))
    await spend(await link(admin, testPassword), 'chosen by the other admin', admin)
    await operators.setRole(taken, 'admin', admin)
    const marked = asker(await signIn(taken, 'chosen by the other admin'))
    await spend(await link(marked, 'chosen by the other admin'), 'chosen once more by them', marked)
    expect((await signIn(taken, 'chosen once more by them')).session.linkMadeBy).toBe(emailOf.admin)
  })

  test('names the maker of the used link after two invitations', async () => {
    const { operators, signIn, link, spend } = await opened()
    const admin = asker(await signIn(emailOf.admin, testPassword))
    const dora = asker(await signIn(other, testPassword))
    await operators.remove(taken, admin)
    const used = await link(admin, testPassword)
    await link(dora, testPassword)
    await spend(used, 'chosen by the other admin', admin)
    expect((await signIn(taken, 'chosen by the other admin')).session.linkMadeBy).toBe(emailOf.admin)
  })
})

test('a link for somebody who is just joining needs the own password', async () => {
  const cluster = new Cluster()
  await addOperators(cluster.log, cluster.clock.now())
  const node = await cluster.open()
  const { operators } = node.core
  const signed = await operators.signIn({ email: emailOf.admin, password: testPassword }, fromSomewhere, 'request')
  if (!signed.ok) throw new Error(signed.refusal.kind)
  const admin = asker(signed.value)
  const invitation = { email: 'new@example.org', role: 'admin' } as const
  const invited = await operators.issueLink(invitation, admin)
  if (!invited.ok) throw new Error(invited.refusal.kind)
  const held = node.faults.hold('before')
  const { secret } = invited.value
  const joining = operators.spendLink({ secret, email: invitation.email, password: 'her very own words' }, admin)
  await until(() => held.waiting === 1)
  const asked = operators.issueLink(invitation, admin)
  await node.schedule.quiet()
  held.release()
  expect(await joining).toMatchObject({ ok: true })
  expect(await asked).toMatchObject({ ok: false })
})

import { describe, expect, test } from 'bun:test'
import { type SignInRow, signInHistory, signInHistoryRowsMax } from '../../../src/actors/operator/sign-in-history.ts'
import { refusedSignInsToldMs } from '../../../src/actors/operator/sign-in-records.ts'
import type { NewEvent } from '../../../src/domain/events.ts'
import { operatorStream } from '../../../src/domain/stream-names.ts'
import { refusedSignInAddressesMax } from '../../../src/limits.ts'
import { addOperators, emailOf, fromSomewhere, testPassword } from '../../support/test-operators.ts'
import { asker, Cluster, type TestNode } from '../../support/two-nodes.ts'

const email = emailOf.admin

const opened = async () => {
  const cluster = new Cluster()
  await addOperators(cluster.log, cluster.clock.now())
  return { cluster, node: await cluster.open() }
}

const signIn = async ({ core }: TestNode): Promise<void> => {
  const answer = await core.operators.signIn({ email, password: testPassword }, fromSomewhere, 'request')
  if (!answer.ok) throw new Error(answer.refusal.kind)
}

const refuse = async ({ cluster, node }: { cluster: Cluster; node: TestNode }, address: string): Promise<void> => {
  node.core.operators.signInRefused({ email, reason: 'failed', address })
  cluster.clock.advance(refusedSignInsToldMs)
  await node.schedule.advance(refusedSignInsToldMs)
}

const kindsOf = (rows: readonly SignInRow[]): readonly string[] => rows.map(({ kind }) => kind)

describe('refused sign-ins in a history', () => {
  test('are one row between two other events', async () => {
    const { cluster, node } = await opened()
    await signIn(node)
    const from = cluster.clock.now()
    for (let minute = 0; minute < signInHistoryRowsMax + 5; minute += 1) {
      await refuse({ cluster, node }, `203.0.113.${minute % 3}`)
    }
    const at = cluster.clock.now()
    await signIn(node)
    for (let count = 0; count < 2 * refusedSignInAddressesMax; count += 1) {
      await refuse({ cluster, node }, `198.51.100.${count}`)
    }
    const rows = await signInHistory(node.core.log, email)
    expect(kindsOf(rows)).toEqual(['refused', 'signed_in', 'refused', 'signed_in'])
    const addresses = ['203.0.113.0', '203.0.113.1', '203.0.113.2']
    const [last, , first] = rows
    expect(first).toMatchObject({ from, at, failed: signInHistoryRowsMax + 5, throttled: 0 })
    expect(first?.kind === 'refused' && first.addresses.toSorted()).toEqual(addresses)
    expect(last?.kind === 'refused' && last.addresses).toHaveLength(refusedSignInAddressesMax)
  })

  test('take no room from other rows, however often strangers try', async () => {
    const { cluster, node } = await opened()
    await signIn(node)
    for (let count = 1; count < signInHistoryRowsMax; count += 1) {
      await refuse({ cluster, node }, '203.0.113.9')
      await node.core.operators.issueLink({ email, role: 'admin' }, asker)
    }
    const kinds = kindsOf(await signInHistory(node.core.log, email))
    const ofOwnStream = kinds.filter((kind) => kind !== 'refused')
    expect([ofOwnStream.length, ofOwnStream.at(-1)]).toEqual([signInHistoryRowsMax, 'signed_in'])
  })
})

describe('links of version 1', () => {
  test('are invitations before the account exists, and ordinary links afterwards', async () => {
    const cluster = new Cluster()
    const recordedAt = cluster.clock.now()
    const metadata = { by: { kind: 'cli' }, requestId: 'old', correlationId: 'old', causationId: 'old' } as const
    const link = (linkHash: string): NewEvent => ({
      id: cluster.newId(),
      type: 'OperatorLinkIssued',
      recordedAt,
      data: { email, role: 'admin', linkHash, expiresAt: recordedAt + 1, purpose: null },
      metadata,
    })
    const data = { email, role: 'admin', passwordHash: 'hash', linkHash: null, linkMadeBy: null } as const
    const added: NewEvent = { id: cluster.newId(), type: 'OperatorAdded', recordedAt, data, metadata }
    await cluster.log.append(operatorStream(email), 'none', [link('one'), added, link('two')])
    const node = await cluster.open()
    expect(await signInHistory(node.core.log, email)).toMatchObject([
      { kind: 'link_made', isInvitation: false },
      { kind: 'link_made', isInvitation: true },
    ])
  })
})

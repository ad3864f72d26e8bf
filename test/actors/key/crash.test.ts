import { describe, expect, test } from 'bun:test'
import { setImmediate as turn } from 'node:timers/promises'
import { revocationFinishMs } from '../../../src/actors/key/key-sweeps.ts'
import { requestWaitMsMax } from '../../../src/actors/node.ts'
import { openCore } from '../../../src/actors/open-core.ts'
import type { RecordedEvent } from '../../../src/domain/events.ts'
import type { ReadingRefusal } from '../../../src/domain/refusal.ts'
import { heartbeatMs } from '../../../src/limits.ts'
import { faultyLog } from '../../support/logs/faulty-log.ts'
import { seededEntropy } from '../../support/seeded-entropy.ts'
import { drivenSchedule } from '../../support/time/driven-schedule.ts'
import { asker, Cluster, makeTestKey, reading, type TestNode, typesOf } from '../../support/two-nodes.ts'

/**
 * A command that takes a right away from a key. Each test kills a node before or after one append of the command. The other
 * nodes have not heard of the command, so they must find the half-done change in the log.
 */
type Taking = {
  readonly name: string
  run(node: TestNode, keyId: string, at: Cluster): ReturnType<TestNode['core']['keys']['suspend']>
  readonly refusal: ReadingRefusal['kind']
  readonly event: string
}

const lowered = { readings: 2, windowMs: 60_000 }

const takings: readonly Taking[] = [
  {
    name: 'revoke',
    run: (node, keyId) => node.core.keys.revoke(keyId, 'stolen', asker),
    refusal: 'key_invalid',
    event: 'KeyRevoked',
  },
  {
    name: 'suspend',
    run: (node, keyId) => node.core.keys.suspend(keyId, 'audit', asker),
    refusal: 'key_invalid',
    event: 'KeySuspended',
  },
  {
    name: 'an earlier expiry',
    run: (node, keyId, { clock }) => node.core.keys.setExpiry(keyId, clock.now(), asker),
    refusal: 'key_expired',
    event: 'KeyExpirySet',
  },
  {
    name: 'a lower limit',
    run: (node, keyId) => node.core.keys.setLimit(keyId, lowered, asker),
    refusal: 'rate_limited',
    event: 'KeyLimitChanged',
  },
]

const faults = ['unknown_not_written', 'unknown_written'] as const
/**
 * A command needs two appends. If another node wrote the last reading, one append meets a conflict and is tried again. Then the
 * command needs three appends.
 */
const views = [
  { view: 'knows the last reading', isStale: false, appends: 2 },
  { view: 'does not know the last reading', isStale: true, appends: 3 },
]
const points = takings.flatMap((taking) =>
  views.flatMap(({ view, isStale, appends }) =>
    faults.flatMap((fault) =>
      Array.from({ length: appends }, (_, index) => ({ ...taking, taking, view, isStale, fault, nth: index + 1 })),
    ),
  ),
)

type Nodes = { cluster: Cluster; dying: TestNode; other: TestNode; bystander: TestNode; keyId: string }

/**
 * All nodes have written readings of the key, and no node has heard of the readings of the others. If `isStale`, the dying node
 * did not write the last reading, so its next append meets a conflict.
 */
const openNodes = async (options: { readonly isStale: boolean }): Promise<Nodes> => {
  const cluster = new Cluster()
  const dying = await cluster.open()
  const keyId = await makeTestKey(dying)
  const [other, bystander] = [await cluster.open(), await cluster.open()]
  for (const node of options.isStale ? [dying, other, bystander] : [other, bystander, dying]) {
    expect((await node.post(keyId, 2)).every(({ ok }) => ok)).toBe(true)
  }
  return { cluster, dying, other, bystander, keyId }
}

/** Sends one reading before the command and one after it, so that both wait when the node dies. */
const dieOf = async (taking: Taking, node: TestNode, keyId: string, cluster: Cluster): Promise<void> => {
  void node.core.keys.accept(keyId, { cellar: '', rack: '', keg: '', value: 1, timestamp: '' }, cluster.newId())
  void taking.run(node, keyId, cluster)
  void node.core.keys.accept(keyId, { cellar: '', rack: '', keg: '', value: 1, timestamp: '' }, cluster.newId())
  await node.schedule.quiet()
  await turn()
  expect(node.faults.health().ok).toBe(false)
}

const expectInOrder = ({ key, readings }: { key: readonly RecordedEvent[]; readings: readonly RecordedEvent[] }) => {
  const sealedAt = typesOf(readings).indexOf('ReadingsSealed')
  if (sealedAt >= 0) expect(typesOf(readings).slice(sealedAt)).not.toContain('ReadingAccepted')
  if (sealedAt >= 0) expect(typesOf(readings).slice(sealedAt)).not.toContain('ReadingsFenced')
  const revoked = key.find(({ type }) => type === 'KeyRevoked')
  if (revoked !== undefined) {
    for (const event of readings) {
      if (event.type === 'ReadingAccepted') expect(event.position).toBeLessThan(revoked.position)
    }
  }
  const ids = [...key, ...readings].map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
}

describe('a half-done change', () => {
  test.each(points)('$name by one who $view, append $nth, $fault: a retry elsewhere succeeds', async (at) => {
    const { cluster, dying, other, bystander, keyId } = await openNodes(at)
    dying.faults.failAppend({ fault: at.fault, nth: at.nth, thenAway: true })
    await dieOf(at.taking, dying, keyId, cluster)

    const answer = await other.schedule.until(at.run(other, keyId, cluster))
    expect(answer.ok).toBe(true)
    const before = (await cluster.streams(keyId)).readings.length
    const [refusedHere] = await other.post(keyId)
    expect(refusedHere).toMatchObject({ ok: false, refusal: { kind: at.refusal } })
    for (const node of [bystander, await cluster.open()]) {
      const [refusedThere] = await node.post(keyId)
      expect(refusedThere).toMatchObject({ ok: false, refusal: { kind: at.refusal } })
      expect(node.bugs).toEqual([])
    }

    const streams = await cluster.streams(keyId)
    expect(streams.readings.length).toBe(before)
    expect(typesOf(streams.key).filter((type) => type === at.event)).toHaveLength(1)
    expectInOrder(streams)
    expect(other.bugs).toEqual([])
  })

  test.each(points)('$name by one who $view, append $nth, $fault: others write nothing more', async (at) => {
    const { cluster, dying, other, keyId } = await openNodes(at)
    dying.faults.failAppend({ fault: at.fault, nth: at.nth, thenAway: true })
    await dieOf(at.taking, dying, keyId, cluster)
    const { readings } = await cluster.streams(keyId)
    const isTaken = readings.some(({ type }) => type === 'ReadingsSealed' || type === 'ReadingsFenced')

    const answers = await other.post(keyId, 3)
    if (isTaken)
      for (const answer of answers) expect(answer).toMatchObject({ ok: false, refusal: { kind: at.refusal } })
    else expect(answers.map(({ ok }) => ok)).toEqual([true, true, true])
    const after = await cluster.streams(keyId)
    expectInOrder(after)
    if (isTaken && at.event === 'KeyRevoked') expect(typesOf(after.key).at(-1)).toBe('KeyRevoked')
  })

  test('is finished by a sweep as the seal says', async () => {
    const { cluster, dying, other, keyId } = await openNodes({ isStale: false })
    dying.faults.failAppend({ fault: 'unknown_written', nth: 1, thenAway: true })
    await dying.schedule.quiet()
    void dying.core.keys.revoke(keyId, 'stolen', { by: { kind: 'operator', email: 'a@example.org' }, requestId: 'r-1' })
    await dying.schedule.quiet()
    other.late.deliver()
    await other.schedule.until(other.core.sweep())

    const { key, readings } = await cluster.streams(keyId)
    const [seal, revoked] = [readings.at(-1), key.at(-1)]
    expect(revoked).toMatchObject({
      type: 'KeyRevoked',
      data: { reason: 'stolen', sealId: seal?.id },
      metadata: { by: { kind: 'operator', email: 'a@example.org' }, requestId: 'r-1', causationId: seal?.id },
    })
    expect(other.core.projections.keys.get(keyId)?.revoked?.reason).toBe('stolen')
  })

  test('is finished by a node that hears only of the seal', async () => {
    const { cluster, dying, other, keyId } = await openNodes({ isStale: false })
    dying.faults.failAppend({ fault: 'unknown_written', nth: 1, thenAway: true })
    void dying.core.keys.revoke(keyId, 'stolen', asker)
    await dying.schedule.quiet()
    other.late.deliver()
    await other.schedule.advance(revocationFinishMs - heartbeatMs)
    expect(typesOf((await cluster.streams(keyId)).key)).toEqual(['KeyCreated'])

    await other.schedule.advance(2 * heartbeatMs)
    expect(typesOf((await cluster.streams(keyId)).key)).toEqual(['KeyCreated', 'KeyRevoked'])
    expect(other.core.projections.keys.get(keyId)?.revoked?.reason).toBe('stolen')
  })

  test('is tried again until the store is back', async () => {
    const { cluster, dying, other, keyId } = await openNodes({ isStale: false })
    dying.faults.failAppend({ fault: 'unknown_written', nth: 1, thenAway: true })
    void dying.core.keys.revoke(keyId, 'stolen', asker)
    await dying.schedule.quiet()
    other.late.deliver()
    for (let nth = 1; nth <= 3; nth += 1) other.faults.failAppend({ fault: 'not_written', nth })
    await other.schedule.advance(4 * (revocationFinishMs + heartbeatMs))
    expect(typesOf((await cluster.streams(keyId)).key)).toEqual(['KeyCreated', 'KeyRevoked'])
    expect(other.bugs).toEqual([])
  })

  test('is finished by a start before it serves', async () => {
    const { cluster, dying, keyId } = await openNodes({ isStale: false })
    dying.faults.failAppend({ fault: 'unknown_written', nth: 1, thenAway: true })
    void dying.core.keys.revoke(keyId, 'stolen', asker)
    await dying.schedule.quiet()
    expect(typesOf((await cluster.streams(keyId)).key)).toEqual(['KeyCreated'])

    const restarted = await cluster.open()
    expect(restarted.core.projections.keys.get(keyId)?.revoked?.reason).toBe('stolen')
    expect(typesOf((await cluster.streams(keyId)).key)).toEqual(['KeyCreated', 'KeyRevoked'])
  })

  test('does not stop a start although the store never answers', async () => {
    const { cluster, dying, keyId } = await openNodes({ isStale: false })
    dying.faults.failAppend({ fault: 'unknown_written', nth: 1, thenAway: true })
    void dying.core.keys.revoke(keyId, 'stolen', asker)
    await dying.schedule.quiet()

    const log = faultyLog(cluster.log)
    for (let nth = 1; nth <= 1_000; nth += 1) log.failAppend({ fault: 'unknown_not_written', nth })
    const schedule = drivenSchedule()
    const parts = { log, clock: cluster.clock, entropy: seededEntropy(99), schedule }
    const core = await schedule.until(openCore(parts), requestWaitMsMax)
    const refused = schedule.until(core.keys.accept(keyId, reading, cluster.newId()), requestWaitMsMax)
    expect(await refused).toMatchObject({ ok: false })
  })
})

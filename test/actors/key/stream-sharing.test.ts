import { describe, expect, test } from 'bun:test'
import { givingWayMsMax, heartbeatMs, sharedStreamMs } from '../../../src/limits.ts'
import { asker, Cluster, makeTestKey, reading, type TestNode } from '../../support/two-nodes.ts'

/** Two nodes that have met in the readings of one key: `one` wrote last, behind a conflict. */
const openShared = async (): Promise<{ cluster: Cluster; one: TestNode; other: TestNode; keyId: string }> => {
  const cluster = new Cluster()
  const [one, other] = [await cluster.open(), await cluster.open()]
  const keyId = await makeTestKey(one)
  other.late.deliver()
  await one.post(keyId)
  await other.post(keyId)
  await one.post(keyId)
  return { cluster, one, other, keyId }
}

describe('a node that has met another in a stream', () => {
  test('lets time pass before its next append there, and then makes it', async () => {
    const { cluster, one, keyId } = await openShared()
    const before = one.faults.appends
    const posted = one.core.keys.accept(keyId, reading, cluster.newId())
    await one.schedule.quiet()
    expect(one.faults.appends).toBe(before)

    await one.schedule.advance(givingWayMsMax)
    expect(one.faults.appends).toBe(before + 1)
    expect((await posted).ok).toBe(true)
  })

  test('does so after each append, and no longer once they have not met for a while', async () => {
    const { cluster, one, keyId } = await openShared()
    await one.schedule.advance(sharedStreamMs + heartbeatMs)
    await one.post(keyId)
    await one.schedule.quiet()
    const before = one.faults.appends
    const posted = one.core.keys.accept(keyId, reading, cluster.newId())
    await one.schedule.quiet()
    expect(one.faults.appends).toBe(before + 1)
    expect((await posted).ok).toBe(true)
  })

  test('takes a command at once all the same', async () => {
    const { cluster, one, keyId } = await openShared()
    void one.core.keys.accept(keyId, reading, cluster.newId())
    const revoked = one.core.keys.revoke(keyId, 'stolen', asker)
    await one.schedule.quiet()
    expect((await revoked).ok).toBe(true)
  })
})

test('a node that hears of a change by another makes no append until that one can have fenced the readings', async () => {
  const cluster = new Cluster()
  const [one, other] = [await cluster.open(), await cluster.open()]
  const keyId = await makeTestKey(one)
  other.late.deliver()
  await other.post(keyId)

  // Held before its fence, which comes second.
  const held = one.faults.hold('after')
  const changed = one.core.keys.setLimit(keyId, { readings: 5, windowMs: 60_000 }, asker)
  await one.schedule.quiet()
  other.late.deliver()
  const before = other.faults.appends
  const posted = other.core.keys.accept(keyId, reading, cluster.newId())
  await other.schedule.quiet()
  expect(other.faults.appends).toBe(before)

  held.release()
  expect((await one.schedule.until(changed)).ok).toBe(true)
  expect((await other.schedule.until(posted)).ok).toBe(true)
})

test('the answer to an append that was out meanwhile does not cut that short', async () => {
  const { cluster, one, other, keyId } = await openShared()
  await other.schedule.advance(givingWayMsMax)
  const out = other.faults.hold('after')
  const posted = [other.core.keys.accept(keyId, reading, cluster.newId())]
  await other.schedule.quiet()
  const held = one.faults.hold('after')
  const changed = one.core.keys.setLimit(keyId, { readings: 500, windowMs: 60_000 }, asker)
  await one.schedule.quiet()
  other.late.deliver()
  out.release()
  await other.schedule.quiet()
  const before = other.faults.appends
  posted.push(other.core.keys.accept(keyId, reading, cluster.newId()))
  // Longer than the pause behind an append: the round trip was no millisecond here.
  await other.schedule.advance(3)
  expect(other.faults.appends).toBe(before)
  await other.schedule.advance(givingWayMsMax)
  expect(other.faults.appends).toBe(before + 1)

  held.release()
  expect((await one.schedule.until(changed)).ok).toBe(true)
  for (const answer of posted) expect((await other.schedule.until(answer)).ok).toBe(true)
})

import { describe, expect, test } from 'bun:test'
import { givingWayMsMax, sharedStreamMs } from '../../../src/actors/key/stream-sharing.ts'
import { heartbeatMs } from '../../../src/limits.ts'
import { asker, Cluster, makeTestKey, reading, type TestNode } from '../../support/two-nodes.ts'

/** Both nodes have posted readings. `one` wrote last, after a conflict with `other`. */
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

describe('a node that met a conflict', () => {
  test('pauses before its next append', async () => {
    const { cluster, one, keyId } = await openShared()
    const before = one.faults.appends
    const posted = one.core.keys.accept(keyId, reading, cluster.newId())
    await one.schedule.quiet()
    expect(one.faults.appends).toBe(before)

    await one.schedule.advance(givingWayMsMax)
    expect(one.faults.appends).toBe(before + 1)
    expect((await posted).ok).toBe(true)
  })

  test('pauses after each append while conflicts come', async () => {
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

  test('still runs a command at once', async () => {
    const { cluster, one, keyId } = await openShared()
    void one.core.keys.accept(keyId, reading, cluster.newId())
    const revoked = one.core.keys.revoke(keyId, 'stolen', asker)
    await one.schedule.quiet()
    expect((await revoked).ok).toBe(true)
  })
})

test('a node that hears of a change leaves time for its fence', async () => {
  const cluster = new Cluster()
  const [one, other] = [await cluster.open(), await cluster.open()]
  const keyId = await makeTestKey(one)
  other.late.deliver()
  await other.post(keyId)

  // The new limit is written, but node `one` does not get the answer of the log. So `one` has not written its fence yet.
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

test('the end of an earlier append does not shorten that pause', async () => {
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
  // The pause after an append ends within these 3 ms. The longer pause for the fence must go on, so nothing is appended yet.
  await other.schedule.advance(3)
  expect(other.faults.appends).toBe(before)
  await other.schedule.advance(givingWayMsMax)
  expect(other.faults.appends).toBe(before + 1)

  held.release()
  expect((await one.schedule.until(changed)).ok).toBe(true)
  for (const answer of posted) expect((await other.schedule.until(answer)).ok).toBe(true)
})

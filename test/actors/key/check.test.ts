/** docs/contract.md, "Check without storing": what the actor of the key answers, and when it waits. */
import { beforeEach, describe, expect, test } from 'bun:test'
import type { Keys } from '../../../src/actors/core-interface.ts'
import { mailboxReadingsMax } from '../../../src/actors/key/mailbox.ts'
import { requestWaitMsMax } from '../../../src/actors/node.ts'
import { heartbeatMs } from '../../../src/limits.ts'
import { Outage } from '../../../src/log/event-log.ts'
import { asker, Cluster, makeTestKey, reading, type TestNode } from '../../support/two-nodes.ts'

const limit = { readings: 2, windowMs: 60_000 }

let cluster: Cluster
let node: TestNode
let keyId: string
beforeEach(async () => {
  cluster = new Cluster()
  node = await cluster.open()
  keyId = await makeTestKey(node, { limit })
})

type Checked = Awaited<ReturnType<Keys['check']>>

const check = (count = 1, on = node): Promise<Checked> => on.schedule.until(on.core.keys.check(keyId, count))
const why = async (answer: Promise<Checked>): Promise<string> => {
  const { ok, ...rest } = await answer
  return ok || !('refusal' in rest) ? 'ok' : rest.refusal.kind
}

describe('a check', () => {
  test('loads the key, counts nothing, and appends nothing', async () => {
    const other = await cluster.open()
    const before = await cluster.all()
    expect(await check(2, other)).toEqual({
      ok: true,
      value: { recordedAt: cluster.clock.now(), usage: { limit, used: 0, resetMs: 0, retryAfterMs: 0 } },
    })
    expect(await check(2, other)).toMatchObject({ ok: true, value: { usage: { used: 0 } } })
    expect(await cluster.all()).toEqual(before)
    expect([node.faults.appends, other.faults.appends]).toEqual([2, 0])
  })

  test('counts readings of other nodes that its node has heard of', async () => {
    const other = await cluster.open()
    expect(await why(check(2, other))).toBe('ok')
    await node.post(keyId)
    await node.post(keyId)
    other.late.deliver()
    expect(await why(check(1, other))).toBe('rate_limited')
  })

  test('hears of a revocation by another node like a reading', async () => {
    const other = await cluster.open()
    expect(await why(check(1, other))).toBe('ok')
    await node.schedule.until(node.core.keys.revoke(keyId, '', asker))
    other.late.deliver()
    expect(await why(check(1, other))).toBe('key_invalid')
  })

  test('waits for a revocation that has begun, like a reading', async () => {
    expect(await why(check())).toBe('ok')
    const held = node.faults.hold('before')
    const revoked = node.core.keys.revoke(keyId, '', asker)
    await node.schedule.quiet()
    expect(held.waiting).toBe(1)
    const asked = node.core.keys.check(keyId, 1)
    await node.schedule.quiet()
    held.release()
    expect(await why(asked)).toBe('key_invalid')
    expect(await node.schedule.until(revoked)).toMatchObject({ ok: true })
  })

  test('counts readings that are being stored, and does not wait for them', async () => {
    await node.post(keyId)
    const held = node.faults.hold('before')
    const stored = node.core.keys.accept(keyId, reading, cluster.newId())
    await node.schedule.quiet()
    expect(held.waiting).toBe(1)
    expect(await why(node.core.keys.check(keyId, 1))).toBe('rate_limited')
    held.release()
    expect(await node.schedule.until(stored)).toMatchObject({ ok: true })
  })

  test('does not wait for an append whose readings its node has heard of', async () => {
    const held = node.faults.hold('after')
    const stored = node.core.keys.accept(keyId, reading, cluster.newId())
    await node.schedule.quiet()
    node.late.deliver()
    expect(node.core.projections.readings.usage(keyId)).toMatchObject({ accepted: 1 })
    expect(await why(check())).toBe('ok')
    held.release()
    expect(await node.schedule.until(stored)).toMatchObject({ ok: true })
  })

  test('records no expiry of the key', async () => {
    const expiresAt = cluster.clock.now() + 1_000
    keyId = await makeTestKey(node, { expiresAt })
    expect(await why(check())).toBe('ok')
    cluster.clock.advance(1_000)
    const before = node.faults.appends
    expect(await why(check())).toBe('key_expired')
    await node.schedule.quiet()
    expect(node.faults.appends).toBe(before)
  })

  test('is refused while it is unknown whether an append was stored', async () => {
    expect(await why(check())).toBe('ok')
    node.faults.failAppend({ fault: 'unknown_not_written', thenAway: true })
    const posted = node.core.keys.accept(keyId, reading, cluster.newId())
    await node.schedule.quiet()
    expect(await why(node.core.keys.check(keyId, 1))).toBe('store_unavailable')
    node.faults.comeBack()
    expect(await node.schedule.until(posted)).toMatchObject({ ok: true })
    expect(await why(check())).toBe('ok')
  })

  test('is refused without a log, whether its key is loaded or not', async () => {
    const other = await cluster.open()
    other.faults.goAway()
    expect(await why(check(1, other))).toBe('store_unavailable')
    other.faults.comeBack()
    expect(await why(check(1, other))).toBe('ok')
    other.faults.goAway()
    expect(await why(check(1, other))).toBe('store_unavailable')
  })

  test('is refused when the log cannot be read, although the key was loaded', async () => {
    const other = await cluster.open()
    expect(await why(check(1, other))).toBe('ok')
    await node.post(keyId)
    other.late.deliver()
    other.faults.read = () => Promise.reject(new Outage('Cannot read', 'not_written', 'unavailable'))
    expect(await why(check(1, other))).toBe('store_unavailable')
  })

  test('is refused with the readings that wait for a change of unknown outcome', async () => {
    expect(await why(check())).toBe('ok')
    node.faults.failAppend({ fault: 'unknown_not_written' })
    const held = node.faults.hold('before')
    const changed = node.core.keys.relabel(keyId, { label: 'other' }, asker)
    await node.schedule.quiet()
    const asked = node.core.keys.check(keyId, 1)
    const posted = node.core.keys.accept(keyId, reading, cluster.newId())
    held.release()
    expect(await why(node.schedule.until(asked))).toBe('store_unavailable')
    expect(await posted).toMatchObject({ refusal: { kind: 'store_unavailable' } })
    expect(await node.schedule.until(changed)).toMatchObject({ ok: true })
  })

  test('is overloaded when a reading would be', async () => {
    const [held, batch] = [node.faults.hold('before'), mailboxReadingsMax]
    expect(await why(node.core.keys.check(keyId, batch + 1))).toBe('overloaded')
    expect(await why(node.core.keys.check(keyId, batch))).toBe('batch_too_large')
    held.release()
  })

  test('is refused by a node that has stopped', async () => {
    await node.schedule.until(node.core.drain())
    expect(await why(node.core.keys.check(keyId, 1))).toBe('store_unavailable')
  })
})

test('a check that waits too long for the log is refused', async () => {
  const other = await cluster.open()
  other.faults.read = () => Promise.withResolvers<never>().promise
  const asked = other.core.keys.check(keyId, 1)
  await other.schedule.advance(requestWaitMsMax + heartbeatMs)
  expect(await why(asked)).toBe('store_unavailable')
})

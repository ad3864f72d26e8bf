import { describe, expect, test } from 'bun:test'
import { appendReadingsMax } from '../../../src/actors/key/key-actor.ts'
import { mailboxReadingsMax } from '../../../src/actors/key/mailbox.ts'
import { requestWaitMsMax } from '../../../src/actors/node.ts'
import type { ReadingColumns } from '../../../src/domain/reading/columns.ts'
import { readingId } from '../../../src/domain/uuid.ts'
import { batchReadingsMax } from '../../../src/limits.ts'
import { countToAppend } from '../../../src/log/storable.ts'
import { columnsOf } from '../../support/logs/columns-of.ts'
import { asker, Cluster, makeTestKey, reading, type TestNode } from '../../support/two-nodes.ts'

const opened = async (limit = { readings: 1_000_000, windowMs: 60_000 }) => {
  const cluster = new Cluster()
  const node = await cluster.open()
  return { cluster, node, keyId: await makeTestKey(node, { limit }) }
}

const batchOf = (count: number): ReadingColumns =>
  columnsOf(Array.from({ length: count }, (_, index) => ({ ...reading, value: index })))

const send =
  ({ core }: TestNode, cluster: Cluster, keyId: string) =>
  (count: number) =>
    core.keys.accept(keyId, batchOf(count), cluster.newId())

describe('a batch', () => {
  test('is one append, and its answer names both revisions', async () => {
    const { cluster, node, keyId } = await opened()
    await node.post(keyId)
    const before = node.faults.appends
    const answer = await node.schedule.until(send(node, cluster, keyId)(batchReadingsMax))
    expect(answer).toMatchObject({ ok: true, value: { stream: `readings-${keyId}`, first: 1, last: batchReadingsMax } })
    expect(node.faults.appends).toBe(before + 1)
    const { readings } = await cluster.streams(keyId)
    expect(readings.slice(1).map(({ data }) => 'value' in data && data.value)).toEqual([
      ...Array.from({ length: batchReadingsMax }, (_, index) => index),
    ])
  })

  test('derives each reading’s id from the request', async () => {
    const { cluster, node, keyId } = await opened()
    const requestId = cluster.newId()
    await node.schedule.until(node.core.keys.accept(keyId, batchOf(3), requestId))
    const { readings } = await cluster.streams(keyId)
    expect(readings.map(({ id }) => id)).toEqual([0, 1, 2].map((index) => readingId(requestId, index)))
    for (const { metadata } of readings) {
      const by = { kind: 'key' as const, keyId }
      expect(metadata).toEqual({ by, requestId, correlationId: requestId, causationId: requestId })
    }
  })

  test('shares one append with all requests of its turn', async () => {
    const { cluster, node, keyId } = await opened()
    await node.post(keyId)
    const before = node.faults.appends
    const one = node.core.keys.accept(keyId, reading, cluster.newId())
    const asked = [one, ...[3, 1, 2].map(send(node, cluster, keyId))]
    const answers = await node.schedule.until(Promise.all(asked))
    expect(answers.map((answer) => answer.ok && [answer.value.first, answer.value.last])).toEqual([
      [1, 1],
      [2, 4],
      [5, 5],
      [6, 7],
    ])
    expect(node.faults.appends).toBe(before + 1)
  })

  test('is never split over two appends', async () => {
    const { cluster, node, keyId } = await opened()
    await node.post(keyId)
    const sizes: number[] = []
    const { append } = node.faults
    node.faults.append = (stream, expected, events) => {
      if (stream === `readings-${keyId}`) sizes.push(countToAppend(events))
      return append.call(node.faults, stream, expected, events)
    }
    const counts = [700, 700, 1, 300, 1_000, 1]
    const asked = counts.map(send(node, cluster, keyId))
    expect((await node.schedule.until(Promise.all(asked))).every(({ ok }) => ok)).toBe(true)
    expect(sizes).toEqual([700, 701, 300, 1_000, 1])
    expect(Math.max(...sizes)).toBeLessThanOrEqual(appendReadingsMax)
  })

  test('takes all its places in the window or none', async () => {
    const { cluster, node, keyId } = await opened({ readings: 10, windowMs: 60_000 })
    const batch = send(node, cluster, keyId)
    expect((await node.schedule.until(batch(6))).ok).toBe(true)
    cluster.clock.advance(10_000)
    const [refused, fits] = await node.schedule.until(Promise.all([batch(5), batch(4)]))
    expect(refused).toMatchObject({ ok: false, refusal: { kind: 'rate_limited', retryAfterMs: 50_000 } })
    expect(fits).toMatchObject({ ok: true, value: { first: 6, last: 9 } })
    expect(await node.schedule.until(batch(1))).toMatchObject({ refusal: { kind: 'rate_limited' } })
    expect((await cluster.streams(keyId)).readings).toHaveLength(10)
    cluster.clock.advance(50_000)
    expect((await node.schedule.until(batch(5))).ok).toBe(true)
  })

  test('over its key’s limit is refused for good', async () => {
    const { cluster, node, keyId } = await opened({ readings: 10, windowMs: 60_000 })
    const batch = send(node, cluster, keyId)
    expect(await node.schedule.until(batch(11))).toEqual({
      ok: false,
      refusal: { kind: 'batch_too_large', readingsMax: 10, bound: 'key' },
    })
    expect((await node.schedule.until(batch(10))).ok).toBe(true)
    expect(await node.schedule.until(batch(11))).toMatchObject({ refusal: { kind: 'batch_too_large' } })
  })

  test('is judged again as a whole after another node’s append', async () => {
    const { cluster, node, keyId } = await opened({ readings: 10, windowMs: 60_000 })
    const other = await cluster.open()
    await Promise.all([node.post(keyId), other.post(keyId)])
    const answers = await Promise.all([
      node.schedule.until(send(node, cluster, keyId)(5)),
      other.schedule.until(send(other, cluster, keyId)(5)),
    ])
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1)
    expect((await cluster.streams(keyId)).readings).toHaveLength(7)
  })

  test('of unknown outcome is sent again unchanged and stored once', async () => {
    const { cluster, node, keyId } = await opened()
    await node.post(keyId)
    node.faults.failAppend({ fault: 'unknown_written' })
    const answer = await node.schedule.until(send(node, cluster, keyId)(100))
    expect(answer).toMatchObject({ ok: true, value: { first: 1, last: 100 } })
    expect((await cluster.streams(keyId)).readings).toHaveLength(101)
  })

  test('gives its places back when it fails or is overdue', async () => {
    const { cluster, node, keyId } = await opened({ readings: 10, windowMs: 600_000 })
    await node.post(keyId)
    const batch = send(node, cluster, keyId)
    node.faults.failAppend({ fault: 'not_written' })
    expect(await node.schedule.until(batch(9))).toMatchObject({ refusal: { kind: 'store_unavailable' } })

    const held = node.faults.hold('before')
    const out = batch(1)
    await node.schedule.quiet()
    const waiting = batch(8)
    expect(await batch(1)).toMatchObject({ refusal: { kind: 'rate_limited' } })
    await node.schedule.advance(requestWaitMsMax)
    expect(await out).toMatchObject({ refusal: { kind: 'store_unavailable' } })
    expect(await waiting).toMatchObject({ refusal: { kind: 'store_unavailable' } })
    held.release()
    expect((await node.schedule.until(batch(8))).ok).toBe(true)
    expect(node.bugs).toEqual([])
  })

  test('is refused once its key is revoked', async () => {
    const { cluster, node, keyId } = await opened()
    await node.post(keyId)
    const revoked = node.core.keys.revoke(keyId, '', asker)
    const late = send(node, cluster, keyId)(100)
    const [, answer] = await node.schedule.until(Promise.all([revoked, late]))
    expect(answer).toEqual({ ok: false, refusal: { kind: 'key_invalid', why: 'revoked' } })
    expect((await cluster.streams(keyId)).readings.map(({ type }) => type)).toEqual([
      'ReadingAccepted',
      'ReadingsSealed',
    ])
  })

  test('is overloaded one reading past the mailbox’s bound', async () => {
    const { cluster, node, keyId } = await opened()
    await node.post(keyId)
    const held = node.faults.hold('before')
    const batch = send(node, cluster, keyId)
    const out = batch(536)
    await node.schedule.quiet()
    const asked = Array.from({ length: 65 }, () => batch(1_000))
    expect(mailboxReadingsMax).toBe(536 + 65 * 1_000)
    expect(await batch(1)).toEqual({ ok: false, refusal: { kind: 'overloaded' } })
    held.release()
    expect((await node.schedule.until(Promise.all([out, ...asked]))).every(({ ok }) => ok)).toBe(true)
    expect((await node.schedule.until(batch(1_000))).ok).toBe(true)
  })
})

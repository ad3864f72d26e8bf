import { describe, expect, test } from 'bun:test'
import { setImmediate as turn } from 'node:timers/promises'
import { catchUpPagesMax, usageCatchUpMs } from '../../src/actors/key/key-streams.ts'
import { bodyHash, idempotencyKeyHash } from '../../src/domain/reading/idempotency-key.ts'
import { keyStream, readingsStream } from '../../src/domain/stream-names.ts'
import { livePushMs } from '../../src/http/dashboard/live/live-push.ts'
import { readPageEventsMax } from '../../src/limits.ts'
import { Outage } from '../../src/log/event-log.ts'
import { passingLog } from '../support/logs/passing-log.ts'
import { Cluster, makeTestKey, reading, type TestNode } from '../support/two-nodes.ts'

const perMinute = { readings: 1_000_000, windowMs: 60_000 }

const opened = async () => {
  const cluster = new Cluster()
  const [one, other] = [await cluster.open(), await cluster.open()]
  const keyId = await makeTestKey(one, { limit: perMinute })
  other.late.deliver()
  await one.post(keyId)
  await other.post(keyId)
  return { cluster, one, other, keyId }
}

const postMany = async (node: TestNode, keyId: string, count: number): Promise<void> => {
  for (let left = count; left > 0; left -= readPageEventsMax) await node.post(keyId, Math.min(left, readPageEventsMax))
}

/** Returns a list. Each later read of the key's readings adds one entry: the number of events that the read returned. */
const readsOf = ({ faults }: TestNode, keyId: string): readonly number[] => {
  const reads: number[] = []
  const read = faults.read.bind(faults)
  faults.read = async (stream, options) => {
    const page = await read(stream, options)
    if (stream === readingsStream(keyId)) reads.push(page.length)
    return page
  }
  return reads
}

const sum = (numbers: readonly number[]): number => numbers.reduce((before, number) => before + number, 0)

const usedOnPage = async ({ core, schedule }: TestNode, keyId: string): Promise<number | undefined> => {
  const heardTo = core.projections.readings.usage(keyId)?.last.revision
  return (await schedule.until(Promise.resolve(core.keys.usage(keyId, heardTo))))?.used
}

describe('an actor that fell behind', () => {
  test('reads few missed pages, else loads its window again', async () => {
    const pagesOfEvents = catchUpPagesMax * readPageEventsMax
    for (const missed of [pagesOfEvents - 1, pagesOfEvents, 20 * readPageEventsMax]) {
      const { one, other, keyId } = await opened()
      await one.post(keyId)
      const before = (await one.schedule.until(Promise.resolve(one.core.keys.usage(keyId))))?.used ?? 0
      await postMany(other, keyId, missed)
      const reads = readsOf(one, keyId)
      expect(await one.post(keyId)).toMatchObject([{ ok: true, value: { usage: { used: before + missed + 1 } } }])
      if (missed < pagesOfEvents) expect(sum(reads)).toBe(missed)
      else expect(sum(reads)).toBeLessThan(pagesOfEvents)
    }
  })

  test('trusts no count that a failed read broke off', async () => {
    const { one, other, keyId } = await opened()
    await one.post(keyId)
    await postMany(other, keyId, catchUpPagesMax * readPageEventsMax)
    const read = one.faults.read.bind(one.faults)
    one.faults.read = (stream, options) => {
      if (stream !== keyStream(keyId)) return read(stream, options)
      one.faults.read = read
      return Promise.reject(new Outage('Cannot read: the connection was lost', 'not_written', 'unavailable'))
    }
    expect(await one.post(keyId)).toMatchObject([{ ok: false, refusal: { kind: 'store_unavailable' } }])
    expect(await one.post(keyId)).toMatchObject([{ ok: true }])
  })

  test('knows the idempotency keys of unread events', async () => {
    const { cluster, one, other, keyId } = await opened()
    const idempotency = {
      keyHash: idempotencyKeyHash('one') ?? '',
      bodyHash: bodyHash(new TextEncoder().encode('body')),
      batch: null,
    }
    const send = (node: TestNode) => {
      const request = { requestId: cluster.newId(), idempotency, refusal: null }
      return node.schedule.until(node.core.keys.acceptIdempotent(keyId, reading, request))
    }
    expect(await send(other)).toMatchObject({ ok: true, value: { repeats: null } })
    one.late.deliver()
    await postMany(other, keyId, (catchUpPagesMax + 1) * readPageEventsMax)
    expect(await send(one)).toMatchObject({ ok: true, value: { repeats: idempotency } })
  })
})

describe('a page of a key', () => {
  test('shows what another node accepted, without a reading here', async () => {
    const { one, other, keyId } = await opened()
    await postMany(other, keyId, 900)
    one.late.deliver()
    expect(await usedOnPage(one, keyId)).toBe(902)
    await one.schedule.advance(usageCatchUpMs)
    await postMany(other, keyId, 20 * readPageEventsMax)
    one.late.deliver()
    const reads = readsOf(one, keyId)
    expect(await usedOnPage(one, keyId)).toBe(902 + 20 * readPageEventsMax)
    expect(sum(reads)).toBeLessThan((catchUpPagesMax + 1) * readPageEventsMax)
  })

  test('reads for that at most once in a while', async () => {
    const { one, other, keyId } = await opened()
    await one.post(keyId)
    one.late.deliver()
    await one.schedule.advance(usageCatchUpMs)
    const reads = readsOf(one, keyId)
    const spans = 5
    for (let ms = 0; ms < spans * usageCatchUpMs; ms += livePushMs) {
      await postMany(other, keyId, 10)
      one.late.deliver()
      await usedOnPage(one, keyId)
      await usedOnPage(one, keyId)
      await one.schedule.advance(livePushMs)
    }
    expect(reads).toHaveLength(spans)
  })

  test("reads nothing for this node's own readings, even under way", async () => {
    const { one, other, keyId } = await opened()
    await one.post(keyId)
    other.late.deliver()
    await one.schedule.advance(usageCatchUpMs)
    const reads = readsOf(one, keyId)
    const held = one.faults.hold('after')
    const posted = one.post(keyId, 5)
    while (held.waiting === 0) await turn()
    one.late.deliver()
    expect(one.core.keys.usage(keyId, one.core.projections.readings.usage(keyId)?.last.revision)).not.toBeInstanceOf(
      Promise,
    )
    held.release()
    await posted
    await one.schedule.advance(usageCatchUpMs)
    expect(await usedOnPage(one, keyId)).toBe(8)
    expect(reads).toEqual([])
  })
})

test('an actor counts anew and accepts readings after its store was restored', async () => {
  const cluster = new Cluster()
  const node = await cluster.open()
  const keyId = await makeTestKey(node)
  await node.post(keyId, 3)
  const copy = await cluster.all()
  await node.post(keyId, 5)
  const earlier = new Cluster()
  for (const { stream, revision, position: _, ...event } of copy) {
    await earlier.log.append(stream, revision === 0 ? 'none' : revision - 1, [event])
  }
  Object.assign(cluster.log, passingLog(earlier.log))
  expect(await node.post(keyId)).toMatchObject([{ ok: true, value: { first: 3, usage: { used: 4 } } }])
  expect(await node.post(keyId)).toMatchObject([{ ok: true, value: { first: 4 } }])
  expect(node.bugs).toEqual([])
})

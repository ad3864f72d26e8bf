import { beforeAll, describe, expect, test } from 'bun:test'
import { setImmediate as turn } from 'node:timers/promises'
import { appendReadingsMax } from '../../../src/actors/key/key-actor.ts'
import { mailboxRequestsMax } from '../../../src/actors/key/mailbox.ts'
import { requestWaitMsMax } from '../../../src/actors/node.ts'
import { conflictRetriesMax, rateWindowSlots, tailEventsMax } from '../../../src/limits.ts'
import { eventsToAppend } from '../../../src/log/storable.ts'
import { acceptedIn } from '../../simulation/naive.ts'
import { columnsOf } from '../../support/logs/columns-of.ts'
import { asker, Cluster, makeTestKey, reading, type TestNode, typesOf } from '../../support/two-nodes.ts'

const opened = async (
  options: Parameters<typeof makeTestKey>[1] = {},
): Promise<{ cluster: Cluster; node: TestNode; keyId: string }> => {
  const cluster = new Cluster()
  const node = await cluster.open()
  const keyId = await makeTestKey(node, options)
  return { cluster, node, keyId }
}

const accept = ({ core }: TestNode, cluster: Cluster, keyId: string) =>
  core.keys.accept(keyId, reading, cluster.newId())

/** Counts reads and the events that they return. Reads at the same time are one round. */
const countReads = (node: TestNode): { readonly reads: number; readonly rounds: number; readonly events: number } => {
  const counts = { reads: 0, rounds: 0, events: 0 }
  let underWay = 0
  const read = node.faults.read.bind(node.faults)
  node.faults.read = async (stream, options) => {
    counts.reads += 1
    if (underWay === 0) counts.rounds += 1
    underWay += 1
    const page = await read(stream, options)
    underWay -= 1
    counts.events += page.length
    return page
  }
  return counts
}

describe('accept()', () => {
  test('appends all readings of one turn together', async () => {
    const { node, keyId } = await opened()
    await node.post(keyId)
    const before = node.faults.appends
    const answers = await node.post(keyId, 64)
    expect(node.faults.appends).toBe(before + 1)
    expect(answers.map((answer) => answer.ok && answer.value.first)).toEqual(
      Array.from({ length: 64 }, (_, index) => index + 1),
    )
  })

  test('appends readings that come during an append with the next one', async () => {
    const { cluster, node, keyId } = await opened()
    await node.post(keyId)
    const held = node.faults.hold('before')
    const first = accept(node, cluster, keyId)
    await node.schedule.quiet()
    const second = accept(node, cluster, keyId)
    await node.schedule.quiet()
    const third = accept(node, cluster, keyId)
    await node.schedule.quiet()
    expect(held.waiting).toBe(1)
    const before = node.faults.appends
    held.release()
    expect((await node.schedule.until(Promise.all([first, second, third]))).every(({ ok }) => ok)).toBe(true)
    expect(node.faults.appends).toBe(before + 1)
  })

  test('never records an earlier time than before', async () => {
    const { cluster, node, keyId } = await opened()
    await node.post(keyId)
    cluster.clock.advance(-5_000)
    await node.post(keyId)
    const other = await cluster.open()
    await other.post(keyId)
    const times = (await cluster.streams(keyId)).readings.map(({ recordedAt }) => recordedAt)
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  })

  test('is overloaded one request past the mailbox’s bound', async () => {
    const { cluster, node, keyId } = await opened({ limit: { readings: 1_000_000, windowMs: 60_000 } })
    await node.post(keyId)
    const held = node.faults.hold('before')
    const asked = Array.from({ length: mailboxRequestsMax }, () => accept(node, cluster, keyId))
    expect(await accept(node, cluster, keyId)).toEqual({ ok: false, refusal: { kind: 'overloaded' } })
    await node.schedule.quiet()
    expect(await accept(node, cluster, keyId)).toEqual({ ok: false, refusal: { kind: 'overloaded' } })
    held.release()
    expect((await node.schedule.until(Promise.all(asked))).every(({ ok }) => ok)).toBe(true)
    expect((await node.post(keyId))[0]?.ok).toBe(true)
  })

  test('bounds the readings and bytes of an append', async () => {
    const { cluster, node, keyId } = await opened({ limit: { readings: 1_000_000, windowMs: 60_000 } })
    await node.post(keyId)
    const wide = { ...reading, rack: '\u{1F377}'.repeat(128), keg: '\u{1F377}'.repeat(128) }
    const before = node.faults.appends
    const asked = Array.from({ length: 1_000 }, () => node.core.keys.accept(keyId, wide, cluster.newId()))
    await node.schedule.until(Promise.all(asked))
    const appends = node.faults.appends - before
    // 1,000 readings with these long names need more than 1 MB. One append takes at most 512 KiB, so one append cannot store
    // them all.
    expect(appends).toBeGreaterThanOrEqual(2)
    expect(appendReadingsMax).toBeGreaterThanOrEqual(1_000)
  })

  test('refuses a key at its expiry, judged when the append is made', async () => {
    const { cluster, node, keyId } = await opened({ expiresAt: Date.UTC(2026, 2, 1, 12) + 1_000 })
    cluster.clock.advance(999)
    expect((await node.post(keyId))[0]?.ok).toBe(true)
    const inTime = accept(node, cluster, keyId)
    cluster.clock.advance(1)
    expect(await node.schedule.until(inTime)).toEqual({ ok: false, refusal: { kind: 'key_expired' } })
    expect(await accept(node, cluster, keyId)).toEqual({ ok: false, refusal: { kind: 'key_expired' } })
    await node.schedule.quiet()
    await node.schedule.until(node.core.sweep())
    const { key, readings } = await cluster.streams(keyId)
    expect(typesOf(key)).toEqual(['KeyCreated', 'KeyExpired'])
    expect(readings).toHaveLength(1)
  })

  test('works again after a later expiry, and the first one is recorded', async () => {
    const { cluster, node, keyId } = await opened({ expiresAt: Date.UTC(2026, 2, 1, 12) + 1_000 })
    cluster.clock.advance(1_000)
    const later = cluster.clock.now() + 1_000
    expect(await node.schedule.until(node.core.keys.setExpiry(keyId, later, asker))).toMatchObject({ ok: true })
    expect((await node.post(keyId))[0]?.ok).toBe(true)
    const { key } = await cluster.streams(keyId)
    expect(typesOf(key)).toEqual(['KeyCreated', 'KeyExpired', 'KeyExpirySet'])
    expect(key.map(({ metadata }) => metadata.by.kind)).toEqual(['cli', 'system', 'cli'])
  })

  test('refuses a key that does not exist', async () => {
    const { cluster, node } = await opened()
    expect(await node.schedule.until(accept(node, cluster, 'nobodys1'))).toEqual({
      ok: false,
      refusal: { kind: 'key_invalid', why: 'unknown' },
    })
    expect(await node.schedule.until(Promise.resolve(node.core.keys.usage('nobodys2')))).toBeNull()
  })
})

describe('the window of a key', () => {
  const limit = { readings: 10, windowMs: 60_000 }

  test('refuses one past the limit, also after a restart', async () => {
    const { cluster, node, keyId } = await opened({ limit })
    const answers = await node.post(keyId, 11)
    expect(answers.map(({ ok }) => ok)).toEqual([...Array.from({ length: 10 }, () => true), false])
    expect(answers.at(-1)).toMatchObject({ refusal: { kind: 'rate_limited', limit, retryAfterMs: 60_000 } })
    cluster.clock.advance(59_999)
    const restarted = await cluster.open()
    expect((await restarted.post(keyId))[0]).toMatchObject({ refusal: { kind: 'rate_limited', retryAfterMs: 1 } })
    cluster.clock.advance(1)
    expect((await restarted.post(keyId))[0]?.ok).toBe(true)
  })

  test.each(['that looked', 'that loaded the key'])('holds on a node %s before its clock went back', async (who) => {
    const { cluster, node, keyId } = await opened({ limit })
    await node.post(keyId, 10)
    cluster.clock.advance(70_000)
    const isLooking = who === 'that looked'
    const judging = isLooking ? node : await cluster.open()
    if (isLooking) expect(node.core.keys.usage(keyId)).toMatchObject({ used: 0 })
    else await judging.schedule.until(judging.core.keys.relabel(keyId, { label: 'Cooler', note: '' }, asker))
    cluster.clock.advance(-70_000)
    await judging.post(keyId, 10)
    const times = (await cluster.streams(keyId)).readings.map(({ recordedAt }) => recordedAt)
    for (const now of times) expect(acceptedIn(times, now, limit.windowMs)).toBeLessThanOrEqual(limit.readings)
  })

  test('is shared by nodes that hear nothing of each other', async () => {
    const { cluster, node, keyId } = await opened({ limit })
    const other = await cluster.open()
    await Promise.all([node.post(keyId), other.post(keyId)])
    const answers = (await Promise.all([node.post(keyId, 9), other.post(keyId, 9)])).flat()
    expect(answers.filter(({ ok }) => ok)).toHaveLength(8)
    const { readings } = await cluster.streams(keyId)
    expect(readings).toHaveLength(10)
    expect(new Set(readings.map(({ id }) => id)).size).toBe(10)
  })

  test('gets the places of a failed append back', async () => {
    const { node, keyId } = await opened({ limit })
    await node.post(keyId)
    for (const [reason, kind] of [
      ['unavailable', 'store_unavailable'],
      ['closed', 'store_unavailable'],
      ['full', 'storage_full'],
      ['overloaded', 'overloaded'],
    ] as const) {
      node.faults.failAppend({ fault: 'not_written', reason })
      for (const answer of await node.post(keyId, 9)) expect(answer).toEqual({ ok: false, refusal: { kind } })
    }
    expect((await node.post(keyId, 9)).every(({ ok }) => ok)).toBe(true)
  })

  test('is counted from the log when its length changes', async () => {
    const { cluster, node, keyId } = await opened({ limit: { readings: 5, windowMs: 10_000 } })
    await node.post(keyId, 5)
    cluster.clock.advance(20_000)
    await node.post(keyId, 2)
    await node.schedule.until(node.core.keys.setLimit(keyId, limit, asker))
    expect(await node.schedule.until(Promise.resolve(node.core.keys.usage(keyId)))).toMatchObject({ limit, used: 7 })
  })

  test('follows the cellar’s limit from the next reading on', async () => {
    const { node, keyId } = await opened()
    await node.post(keyId, 3)
    const policy = {
      limit: { readings: 3, windowMs: 60_000 },
      readingAgeMsMax: null,
      readingAheadMsMax: null,
      retentionMs: null,
    }
    await node.schedule.until(node.core.cellars.changePolicy(reading.cellar, policy, asker))
    expect((await node.post(keyId))[0]).toMatchObject({ refusal: { kind: 'rate_limited', limit: policy.limit } })
  })

  describe('of a busy key that a node loads', () => {
    const [windowMs, limitReadings] = [60_000, 50_000]
    let cluster: Cluster
    let keyId: string
    /** How many readings were accepted at an instant, oldest first. */
    const accepted: { readonly atMs: number; readonly count: number }[] = []
    const acceptedSince = (ms: number): number =>
      accepted.reduce((sum, { atMs, count }) => sum + (atMs > ms ? count : 0), 0)
    const window = (node: TestNode) => node.schedule.until(Promise.resolve(node.core.keys.usage(keyId)))

    beforeAll(async () => {
      const made = await opened({ limit: { readings: limitReadings, windowMs } })
      cluster = made.cluster
      keyId = made.keyId
      let revision = -1
      const append = async (count: number): Promise<void> => {
        accepted.push({ atMs: cluster.clock.now(), count })
        const by = { kind: 'key', keyId } as const
        const events = Array.from({ length: count }, () => {
          const id = cluster.newId()
          const metadata = { by, requestId: id, correlationId: id, causationId: id }
          return { id, type: 'ReadingAccepted' as const, recordedAt: cluster.clock.now(), data: reading, metadata }
        })
        await cluster.log.append(`readings-${keyId}`, revision < 0 ? 'none' : revision, events)
        revision += count
      }
      for (let second = 0; second < 3_600; second += 1) {
        await append(1)
        cluster.clock.advance(1_000)
      }
      for (let burst = 0; burst < 100; burst += 1) {
        await append(burst % 7 === 0 ? 1_000 : 1 + ((burst * 97) % 600))
        cluster.clock.advance(burst % 11 === 0 ? 1_777 : 397)
      }
    })

    test('takes the same few reads, most of them at once, at any size', async () => {
      const node = await cluster.open()
      // A start reads streams of records, which may be purged.
      await node.schedule.until(node.core.sweep())
      const counts = countReads(node)
      const inWindow = acceptedSince(cluster.clock.now() - windowMs)
      expect(inWindow).toBeGreaterThan(30_000)
      expect((await window(node))?.used).toBeGreaterThanOrEqual(inWindow)
      expect(counts.rounds).toBeLessThanOrEqual(4 + Math.ceil(Math.log2(inWindow + 3_600)))
      expect(counts.reads).toBeLessThanOrEqual(counts.rounds + rateWindowSlots)
      expect(counts.events).toBeLessThan(counts.reads + 2 * tailEventsMax)
    })

    test('never frees a place early, and at most 1/64 of the limit late', async () => {
      const node = await cluster.open()
      const loadedMs = cluster.clock.now()
      for (let waitedMs = 0; waitedMs <= windowMs; waitedMs += 50) {
        cluster.clock.set(loadedMs + waitedMs)
        const used = (await window(node))?.used ?? 0
        expect(used).toBeGreaterThanOrEqual(acceptedSince(loadedMs + waitedMs - windowMs))
        const aSlotLonger = acceptedSince(loadedMs + waitedMs - windowMs - windowMs / (rateWindowSlots - 1))
        expect(used).toBeLessThanOrEqual(aSlotLonger + Math.ceil(limitReadings / rateWindowSlots))
      }
      cluster.clock.set(loadedMs)
    })

    test('is full until the readings over a lowered limit have left', async () => {
      const node = await cluster.open()
      const readings = 500
      await node.schedule.until(node.core.keys.setLimit(keyId, { readings, windowMs }, asker))
      const loaded = await cluster.open()
      const counts = countReads(loaded)
      const loadedMs = cluster.clock.now()
      const isFull = (ms: number): boolean => acceptedSince(ms - windowMs) >= readings
      for (let waitedMs = 0; waitedMs <= windowMs; waitedMs += 50) {
        cluster.clock.set(loadedMs + waitedMs)
        const used = (await window(loaded))?.used ?? 0
        if (isFull(loadedMs + waitedMs)) expect(used).toBeGreaterThanOrEqual(readings)
        if (!isFull(loadedMs + waitedMs - 2 * (windowMs / rateWindowSlots))) expect(used).toBeLessThan(readings)
      }
      cluster.clock.set(loadedMs)
      expect(counts.reads).toBeLessThanOrEqual(counts.rounds + rateWindowSlots)
    })
  })
})

describe('an append of unknown outcome', () => {
  test('is sent again unchanged, and later readings go after it', async () => {
    const { cluster, node, keyId } = await opened()
    await node.post(keyId)
    node.faults.failAppend({ fault: 'unknown_written' })
    const first = accept(node, cluster, keyId)
    await node.schedule.quiet()
    const second = accept(node, cluster, keyId)
    const answers = await node.schedule.until(Promise.all([first, second]))
    expect(answers.map((answer) => answer.ok && answer.value.first)).toEqual([1, 2])
    expect((await cluster.streams(keyId)).readings).toHaveLength(3)
  })

  test('stays unknown when a later try was not written', async () => {
    const { cluster, node, keyId } = await opened()
    await node.post(keyId)
    node.faults.failAppend({ fault: 'unknown_written' })
    node.faults.failAppend({ fault: 'not_written', nth: 2 })
    const answer = await node.schedule.until(accept(node, cluster, keyId))
    expect(answer).toMatchObject({ ok: true, value: { first: 1, last: 1 } })
    expect((await cluster.streams(keyId)).readings).toHaveLength(2)
  })

  test('is answered at the bound, and its place stays taken', async () => {
    const { cluster, node, keyId } = await opened({ limit: { readings: 2, windowMs: 600_000 } })
    await node.post(keyId)
    node.faults.failAppend({ fault: 'unknown_written' })
    for (let nth = 2; nth <= 20; nth += 1) node.faults.failAppend({ fault: 'unknown_not_written', nth })
    const asked = accept(node, cluster, keyId)
    await node.schedule.quiet()
    const waiting = accept(node, cluster, keyId)
    let isSettled = false
    void asked.then(() => {
      isSettled = true
    })
    await node.schedule.advance(requestWaitMsMax - 501)
    expect(isSettled).toBe(false)
    await node.schedule.advance(501)
    expect(await asked).toEqual({ ok: false, refusal: { kind: 'store_unavailable' } })
    expect(await waiting).toMatchObject({ ok: false, refusal: { kind: 'rate_limited' } })
    await node.schedule.advance(20_000)
    expect((await node.post(keyId))[0]).toMatchObject({ refusal: { kind: 'rate_limited' } })
    expect((await cluster.streams(keyId)).readings).toHaveLength(2)
  })

  test('refuses later readings at once while the store is away', async () => {
    const { cluster, node, keyId } = await opened()
    await node.post(keyId)
    const held = node.faults.hold('before')
    node.faults.failAppend({ fault: 'unknown_written', thenAway: true })
    const asked = accept(node, cluster, keyId)
    await node.schedule.quiet()
    const waiting = accept(node, cluster, keyId)
    held.release()
    await node.schedule.quiet()
    const late = accept(node, cluster, keyId)
    for (const answer of [waiting, late]) {
      const now = await Promise.race([answer, Promise.resolve('it waits')])
      expect(now).toEqual({ ok: false, refusal: { kind: 'store_unavailable' } })
    }

    node.faults.comeBack()
    expect(await node.schedule.until(asked)).toMatchObject({ ok: true, value: { first: 1 } })
    expect((await node.post(keyId))[0]).toMatchObject({ ok: true, value: { first: 2 } })
  })

  test('gives its place back if it was not written', async () => {
    const { cluster, node, keyId } = await opened({ limit: { readings: 2, windowMs: 600_000 } })
    const other = await cluster.open()
    await node.post(keyId)
    await other.schedule.until(Promise.resolve(other.core.keys.usage(keyId)))
    node.faults.failAppend({ fault: 'unknown_not_written', thenAway: true })
    const asked = accept(node, cluster, keyId)
    await node.schedule.advance(requestWaitMsMax)
    expect(await asked).toMatchObject({ refusal: { kind: 'store_unavailable' } })
    await other.schedule.until(other.core.keys.setLimit(keyId, { readings: 3, windowMs: 600_000 }, asker))
    await other.post(keyId)
    node.faults.comeBack()
    node.late.deliver()
    await node.schedule.advance(2_000)
    expect((await node.post(keyId))[0]?.ok).toBe(true)
    expect((await cluster.streams(keyId)).readings).toHaveLength(3)
  })
})

describe('two nodes that share a key', () => {
  test('both store all of theirs exactly once', async () => {
    const { cluster, node, keyId } = await opened()
    const other = await cluster.open()
    for (let round = 0; round < 20; round += 1) {
      const answers = (await Promise.all([node.post(keyId, 3), other.post(keyId, 3)])).flat()
      expect(answers.every(({ ok }) => ok)).toBe(true)
    }
    const { readings } = await cluster.streams(keyId)
    expect(readings).toHaveLength(120)
    expect(new Set(readings.map(({ id }) => id)).size).toBe(120)
  })

  test('answer overloaded after too many conflicts, then accept again', async () => {
    const { cluster, node, keyId } = await opened()
    await node.post(keyId)
    let conflicts = 0
    const { append } = node.faults
    const intruding: typeof append = async (stream, expected, events) => {
      if (conflicts <= conflictRetriesMax) {
        conflicts += 1
        const id = cluster.newId()
        const [event] = eventsToAppend(events)
        if (event !== undefined) await cluster.log.append(stream, expected, [{ ...event, id }])
      }
      return append.call(node.faults, stream, expected, events)
    }
    node.faults.append = intruding
    expect((await node.post(keyId))[0]).toEqual({ ok: false, refusal: { kind: 'overloaded' } })
    expect(conflicts).toBe(conflictRetriesMax + 1)
    expect((await node.post(keyId))[0]?.ok).toBe(true)
  })
})

describe('a bug in an actor', () => {
  test('is answered as internal_error, and the state is loaded again', async () => {
    const { cluster, node, keyId } = await opened({ limit: { readings: 3, windowMs: 60_000 } })
    await node.post(keyId)
    const { append } = node.faults
    node.faults.append = () => Promise.reject(new TypeError('planted'))
    for (const answer of await node.post(keyId, 2)) {
      expect(answer).toEqual({ ok: false, refusal: { kind: 'internal_error' } })
    }
    node.faults.append = append
    expect(node.bugs).toHaveLength(1)
    expect((await node.post(keyId, 3)).map(({ ok }) => ok)).toEqual([true, true, false])
    expect((await cluster.streams(keyId)).readings).toHaveLength(3)
  })

  test('does not keep accept() from answering, even in the clock', async () => {
    const { cluster, node, keyId } = await opened()
    await node.post(keyId)
    const { now } = cluster.clock
    cluster.clock.now = () => {
      throw new TypeError('planted')
    }
    expect(await accept(node, cluster, keyId)).toEqual({ ok: false, refusal: { kind: 'internal_error' } })
    cluster.clock.now = now
    expect((await node.post(keyId))[0]?.ok).toBe(true)
  })
})

describe('a drain', () => {
  test('settles what is under way, then refuses', async () => {
    const { cluster, node, keyId } = await opened()
    await node.post(keyId)
    const held = node.faults.hold('after')
    const asked = accept(node, cluster, keyId)
    await node.schedule.quiet()
    const drained = node.core.drain()
    await turn()
    expect(await accept(node, cluster, keyId)).toEqual({ ok: false, refusal: { kind: 'store_unavailable' } })
    held.release()
    await node.schedule.until(drained)
    expect((await asked).ok).toBe(true)
  })

  test('ends at its bound although the store never answers', async () => {
    const { cluster, node, keyId } = await opened()
    await node.post(keyId)
    node.faults.hold('before')
    const asked = accept(node, cluster, keyId)
    await node.schedule.quiet()
    await node.schedule.until(node.core.drain())
    expect(await asked).toEqual({ ok: false, refusal: { kind: 'store_unavailable' } })
  })
})

test('a revision that the store named and lost costs one refusal', async () => {
  const cluster = new Cluster()
  const node = await cluster.open()
  const keyId = await makeTestKey(node)
  await node.post(keyId)
  const append = node.faults.append.bind(node.faults)
  node.faults.append = (stream, expected, events) => {
    if (!stream.startsWith('readings-')) return append(stream, expected, events)
    node.faults.append = append
    return Promise.resolve({ outcome: 'conflict', currentRevision: 1 })
  }
  expect(await node.post(keyId)).toMatchObject([{ ok: false, refusal: { kind: 'store_unavailable' } }])
  expect(await node.post(keyId)).toMatchObject([{ ok: true, value: { first: 1 } }])
  expect(node.bugs).toEqual([])
})

test('a bug in one request’s events does not spoil the next request', async () => {
  const cluster = new Cluster()
  const node = await cluster.open()
  const keyId = await makeTestKey(node)
  // The ids of readings are derived from the request id. This request id is not a UUID, so the derivation throws, as a bug
  // does.
  const spoilt = await node.schedule.until(node.core.keys.accept(keyId, columnsOf([reading, reading]), 'not a UUID'))
  expect(spoilt).toMatchObject({ ok: false, refusal: { kind: 'internal_error' } })
  expect(node.bugs).toHaveLength(1)
  expect(await node.post(keyId)).toMatchObject([{ ok: true }])
})

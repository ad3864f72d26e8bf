import { describe, expect, test } from 'bun:test'
import { purgesPerAppendMax } from '../../../src/actors/cellar/reading-retention.ts'
import type { RecordedEvent } from '../../../src/domain/events.ts'
import { cellarStream, readingsStream } from '../../../src/domain/stream-names.ts'
import { retentionMarginMs } from '../../../src/limits.ts'
import { DamagedLog, type EventLog } from '../../../src/log/event-log.ts'
import { passingLog } from '../../support/logs/passing-log.ts'
import { snapshotOf } from '../../support/snapshot.ts'
import { asker, Cluster, cellar, makeTestKey, type TestNode } from '../../support/two-nodes.ts'

const dayMs = 24 * 3_600_000
const oneDayKept = { limit: null, readingAgeMsMax: null, readingAheadMsMax: null, retentionMs: dayMs }

const keep = async (node: TestNode, retentionMs: number | null): Promise<void> => {
  const changed = await node.schedule.until(
    node.core.cellars.changePolicy(cellar, { ...oneDayKept, retentionMs }, asker),
  )
  expect(changed.ok).toBe(true)
}

/** The key has three readings, a fence from its suspension, and two readings of the next day. */
const openWithReadings = async () => {
  const cluster = new Cluster()
  const node = await cluster.open()
  const keyId = await makeTestKey(node)
  await keep(node, dayMs)
  await node.post(keyId, 3)
  await node.schedule.until(node.core.keys.suspend(keyId, '', asker))
  await node.schedule.until(node.core.keys.resume(keyId, '', asker))
  cluster.clock.advance(dayMs)
  await node.post(keyId, 2)
  node.late.deliver()
  return { cluster, node, keyId }
}

/**
 * Sets the clock to the time from which readings of the first `days` days may be purged. A sweep does not trust a clock that
 * jumps further than a day. So each node first sweeps one day before that time.
 */
const passDays = async ({ clock }: Cluster, days: number, ...nodes: readonly TestNode[]): Promise<void> => {
  const startOfTests = Date.UTC(2026, 2, 1)
  clock.set(startOfTests + days * dayMs + retentionMarginMs)
  for (const node of nodes) await sweep(node)
  clock.set(startOfTests + (days + 1) * dayMs + retentionMarginMs)
}

const sweep = async (node: TestNode): Promise<void> => {
  await node.schedule.until(node.core.sweep())
  node.late.deliver()
}
const purgesIn = async ({ log }: Cluster): Promise<readonly RecordedEvent[]> =>
  (await log.read(cellarStream(cellar), { limit: 1_000 })).filter(({ type }) => type === 'ReadingsPurged')
const revisionsOf = async ({ log }: Cluster, keyId: string): Promise<readonly number[]> =>
  (await log.read(readingsStream(keyId), { limit: 1_000 })).map(({ revision }) => revision)

describe('a sweep', () => {
  test('purges old readings, and records it in the stream of the cellar', async () => {
    const { cluster, node, keyId } = await openWithReadings()
    await passDays(cluster, 1, node)
    await sweep(node)
    expect(await revisionsOf(cluster, keyId)).toEqual([4, 5])
    const [purged, ...others] = await purgesIn(cluster)
    expect(others).toEqual([])
    expect(purged).toMatchObject({
      data: {
        cellar,
        keyId,
        firstRevision: 0,
        lastRevision: 3,
        readings: 3,
        acceptedBefore: Date.UTC(2026, 2, 2),
        lastAcceptedAt: Date.UTC(2026, 2, 1, 12),
      },
      metadata: { by: { kind: 'system' } },
    })
    expect(node.core.projections.readings.usage(keyId)).toMatchObject({
      accepted: 5,
      lastUsedAt: Date.UTC(2026, 2, 2, 12),
    })
    expect(node.bugs).toEqual([])
  })

  test('purges nothing one millisecond before its time', async () => {
    const { cluster, node, keyId } = await openWithReadings()
    await passDays(cluster, 1, node)
    cluster.clock.advance(-1)
    await sweep(node)
    expect(await purgesIn(cluster)).toEqual([])
    expect(await revisionsOf(cluster, keyId)).toEqual([0, 1, 2, 3, 4, 5])
  })

  test('keeps the last reading of every key, however old, and newer ones', async () => {
    const { cluster, node, keyId } = await openWithReadings()
    await node.schedule.until(node.core.keys.revoke(keyId, 'lost', asker))
    node.late.deliver()
    await passDays(cluster, 400, node)
    for (let time = 0; time < 3; time += 1) {
      await sweep(node)
      cluster.clock.advance(dayMs)
    }
    const left = await cluster.log.read(readingsStream(keyId), { limit: 10 })
    expect(left.map(({ type }) => type)).toEqual(['ReadingAccepted', 'ReadingsSealed'])
    expect(await purgesIn(cluster)).toHaveLength(1)
    expect(node.core.projections.readings.usage(keyId)).toMatchObject({ accepted: 5 })
  })

  test('purges nothing without retention, or of an unused key', async () => {
    const { cluster, node } = await openWithReadings()
    await makeTestKey(node)
    await keep(node, null)
    await passDays(cluster, 400, node)
    await sweep(node)
    expect(await purgesIn(cluster)).toEqual([])
    await keep(node, dayMs)
    await sweep(node)
    expect(await purgesIn(cluster)).toHaveLength(1)
  })

  test('goes on where the last one ended, a day at a time', async () => {
    const { cluster, node, keyId } = await openWithReadings()
    await passDays(cluster, 1, node)
    await sweep(node)
    await node.post(keyId, 1)
    node.late.deliver()
    await passDays(cluster, 2, node)
    await sweep(node)
    await sweep(node)
    expect((await purgesIn(cluster)).map(({ data }) => data)).toMatchObject([
      { firstRevision: 0, lastRevision: 3, readings: 3 },
      { firstRevision: 4, lastRevision: 5, readings: 2 },
    ])
    expect(await revisionsOf(cluster, keyId)).toEqual([6])
    expect(node.core.projections.readings.usage(keyId)?.accepted).toBe(6)
  })

  test('records many keys in several appends', async () => {
    const cluster = new Cluster()
    const node = await cluster.open()
    const keyIds: string[] = []
    for (let number = 0; number <= purgesPerAppendMax; number += 1) keyIds.push(await makeTestKey(node))
    await keep(node, dayMs)
    for (const keyId of keyIds) await node.post(keyId, 2)
    node.late.deliver()
    await passDays(cluster, 1, node)
    await sweep(node)
    expect(await purgesIn(cluster)).toHaveLength(keyIds.length)
    for (const keyId of keyIds) expect(await revisionsOf(cluster, keyId)).toEqual([1])
  })

  test('records nothing under a policy that has changed meanwhile', async () => {
    const { cluster, node, keyId } = await openWithReadings()
    const other = await cluster.open()
    await passDays(cluster, 1, node)
    const held = node.faults.hold('before')
    const sweeping = node.core.sweep()
    await node.schedule.quiet()
    expect(held.waiting).toBe(1)
    await keep(other, 2 * dayMs)
    held.release()
    await node.schedule.until(sweeping)
    await sweep(node)
    expect(await purgesIn(cluster)).toEqual([])
    await passDays(cluster, 2, node)
    await sweep(node)
    expect(await revisionsOf(cluster, keyId)).toEqual([4, 5])
  })

  test('leaves the same state after a restart', async () => {
    const { cluster, node, keyId } = await openWithReadings()
    await passDays(cluster, 1, node)
    await sweep(node)
    await node.post(keyId, 1)
    node.late.deliver()
    const restarted = await cluster.open()
    const events = await cluster.all()
    const now = cluster.clock.now()
    expect(snapshotOf(restarted.core.projections, events, now)).toEqual(snapshotOf(node.core.projections, events, now))
  })
})

describe('two nodes that sweep at once', () => {
  test('purge once, and the slower one does nothing', async () => {
    const { cluster, node, keyId } = await openWithReadings()
    const other = await cluster.open()
    await sweep(other)
    await passDays(cluster, 1, node)
    const held = [node.faults.hold('before'), other.faults.hold('before')]
    const sweeps = Promise.all([node.core.sweep(), other.core.sweep()])
    await node.schedule.quiet()
    expect(held.map(({ waiting }) => waiting)).toEqual([1, 1])
    for (const { release } of held) release()
    await sweeps
    expect(await purgesIn(cluster)).toHaveLength(1)
    expect(await revisionsOf(cluster, keyId)).toEqual([4, 5])
    for (const { core, late, bugs } of [node, other]) {
      late.deliver()
      expect(core.projections.readings.usage(keyId)?.accepted).toBe(5)
      expect(bugs).toEqual([])
    }
  })
})

describe('a crash during a purge', () => {
  test('before the record leaves every reading', async () => {
    const { cluster, node, keyId } = await openWithReadings()
    await passDays(cluster, 1, node)
    node.faults.failAppend({ fault: 'not_written', thenAway: true })
    await sweep(node)
    expect(await purgesIn(cluster)).toEqual([])
    expect(await revisionsOf(cluster, keyId)).toEqual([0, 1, 2, 3, 4, 5])
  })

  const finishers = {
    'another node': (cluster: Cluster, other: TestNode) => {
      other.late.deliver()
      return other.schedule.until(other.core.sweep()).then(() => cluster)
    },
    'its next start': async (cluster: Cluster) => {
      const { core, schedule } = await cluster.open()
      await schedule.until(core.sweep())
      return cluster
    },
  }
  for (const [who, finish] of Object.entries(finishers)) {
    test(`after the record leaves the truncation to ${who}`, async () => {
      const { cluster, node, keyId } = await openWithReadings()
      const other = await cluster.open()
      await other.schedule.until(other.core.sweep())
      await passDays(cluster, 1, node)
      node.faults.failAppend({ fault: 'unknown_written', thenAway: true })
      void node.core.sweep()
      await node.schedule.quiet()
      expect(await purgesIn(cluster)).toHaveLength(1)
      expect(await revisionsOf(cluster, keyId)).toEqual([0, 1, 2, 3, 4, 5])
      await finish(cluster, other)
      expect(await revisionsOf(cluster, keyId)).toEqual([4, 5])
      expect(await purgesIn(cluster)).toHaveLength(1)
    })
  }
})

describe('a key after a purge', () => {
  test('goes on at its next revision on every node', async () => {
    const { cluster, node, keyId } = await openWithReadings()
    const other = await cluster.open()
    await passDays(cluster, 1, node)
    await sweep(node)
    for (const [at, revision] of [
      [node, 6],
      [other, 7],
      [await cluster.open(), 8],
    ] as const) {
      expect(await at.post(keyId)).toMatchObject([{ ok: true, value: { first: revision } }])
      expect(at.bugs).toEqual([])
    }
  })

  test('has the same window as before', async () => {
    const limit = { readings: 2_500, windowMs: dayMs }
    const cluster = new Cluster()
    const node = await cluster.open()
    const keyId = await makeTestKey(node, { limit })
    await keep(node, dayMs)
    await node.post(keyId, 1_500)
    await passDays(cluster, 1, node)
    // The readings fill more than one page, so a start must find the beginning of the rate window by binary search.
    await node.post(keyId, 2_400)
    node.late.deliver()
    await sweep(node)
    expect((await revisionsOf(cluster, keyId))[0]).toBe(1_500)
    const restarted = await cluster.open()
    expect((await restarted.post(keyId, 101)).filter(({ ok }) => ok)).toHaveLength(100)
  })

  test('is loaded again by a node that missed purged readings', async () => {
    const { cluster, node, keyId } = await openWithReadings()
    const other = await cluster.open()
    expect(await other.post(keyId)).toMatchObject([{ ok: true }])
    await node.post(keyId, 3)
    node.late.deliver()
    cluster.clock.advance(dayMs)
    await node.post(keyId, 2)
    node.late.deliver()
    await passDays(cluster, 2, node)
    await sweep(node)
    expect((await revisionsOf(cluster, keyId))[0]).toBe(10)
    expect(await other.post(keyId)).toMatchObject([{ ok: true, value: { first: 12 } }])
    expect(other.bugs).toEqual([])
  })
})

describe('damaged readings of one key', () => {
  test.each(['read', 'truncate'] as const)('do not stop the purge of other keys when they are %s', async (damaged) => {
    const cluster = new Cluster()
    const { log } = cluster
    let broken = ''
    const assertSound = (call: string, stream: string): void => {
      if (call !== damaged || stream !== readingsStream(broken)) return
      throw new DamagedLog({ stream, revision: 0, position: null }, 'a planned fault')
    }
    const damagedLog: EventLog = {
      ...passingLog(log),
      read: async (stream, options) => {
        assertSound('read', stream)
        return log.read(stream, options)
      },
      truncate: async (stream, before) => {
        assertSound('truncate', stream)
        return log.truncate(stream, before)
      },
    }
    const node = await cluster.open({}, damagedLog)
    const keyIds = [await makeTestKey(node), await makeTestKey(node), await makeTestKey(node)]
    await keep(node, dayMs)
    for (const keyId of keyIds) await node.post(keyId, 2)
    node.late.deliver()
    broken = keyIds[0] ?? ''
    await passDays(cluster, 1, node)
    await sweep(node)
    expect(await Promise.all(keyIds.map((keyId) => revisionsOf(cluster, keyId)))).toEqual([[0, 1], [1], [1]])
    expect(node.bugs).toEqual([])
    broken = ''
    cluster.clock.advance(dayMs)
    await sweep(node)
    expect(await revisionsOf(cluster, keyIds[0] ?? '')).toEqual([1])
  })
})

test('The second sweep tells once of readings that are missing without a purge', async () => {
  const { cluster, keyId } = await openWithReadings()
  await cluster.log.truncate(readingsStream(keyId), 2)
  const node = await cluster.open()
  await sweep(node)
  await sweep(node)
  expect(node.bugs.map(String)).toEqual([expect.stringContaining(`Readings of key ${keyId} are missing`)])
  await sweep(node)
  expect(node.bugs).toHaveLength(1)
})

import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { recordsKeptMs } from '../../../src/actors/cellar/record-retention.ts'
import { type OpenCore, openCore } from '../../../src/actors/open-core.ts'
import type { TimesTold } from '../../../src/actors/time/clock-watch.ts'
import type { RecordedEvent } from '../../../src/domain/events.ts'
import { nodesAttentionStream, signInsStream } from '../../../src/domain/stream-names.ts'
import { readPageEventsMax, retentionMarginMs } from '../../../src/limits.ts'
import { type EventLog, Outage } from '../../../src/log/event-log.ts'
import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import { newFolder } from '../../support/cellarbook.ts'
import { startLogServer } from '../../support/log-server/server.ts'
import { openAt } from '../../support/logs/event-store-log.ts'
import { createMemoryLog } from '../../support/logs/memory-log.ts'
import { passingLog } from '../../support/logs/passing-log.ts'
import { keySuspended } from '../../support/logs/sample-events.ts'
import { seededEntropy } from '../../support/seeded-entropy.ts'
import { addOperators, emailOf, fromSomewhere, testPassword } from '../../support/test-operators.ts'
import { type ManualClock, manualClock } from '../../support/time/manual-clock.ts'
import { Cluster } from '../../support/two-nodes.ts'

// The default timeout of 5 s is too short on a busy CPU.
setDefaultTimeout(600_000)

const dayMs = 24 * 3_600_000
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const engines: Readonly<Record<string, () => Promise<EventLog>>> = {
  memory: async () => createMemoryLog(),
  SQLite: async () => {
    const folder = newFolder()
    ends.push(() => folder.remove())
    return openSqliteLog({ dataDir: folder.path })
  },
  EventStoreDB: async () => {
    const server = await startLogServer()
    ends.push(() => server.stop())
    return openAt(server.url)
  },
}

const opened = async (open: () => Promise<EventLog>): Promise<EventLog> => {
  const log = await open()
  ends.push(() => log.close())
  return log
}

type TestNode = { readonly core: OpenCore; readonly bugs: readonly unknown[]; readonly times: readonly TimesTold[] }

const openNode = async (log: EventLog, clock: ManualClock): Promise<TestNode> => {
  const bugs: unknown[] = []
  const times: TimesTold[] = []
  const core = await openCore({
    log,
    clock,
    entropy: seededEntropy(1 + ends.length),
    onBug: (bug) => bugs.push(bug),
    onTimes: (told) => times.push(told),
  })
  ends.push(() => core.drain())
  return { core, bugs, times }
}

const noonMs = Date.UTC(2026, 2, 1, 12)
const dayStartMs = Date.UTC(2026, 2, 2)
/** Records of the first day may be purged from this time on. */
const dueMs = dayStartMs + recordsKeptMs.signins + retentionMarginMs

/** A purge does not look at what a record says, so any event can stand for a sign-in. */
const record = async (log: EventLog, recordedAts: readonly number[]): Promise<void> => {
  for (const recordedAt of recordedAts) {
    const [last] = await log.read(signInsStream, { direction: 'backwards', limit: 1 })
    await log.append(signInsStream, last?.revision ?? 'none', [keySuspended('', recordedAt)])
  }
}
const records = (log: EventLog): Promise<readonly RecordedEvent[]> => log.read(signInsStream, { limit: 1_000 })
const shown = async (log: EventLog) => (await records(log)).map(({ revision, type }) => [revision, type])
const clockAt = (ms: number): ManualClock => {
  const clock = manualClock()
  clock.set(ms)
  return clock
}

const signIn = async ({ core }: { readonly core: OpenCore }, email: string): Promise<void> => {
  const answer = await core.operators.signIn({ email, password: testPassword }, fromSomewhere, 'request')
  if (!answer.ok) throw new Error(answer.refusal.kind)
}

const ofFirstDay = [noonMs, dayStartMs - 1]
const younger = [dayStartMs, dayStartMs + dayMs]

describe('records of sign-ins', () => {
  for (const [engine, open] of Object.entries(engines)) {
    test(`are purged by days after 30 days, and leave a record: ${engine}`, async () => {
      const log = await opened(open)
      await record(log, [...ofFirstDay, ...younger])
      const { core, bugs } = await openNode(log, clockAt(dueMs))
      await core.sweep()
      expect(await shown(log)).toEqual([
        [2, 'KeySuspended'],
        [3, 'KeySuspended'],
        [4, 'RecordsPurged'],
      ])
      expect((await records(log)).at(-1)).toMatchObject({
        recordedAt: dueMs,
        data: { firstRevision: 0, lastRevision: 1, recordedBefore: dayStartMs },
        metadata: { by: { kind: 'system' } },
      })
      expect(await log.read(signInsStream, { from: 0, limit: 1 })).toMatchObject([{ revision: 2 }])
      expect(await log.append(signInsStream, 0, [keySuspended()])).toMatchObject({ outcome: 'conflict' })
      expect(bugs).toEqual([])
    })

    test(`stay a millisecond longer than that: ${engine}`, async () => {
      const log = await opened(open)
      await record(log, [...ofFirstDay, ...younger])
      const { core } = await openNode(log, clockAt(dueMs - 1))
      await core.sweep()
      expect((await shown(log)).map(([revision]) => revision)).toEqual([0, 1, 2, 3])
    })

    test(`are truncated by the next run after a crash: ${engine}`, async () => {
      const log = await opened(open)
      await record(log, [...ofFirstDay, ...younger])
      const purged = { firstRevision: 0, lastRevision: 1, recordedBefore: dayStartMs }
      await log.append(signInsStream, 3, [{ ...keySuspended('', dueMs), type: 'RecordsPurged', data: purged }])
      const { core } = await openNode(log, clockAt(dueMs))
      await core.sweep()
      expect((await shown(log)).map(([revision]) => revision)).toEqual([2, 3, 4])
    })
  }

  test('are purged once by two nodes', async () => {
    const log = await opened(async () => createMemoryLog())
    await record(log, [...ofFirstDay, ...younger])
    const clock = clockAt(dueMs - dayMs)
    const nodes = [await openNode(log, clock), await openNode(log, clock)]
    await Promise.all(nodes.map(({ core }) => core.sweep()))
    clock.set(dueMs)
    for (let sweep = 0; sweep < 2; sweep += 1) await Promise.all(nodes.map(({ core }) => core.sweep()))
    expect((await records(log)).filter(({ type }) => type === 'RecordsPurged')).toHaveLength(1)
    expect(nodes.flatMap(({ bugs }) => bugs)).toEqual([])
  })

  test('are purged by the next sweep when a sign-in came between', async () => {
    const inner = await opened(async () => createMemoryLog())
    await record(inner, [...ofFirstDay, ...younger])
    let isBetween = true
    const log: EventLog = {
      ...passingLog(inner),
      append: async (stream, expected, events) => {
        if (stream === signInsStream && isBetween) {
          isBetween = false
          await record(inner, [dueMs])
        }
        return inner.append(stream, expected, events)
      },
    }
    const { core } = await openNode(log, clockAt(dueMs))
    await core.sweep()
    expect(await records(inner)).toHaveLength(5)
    await core.sweep()
    expect((await shown(inner)).map(([revision]) => revision)).toEqual([2, 3, 4, 5])
  })

  test('are purged by the next sweep when the store was away', async () => {
    const inner = await opened(async () => createMemoryLog())
    await record(inner, [...ofFirstDay, ...younger])
    let isAway = true
    const log: EventLog = {
      ...passingLog(inner),
      truncate: (...args) => {
        if (!isAway) return inner.truncate(...args)
        isAway = false
        throw new Outage('away', 'not_written', 'unavailable')
      },
    }
    const { core, bugs } = await openNode(log, clockAt(dueMs))
    await core.sweep()
    expect((await records(inner)).map(({ revision }) => revision)).toEqual([0, 1, 2, 3, 4])
    await core.sweep()
    expect((await records(inner)).map(({ revision }) => revision)).toEqual([2, 3, 4])
    expect(bugs).toEqual([])
  })

  test('are purged together with an old RecordsPurged', async () => {
    const log = await opened(async () => createMemoryLog())
    await record(log, ofFirstDay)
    await (await openNode(log, clockAt(dueMs))).core.sweep()
    expect(await shown(log)).toEqual([[2, 'RecordsPurged']])
    await record(log, [dueMs])
    await (await openNode(log, clockAt(dueMs + recordsKeptMs.signins + 2 * dayMs))).core.sweep()
    expect(await shown(log)).toEqual([[4, 'RecordsPurged']])
    expect((await records(log))[0]?.data).toMatchObject({ firstRevision: 2, lastRevision: 3 })
  })

  test('of attention are purged but for the last, if it has lines', async () => {
    const log = await opened(async () => createMemoryLog())
    const { metadata } = keySuspended()
    const append = async (lines: number) => {
      const now = Array.from({ length: lines }, () => ({ kind: 'disk_fills' as const, sinceMs: noonMs }))
      const data = { cellar: null, began: [], ended: [], now, more: 0 }
      const event = { id: crypto.randomUUID(), type: 'AttentionChanged' as const, recordedAt: noonMs, data, metadata }
      const [last] = await log.read(nodesAttentionStream, { direction: 'backwards', limit: 1 })
      await log.append(nodesAttentionStream, last?.revision ?? 'none', [event])
    }
    const left = async () => {
      await (await openNode(log, clockAt(dueMs))).core.sweep()
      return (await log.read(nodesAttentionStream, { limit: 10 })).map(({ revision, type }) => `${revision} ${type}`)
    }
    for (const lines of [1, 0, 1]) await append(lines)
    for (const _ of [1, 2]) expect(await left()).toEqual(['2 AttentionChanged', '3 RecordsPurged'])
    await append(0)
    expect(await left()).toEqual(['5 RecordsPurged'])
  })

  test('leave one RecordsPurged, which is not purged alone', async () => {
    const log = await opened(async () => createMemoryLog())
    await record(log, ofFirstDay)
    for (const days of [0, 32, 64]) {
      await (await openNode(log, clockAt(dueMs + days * dayMs))).core.sweep()
      expect(await shown(log)).toEqual([[2, 'RecordsPurged']])
    }
  })

  test('stay while the clock is in doubt', async () => {
    const log = await opened(async () => createMemoryLog())
    await record(log, [...ofFirstDay, ...younger])
    const clock = clockAt(noonMs)
    const { core } = await openNode(log, clock)
    await core.sweep()
    clock.set(dueMs)
    await core.sweep()
    expect(await records(log)).toHaveLength(4)
    for (let hour = 0; hour < 24; hour += 1) {
      clock.advance(3_600_000)
      await core.sweep()
    }
    expect((await records(log)).map(({ type }) => type)).toEqual(['KeySuspended', 'RecordsPurged'])
  })

  test('cost two reads for each day, however often a node sweeps', async () => {
    const inner = await opened(async () => createMemoryLog())
    await record(inner, younger)
    let reads = 0
    const log: EventLog = {
      ...passingLog(inner),
      read: (stream, options) => {
        if (stream === signInsStream) reads += 1
        return inner.read(stream, options)
      },
    }
    const clock = clockAt(dueMs)
    const { core } = await openNode(log, clock)
    for (let sweep = 0; sweep < 10; sweep += 1) await core.sweep()
    expect(reads).toBe(2)
    clock.advance(dayMs - 1)
    await core.sweep()
    expect(reads).toBe(2)
    clock.advance(1)
    await core.sweep()
    expect(reads).toBeGreaterThan(2)
  })

  test('are found on any page, and so is the last purge', async () => {
    const log = await opened(async () => createMemoryLog())
    const old = readPageEventsMax + 1
    const events = (count: number, recordedAt: number) =>
      Array.from({ length: count }, () => keySuspended('', recordedAt))
    await log.append(signInsStream, 'none', events(old, noonMs))
    const purged = { firstRevision: 0, lastRevision: 9, recordedBefore: dayStartMs }
    await log.append(signInsStream, old - 1, [{ ...keySuspended('', dueMs - 1), type: 'RecordsPurged', data: purged }])
    await log.append(signInsStream, old, events(readPageEventsMax, dueMs))
    await (await openNode(log, clockAt(dueMs))).core.sweep()
    const [first] = await log.read(signInsStream, { limit: 1 })
    const [last] = await log.read(signInsStream, { direction: 'backwards', limit: 1 })
    expect(first).toMatchObject({ revision: old, type: 'RecordsPurged' })
    expect(last).toMatchObject({ type: 'RecordsPurged', data: { firstRevision: 10, lastRevision: old - 1 } })
  })

  test('without a readable time stay until an older record follows', async () => {
    const inner = await opened(async () => createMemoryLog())
    await record(inner, [noonMs, 0, dayStartMs])
    await (await openNode(inner, clockAt(dueMs))).core.sweep()
    expect((await shown(inner)).map(([revision]) => revision)).toEqual([1, 2, 3])
    await (await openNode(inner, clockAt(dueMs + dayMs))).core.sweep()
    expect((await shown(inner)).map(([revision]) => revision)).toEqual([3, 4])
  })

  test('from a clock that had not been set purge no younger ones', async () => {
    const log = await opened(async () => createMemoryLog())
    await record(log, [dayStartMs, dayMs, dayMs, dayStartMs + dayMs])
    await (await openNode(log, clockAt(dueMs))).core.sweep()
    expect((await shown(log)).map(([revision]) => revision)).toEqual([0, 1, 2, 3])
    await (await openNode(log, clockAt(dueMs + dayMs))).core.sweep()
    expect((await shown(log)).map(([revision]) => revision)).toEqual([3, 4])
  })

  test('are found behind many records from a clock far ahead', async () => {
    const log = await opened(async () => createMemoryLog())
    const ahead = Array.from({ length: 2 * readPageEventsMax }, () => keySuspended('', dueMs + 3_650 * dayMs))
    await log.append(signInsStream, 'none', ahead)
    await record(log, ofFirstDay)
    await (await openNode(log, clockAt(dueMs))).core.sweep()
    expect(await shown(log)).toEqual([[2 * readPageEventsMax + 2, 'RecordsPurged']])
  })

  for (const daysAhead of [2, 10, 29, 31, 3_650]) {
    test(`are purged in time, despite one from ${daysAhead} days ahead`, async () => {
      const cluster = new Cluster()
      cluster.clock.set(noonMs)
      await addOperators(cluster.log, noonMs)
      const ahead = await cluster.open({ skewMs: daysAhead * dayMs })
      const node = await cluster.open()
      await signIn(ahead, emailOf.auditor)
      await signIn(node, emailOf.admin)
      expect((await records(cluster.log)).map(({ recordedAt }) => recordedAt)).toEqual([
        noonMs + daysAhead * dayMs,
        noonMs,
      ])
      for (let at = noonMs + dayMs; at < dueMs; at += dayMs) {
        cluster.clock.set(at)
        await node.core.sweep()
      }
      expect(await records(cluster.log)).toHaveLength(2)
      cluster.clock.set(dueMs)
      await node.core.sweep()
      expect((await records(cluster.log)).map(({ revision, type }) => [revision, type])).toEqual([[2, 'RecordsPurged']])
      expect(node.bugs).toEqual([])
    })
  }
})

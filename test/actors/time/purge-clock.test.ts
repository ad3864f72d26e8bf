import { describe, expect, test } from 'bun:test'
import { openCore } from '../../../src/actors/open-core.ts'
import type { TimesTold } from '../../../src/actors/time/clock-watch.ts'
import { clockDoubtMs, clockLeapMsMax, PurgeClock } from '../../../src/actors/time/purge-clock.ts'
import { readingsStream } from '../../../src/domain/stream-names.ts'
import { seededEntropy } from '../../support/seeded-entropy.ts'
import { drivenSchedule } from '../../support/time/driven-schedule.ts'
import { asker, Cluster, cellar, makeTestKey, type TestNode } from '../../support/two-nodes.ts'

const dayMs = 24 * 3_600_000
const minuteMs = 60_000

describe('PurgeClock', () => {
  test('believes a clock up to a day ahead of the newest event', () => {
    expect(new PurgeClock(0).doubtedBy(clockLeapMsMax)).toBe(0)
    expect(new PurgeClock(0).doubtedBy(clockLeapMsMax + 1)).toBe(clockLeapMsMax + 1)
  })

  test('believes a clock that goes on in steps of a day', () => {
    const clock = new PurgeClock(0)
    for (let day = 1; day <= 400; day += 1) expect(clock.doubtedBy(day * clockLeapMsMax)).toBe(0)
    expect(clock.doubtedBy(401 * clockLeapMsMax + 1)).toBeGreaterThan(0)
  })

  test('believes a clock at once when it is back, or behind', () => {
    const clock = new PurgeClock(0)
    expect(clock.doubtedBy(40 * dayMs)).toBe(40 * dayMs)
    expect(clock.doubtedBy(minuteMs)).toBe(0)
    expect(clock.doubtedBy(-40 * dayMs)).toBe(0)
    expect(clock.doubtedBy(minuteMs)).toBe(40 * dayMs + minuteMs)
  })

  test('believes a leap that has stayed for a day, not a millisecond earlier', () => {
    const clock = new PurgeClock(0)
    const leapt = 40 * dayMs
    expect(clock.doubtedBy(leapt)).toBeGreaterThan(0)
    expect(clock.doubtedBy(leapt + clockDoubtMs - 1)).toBeGreaterThan(0)
    expect(clock.doubtedBy(leapt + clockDoubtMs)).toBe(0)
    expect(clock.doubtedBy(leapt + clockDoubtMs + minuteMs)).toBe(0)
  })

  test('doubts a clock again that leaps again, or comes back too little', () => {
    for (const other of [80 * dayMs, 20 * dayMs]) {
      const clock = new PurgeClock(0)
      clock.doubtedBy(40 * dayMs)
      clock.doubtedBy(40 * dayMs + clockDoubtMs / 2)
      expect(clock.doubtedBy(other)).toBeGreaterThan(0)
      expect(clock.doubtedBy(other + clockDoubtMs - 1)).toBeGreaterThan(0)
      expect(clock.doubtedBy(other + clockDoubtMs)).toBe(0)
    }
  })
})

/** Makes a key with ten readings, one per day. If `retentionMs` is `null`, readings are kept for ever. */
const openWithReadings = async (retentionMs: number | null = 30 * dayMs) => {
  const cluster = new Cluster()
  const node = await cluster.open()
  const keyId = await makeTestKey(node)
  if (retentionMs !== null) await node.schedule.until(node.core.cellars.changePolicy(cellar, { retentionMs }, asker))
  for (let day = 0; day < 10; day += 1) {
    await node.post(keyId)
    node.late.deliver()
    await node.schedule.until(node.core.sweep())
    cluster.clock.advance(dayMs)
  }
  const left = async () => (await cluster.log.read(readingsStream(keyId), { limit: 20 })).length
  return { cluster, node, left }
}
const sweep = ({ schedule, core }: TestNode): Promise<void> => schedule.until(core.sweep())

describe('a sweep', () => {
  test('purges nothing while the clock is ahead, and tells of it once', async () => {
    const { cluster, node, left } = await openWithReadings()
    cluster.clock.advance(40 * dayMs)
    await sweep(node)
    await sweep(node)
    cluster.clock.advance(-40 * dayMs)
    expect(node.times).toMatchObject([{ kind: 'doubted', byMs: expect.any(Number) }])
    await sweep(node)
    await sweep(node)
    expect(node.times.map(({ kind }) => kind)).toEqual(['doubted', 'doubted_no_more'])
    expect(await left()).toBe(10)
  })

  test('purges nothing when the clock of a start is ahead of the log', async () => {
    const { cluster, left } = await openWithReadings()
    const ahead = await cluster.open({ skewMs: 40 * dayMs })
    await sweep(ahead)
    expect(await left()).toBe(10)
    expect(ahead.times.map(({ kind }) => kind)).toEqual(['doubted'])
  })

  test('does not count events that this start wrote itself', async () => {
    const { cluster, node, left } = await openWithReadings()
    const keyId = await makeTestKey(node)
    node.faults.failAppend({ fault: 'unknown_written', nth: 1, thenAway: true })
    void node.core.keys.revoke(keyId, '', asker)
    await node.schedule.quiet()
    const clock = { ...cluster.clock, now: () => cluster.clock.now() + 40 * dayMs }
    const times: TimesTold[] = []
    const onTimes = (told: TimesTold) => times.push(told)
    const schedule = drivenSchedule()
    // A node that `cluster.open` starts hears of its own events late. This node must hear of them at once, so `openCore` starts
    // it.
    const ahead = await openCore({ log: cluster.log, clock, entropy: seededEntropy(99), schedule, onTimes })
    const [sealed] = await cluster.log.readAll({ direction: 'backwards', limit: 1 })
    expect(sealed?.recordedAt).toBe(clock.now())
    await schedule.until(ahead.sweep())
    expect(await left()).toBe(10)
    expect(times.map(({ kind }) => kind)).toEqual(['doubted'])
  })

  test('purges a day late after a long time without events', async () => {
    const { cluster, left } = await openWithReadings()
    cluster.clock.advance(60 * dayMs)
    const later = await cluster.open()
    await sweep(later)
    expect(await left()).toBe(10)
    cluster.clock.advance(dayMs)
    await sweep(later)
    expect(await left()).toBe(1)
  })

  test('is silent about the clock without retention', async () => {
    const { cluster, node } = await openWithReadings(null)
    cluster.clock.advance(40 * dayMs)
    await sweep(node)
    expect(node.times).toEqual([])
  })
})

import { describe, expect, test } from 'bun:test'
import { openCore } from '../../../src/actors/open-core.ts'
import type { TimesTold } from '../../../src/actors/time/clock-watch.ts'
import { PurgeClock } from '../../../src/actors/time/purge-clock.ts'
import { readingsStream } from '../../../src/domain/stream-names.ts'
import { checkpointEventsMin, clockDoubtMs, clockLeapMsMax } from '../../../src/limits.ts'
import { ensureLogCreated } from '../../../src/log/log-identity.ts'
import { drivenSchedule } from '../../support/driven-schedule.ts'
import { MemoryCheckpoints } from '../../support/logs/memory-checkpoints.ts'
import { seededEntropy } from '../../support/seeded-entropy.ts'
import { asker, Cluster, cellar, makeTestKey, type TestNode } from '../../support/two-nodes.ts'

const dayMs = 24 * 3_600_000
const minuteMs = 60_000

describe('a clock that says what goes for good', () => {
  test('is believed up to a day ahead of the newest event in the log, and not a millisecond further', () => {
    expect(new PurgeClock(0).doubtedBy(clockLeapMsMax)).toBe(0)
    expect(new PurgeClock(0).doubtedBy(clockLeapMsMax + 1)).toBe(clockLeapMsMax + 1)
  })

  test('is believed for as long as it goes on in steps of a day at the most', () => {
    const clock = new PurgeClock(0)
    for (let day = 1; day <= 400; day += 1) expect(clock.doubtedBy(day * clockLeapMsMax)).toBe(0)
    expect(clock.doubtedBy(401 * clockLeapMsMax + 1)).toBeGreaterThan(0)
  })

  test('is believed at once when it is back, also from before', () => {
    const clock = new PurgeClock(0)
    expect(clock.doubtedBy(40 * dayMs)).toBe(40 * dayMs)
    expect(clock.doubtedBy(minuteMs)).toBe(0)
    expect(clock.doubtedBy(-40 * dayMs)).toBe(0)
    expect(clock.doubtedBy(minuteMs)).toBe(40 * dayMs + minuteMs)
  })

  test('is believed once it has stood by its leap for a day, and not a millisecond earlier', () => {
    const clock = new PurgeClock(0)
    const leapt = 40 * dayMs
    expect(clock.doubtedBy(leapt)).toBeGreaterThan(0)
    expect(clock.doubtedBy(leapt + clockDoubtMs - 1)).toBeGreaterThan(0)
    expect(clock.doubtedBy(leapt + clockDoubtMs)).toBe(0)
    expect(clock.doubtedBy(leapt + clockDoubtMs + minuteMs)).toBe(0)
  })

  test('is doubted anew when it leaps again, or goes back to what is still too far', () => {
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

/** A key with a reading of each of ten days, of a cellar that keeps them for thirty, or for ever. */
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
  test('with a clock that is ahead for a moment purges nothing, and says once that it does not and once that it does again', async () => {
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

  test('of a start whose clock is ahead of everything in the log purges nothing', async () => {
    const { cluster, left } = await openWithReadings()
    const ahead = await cluster.open({ skewMs: 40 * dayMs })
    await sweep(ahead)
    expect(await left()).toBe(10)
    expect(ahead.times.map(({ kind }) => kind)).toEqual(['doubted'])
  })

  test('of a start does not go by what that very start has written', async () => {
    const { cluster, node, left } = await openWithReadings()
    const keyId = await makeTestKey(node)
    node.faults.failAppend({ fault: 'unknown_written', nth: 1, thenAway: true })
    void node.core.keys.revoke(keyId, '', asker)
    await node.schedule.quiet()
    const clock = { ...cluster.clock, now: () => cluster.clock.now() + 40 * dayMs }
    const times: TimesTold[] = []
    const onTimes = (told: TimesTold) => times.push(told)
    const schedule = drivenSchedule()
    // Not one of the cluster's nodes: it hears at once of what it writes.
    const ahead = await openCore({ log: cluster.log, clock, entropy: seededEntropy(99), schedule, onTimes })
    const [sealed] = await cluster.log.readAll({ direction: 'backwards', limit: 1 })
    expect(sealed?.recordedAt).toBe(clock.now())
    await schedule.until(ahead.sweep())
    expect(await left()).toBe(10)
    expect(times.map(({ kind }) => kind)).toEqual(['doubted'])
  })

  test('of a start whose checkpoint has folded everything in the log goes by the last of it', async () => {
    const { cluster, left } = await openWithReadings()
    await ensureLogCreated(cluster.log, cluster.clock, seededEntropy(99))
    const checkpoints = new MemoryCheckpoints()
    const first = await cluster.open({ checkpoints })
    await first.post(await makeTestKey(first), checkpointEventsMin)
    first.late.deliver()
    await first.schedule.until(first.core.drain())
    expect(checkpoints.writes).toBe(1)
    const ahead = await cluster.open({ skewMs: 40 * dayMs, checkpoints })
    await sweep(ahead)
    expect(await left()).toBe(10)
    expect(ahead.times.map(({ kind }) => kind)).toEqual(['doubted'])
  })

  test('of a site where nothing happened for long purges a day late', async () => {
    const { cluster, left } = await openWithReadings()
    cluster.clock.advance(60 * dayMs)
    const later = await cluster.open()
    await sweep(later)
    expect(await left()).toBe(10)
    cluster.clock.advance(dayMs)
    await sweep(later)
    expect(await left()).toBe(1)
  })

  test('says nothing of the clock where everything is kept', async () => {
    const { cluster, node } = await openWithReadings(null)
    cluster.clock.advance(40 * dayMs)
    await sweep(node)
    expect(node.times).toEqual([])
  })
})

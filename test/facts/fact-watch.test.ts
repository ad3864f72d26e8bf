import { describe, expect, test } from 'bun:test'
import type { BackupFact } from '../../src/facts/declare-fact.ts'
import { FactWatch, minuteStepMs } from '../../src/facts/fact-watch.ts'
import { Histogram, latencyBounds } from '../../src/histogram.ts'
import { heartbeatMs } from '../../src/limits.ts'
import { drivenSchedule } from '../support/time/driven-schedule.ts'

const gibibyte = 1024 ** 3
const hourMs = 3_600_000

const watching = () => {
  const schedule = drivenSchedule()
  const backup: { last: BackupFact | null } = { last: null }
  const node = { stored: 0, freeBytes: 100 * gibibyte, hasDisk: true, heldMs: 0 }
  const storeSeconds = new Histogram(latencyBounds)
  const watch = new FactWatch(
    {
      storedReadings: () => node.stored,
      storeSeconds,
      disk: () =>
        node.hasDisk ? { freeBytes: node.freeBytes, reserveBytes: gibibyte, logBytes: 1, walBytes: 1 } : null,
      lastBackup: async () => backup.last,
    },
    schedule,
    () => schedule.nowMs + node.heldMs,
  )
  return { schedule, node, backup, storeSeconds, watch }
}

describe('FactWatch', () => {
  test('counts the readings of the last minute alone, and their latency', async () => {
    const { schedule, node, storeSeconds, watch } = watching()
    node.stored = 1_000
    storeSeconds.observe(4)
    await schedule.advance(90_000)
    expect(watch.lastMinute).toMatchObject({ stored: 0, p99Seconds: null })
    node.stored += 60
    storeSeconds.observe(0.003)
    const { stored, overMs, p99Seconds } = watch.lastMinute
    expect(stored).toBe(60)
    expect(overMs).toBeGreaterThanOrEqual(50_000)
    expect(overMs).toBeLessThanOrEqual(60_000)
    expect(p99Seconds).toBeGreaterThan(0.002)
    expect(p99Seconds).toBeLessThanOrEqual(0.004)
  })

  test('knows the last backup soon after its end', async () => {
    const { schedule, backup, watch } = watching()
    expect(watch.lastBackup).toBeNull()
    backup.last = { endedAt: 1, lastPosition: 2, bytes: 3, target: '/backups/one.db' }
    await schedule.advance(minuteStepMs + heartbeatMs)
    expect(watch.lastBackup).toEqual(backup.last)
  })

  test('says how late its timer ran, for which all requests have waited', async () => {
    const { schedule, node, watch } = watching()
    await schedule.advance(heartbeatMs)
    expect(watch.loopLagSeconds.sum).toBe(0)
    node.heldMs = 200
    await schedule.advance(heartbeatMs)
    expect(watch.loopLagSeconds.sum).toBeCloseTo(0.2)
  })

  test('says when the disk is full at the rate of the last day', async () => {
    const { schedule, node, watch } = watching()
    await schedule.advance(hourMs - 1)
    expect(watch.diskFullInSeconds).toBeNull()
    await schedule.advance(1 + heartbeatMs)
    expect(watch.diskFullInSeconds).toBe(Number.POSITIVE_INFINITY)
    node.freeBytes -= gibibyte
    // 98 GiB are left above the reserve, at one in an hour.
    expect((watch.diskFullInSeconds ?? 0) / 3_600).toBeCloseTo(98)
    await schedule.advance(30 * hourMs)
    // What was written more than a day ago does not count.
    expect(watch.diskFullInSeconds).toBe(Number.POSITIVE_INFINITY)
  })

  test('uses the rate of the last hour if that fills it within a day', async () => {
    const { schedule, node, watch } = watching()
    const fillFor = async (hours: number, bytesPerHour: number): Promise<void> => {
      for (let minutes = 0; minutes < 60 * hours; minutes += 1) {
        node.freeBytes -= bytesPerHour / 60
        await schedule.advance(60_000)
      }
    }
    const hoursLeft = () => (watch.diskFullInSeconds ?? 0) / 3_600
    await fillFor(1, 2 * gibibyte)
    node.freeBytes += 50 * gibibyte
    await fillFor(2, 2 * gibibyte)
    // 143 GiB are left above the reserve, at 2 in an hour. In the day, space was made.
    expect(hoursLeft()).toBe(Number.POSITIVE_INFINITY)
    await fillFor(20, 0)
    await fillFor(1, 60 * gibibyte)
    // 83 GiB, at 60 in an hour.
    expect(hoursLeft()).toBeGreaterThan(1.3)
    expect(hoursLeft()).toBeLessThan(1.7)
    await fillFor(3, 0)
    // Three hours without growth do not hide what the day has shown.
    expect(hoursLeft()).toBeGreaterThan(20)
    expect(hoursLeft()).toBeLessThan(100)
  })

  test('counts a disk below its reserve as full, and knows nothing without a disk', async () => {
    const { schedule, node, watch } = watching()
    await schedule.advance(hourMs + heartbeatMs)
    node.freeBytes = 1
    expect(watch.diskFullInSeconds).toBe(0)
    node.hasDisk = false
    expect(watch.diskFullInSeconds).toBeNull()
  })
})

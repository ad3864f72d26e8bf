import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { troubleCalmLooks } from '../../../src/limits.ts'
import {
  DiskSpace,
  diskAnswerMsMax,
  diskBytesPerSecondMax,
  diskFreeBytesMin,
  diskLookMs,
  diskLookMsMin,
  diskRecoveryBytes,
  type FileRoom,
} from '../../../src/log/sqlite/disk-space.ts'
import { trimEventsMax } from '../../../src/log/sqlite/sqlite-commits.ts'
import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import { storeWalBytesMax } from '../../../src/log/sqlite/wal-copying.ts'
import { diskReserveBytesDefault } from '../../../src/variables.ts'
import { reading } from '../../support/logs/sample-events.ts'
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary-folder.ts'
import { drivenSchedule } from '../../support/time/driven-schedule.ts'

const reserveBytes = diskReserveBytesDefault
const plenty = 10 * reserveBytes
const calmMs = troubleCalmLooks * diskLookMs

const watched = async (given: {
  free: number
  fault?: Error
  answer?: Promise<number>
  room?: Pick<FileRoom, 'freeBytes' | 'owedBytes'>
  reserveBytes?: number
}) => {
  const schedule = drivenSchedule()
  const disk = { looks: 0, room: { freeBytes: 0, owedBytes: 0 }, ...given }
  const space = new DiskSpace({
    reserveBytes: given.reserveBytes ?? reserveBytes,
    freeBytes: async () => {
      disk.looks += 1
      if (disk.fault !== undefined) throw disk.fault
      return disk.answer ?? disk.free
    },
    fileRoom: () => ({ ...disk.room, logBytes: 5, walBytes: 6 }),
    later: schedule.after,
  })
  await schedule.quiet()
  return { schedule, disk, space }
}

const isShort = async (given: Parameters<typeof watched>[0]): Promise<boolean> =>
  (await watched(given)).space.shortage !== null

describe('DiskSpace', () => {
  test('has no room for readings one byte below the reserve', async () => {
    expect(await isShort({ free: reserveBytes })).toBe(false)
    expect(await isShort({ free: reserveBytes - 1 })).toBe(true)
  })

  test('counts free pages of the file with the free space', async () => {
    const room = { freeBytes: 2_048, owedBytes: 0 }
    expect(await isShort({ free: reserveBytes - 2_048, room })).toBe(false)
    expect(await isShort({ free: reserveBytes - 2_049, room })).toBe(true)
  })

  test('has no room below the least free space, however many pages are free', async () => {
    const room = { freeBytes: 10 * reserveBytes, owedBytes: 0 }
    expect(await isShort({ free: diskFreeBytesMin, room })).toBe(false)
    expect(await isShort({ free: diskFreeBytesMin - 1, room })).toBe(true)
  })

  test('subtracts the growth from copying the write-ahead log', async () => {
    const room = { freeBytes: 0, owedBytes: storeWalBytesMax }
    expect(await isShort({ free: reserveBytes + storeWalBytesMax, room })).toBe(false)
    expect(await isShort({ free: reserveBytes + storeWalBytesMax - 1, room })).toBe(true)
  })

  test('has room again only well above the reserve', async () => {
    const { schedule, disk, space } = await watched({ free: 0 })
    disk.free = reserveBytes + diskRecoveryBytes - 1
    await schedule.advance(2 * calmMs)
    expect(space.shortage).toContain('the disk has 271 MiB free')
    disk.free += 1
    await schedule.advance(calmMs)
    expect(space.shortage).toBeNull()
  })

  test('has room again only after 10 good looks in a row', async () => {
    const { schedule, disk, space } = await watched({ free: 0 })
    for (const free of [plenty, reserveBytes, plenty]) {
      disk.free = free
      await schedule.advance(calmMs - diskLookMs)
      expect(space.shortage).not.toBeNull()
    }
    await schedule.advance(diskLookMs)
    expect(space.shortage).toBeNull()
  })

  test('fails a look after 5 s, and asks no second question', async () => {
    const { schedule, disk, space } = await watched({ free: 0 })
    let answer = (_free: number): void => {}
    disk.answer = new Promise((resolve) => {
      answer = resolve
    })
    await schedule.advance(diskLookMs + diskAnswerMsMax - 1)
    expect([disk.looks, space.fault]).toEqual([2, null])
    await schedule.advance(1)
    expect(space.fault).toBe('the disk did not report its free space within 5 s')
    expect(space.figures).toBeNull()
    expect(space.shortage).toContain('the disk has 0 MiB free')

    // While the disk does not answer, each look at its free space blocks a thread of the runtime. So the log must not look
    // again.
    await schedule.advance(20 * (diskLookMs + diskAnswerMsMax))
    expect([disk.looks, space.fault === null]).toEqual([2, false])
    delete disk.answer
    disk.free = plenty
    answer(plenty)
    await schedule.advance(diskLookMs + calmMs)
    expect([space.shortage, space.fault, space.figures?.freeBytes]).toEqual([null, null, plenty])
  })

  test('waits for no answer after stop()', async () => {
    const { schedule, disk, space } = await watched({ free: plenty })
    disk.answer = new Promise(() => {})
    await schedule.advance(diskLookMs)
    space.stop()
    await schedule.advance(20 * diskAnswerMsMax)
    expect([disk.looks, space.fault]).toEqual([2, null])
  })

  test('looks more often the less space is left', async () => {
    for (const [above, ms] of [
      [10 * diskBytesPerSecondMax, diskLookMs],
      [diskBytesPerSecondMax, diskLookMs],
      [diskBytesPerSecondMax / 2, diskLookMs / 2],
      [diskBytesPerSecondMax / 10, diskLookMs / 10],
      [1, diskLookMsMin],
    ] as const) {
      const { schedule, disk } = await watched({ free: reserveBytes + above })
      await schedule.advance(ms - 1)
      expect({ above, looks: disk.looks }).toEqual({ above, looks: 1 })
      await schedule.advance(1)
      expect({ above, looks: disk.looks }).toEqual({ above, looks: 2 })
    }
  })

  test('keeps half of the least free space between two looks at the fastest rate', () => {
    const betweenLooks = (diskBytesPerSecondMax * diskLookMsMin) / 1_000
    expect(betweenLooks).toBeLessThan(diskFreeBytesMin / 2)
  })

  test('keeps its last answer when a look fails, and tells why', async () => {
    const { schedule, disk, space } = await watched({ free: 0 })
    disk.fault = new Error('ENOSYS')
    await schedule.advance(diskLookMs)
    expect([space.shortage !== null, space.fault]).toEqual([true, 'ENOSYS'])
    delete disk.fault
    disk.free = plenty
    await schedule.advance(calmMs)
    expect([space.shortage, space.fault]).toEqual([null, null])
  })

  test('of a commit that ran out holds until the next look', async () => {
    const { schedule, space } = await watched({ free: plenty })
    space.ranOut('database or disk is full')
    expect(space.shortage).toBe('database or disk is full')
    await schedule.advance(diskLookMs)
    expect(space.shortage).toBeNull()
  })

  test('of a commit that ran out ends with a failed look', async () => {
    const { schedule, disk, space } = await watched({ free: plenty })
    disk.fault = new Error('ENOSYS')
    space.ranOut('database or disk is full')
    await schedule.advance(diskLookMs)
    expect([space.shortage, space.fault]).toEqual([null, 'ENOSYS'])
  })

  test('is not looked at after stop()', async () => {
    const { schedule, disk, space } = await watched({ free: 0 })
    space.stop()
    await schedule.advance(10 * diskLookMs)
    expect(disk.looks).toBe(1)
  })
})

describe('the embedded log on a full disk', () => {
  let folder: TemporaryFolder
  beforeEach(() => {
    folder = temporaryFolder()
  })
  afterEach(() => folder.remove())

  test('reports the size of the file itself, without what the write-ahead log still holds', async () => {
    const schedule = drivenSchedule()
    const freeBytes = async () => plenty
    const log = openSqliteLog({
      dataDir: folder.path,
      diskReserveBytes: reserveBytes,
      freeBytes,
      later: schedule.after,
    })
    const sizeOf = (name: string): number => statSync(join(folder.path, name)).size
    const before = sizeOf('log.db')
    await log.append(
      'readings-one',
      'none',
      Array.from({ length: trimEventsMax }, () => reading('readings-one')),
    )
    await schedule.advance(diskLookMs)
    expect(sizeOf('log.db')).toBe(before)
    expect(log.figures?.().disk).toMatchObject({ logBytes: before, walBytes: sizeOf('log.db-wal') })
    await log.close()
  })

  test('accepts readings after a truncation frees pages', async () => {
    const schedule = drivenSchedule()
    let freeBytes = 10 * reserveBytes
    const open = () =>
      openSqliteLog({
        dataDir: folder.path,
        diskReserveBytes: reserveBytes,
        freeBytes: async () => freeBytes,
        later: schedule.after,
      })
    const first = open()
    const stream = 'readings-one'
    for (let append = 0; append < 40; append += 1) {
      const events = Array.from({ length: trimEventsMax }, () => reading(stream))
      await first.append(stream, append === 0 ? 'none' : append * trimEventsMax - 1, events)
    }
    await first.close()

    freeBytes = reserveBytes - 2_048
    const log = open()
    await schedule.quiet()
    const last = 40 * trimEventsMax - 1
    expect(log.refusesReadings).toBe(true)
    await log.truncate(stream, last)
    freeBytes += diskRecoveryBytes
    await schedule.advance(calmMs)
    expect(log.refusesReadings).toBe(false)
    expect(await log.append(stream, last, [reading(stream)])).toMatchObject({ outcome: 'written' })
    await log.close()
  })
})

import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { askHoursKeptMs, askMinutesKeptMs, askSeenEvictedAtOnce, askSeenRacksMax } from '../../../src/limits.ts'
import { AskChanges, type ChangePart } from '../../../src/log/ask-index/ask-changes.ts'
import { idNumber } from '../../../src/log/ask-index/id-number.ts'
import { type AskChange, AskUnusable } from '../../../src/log/ask-index.ts'
import { seededNumbers } from '../../support/seeded-entropy.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { NaiveIndex, rowsOfFile } from './naive-index.ts'
import {
  changeTo,
  dayMs,
  faultOf,
  foldedAt,
  oneOfEach,
  openedIn,
  placeOf,
  rowsIn,
  todayHour,
  todayMinute,
  todayMs,
  withFile,
} from './sample-change.ts'

setDefaultTimeout(600_000)

const copyOfFiles = (from: string, to: string): string => {
  mkdirSync(to)
  for (const name of ['ask.db', 'ask.db-wal']) copyFileSync(join(from, name), join(to, name))
  return to
}

const codes = ['accepted', 'unknown_key', 'invalid_field'] as const

/** Few keys, cellars and racks, so that most rows are written several times. */
const randomChange = (next: () => number, round: number): AskChange => {
  const nowMs = todayMs + round * 5 * 3_600_000
  const some = <T>(most: number, make: () => T): readonly T[] => Array.from({ length: next() % most }, make)
  const keyOf = () => `key${next() % 6}`
  const cellarOf = (key: string) => `cellar${Number(key.at(-1)) % 3}`
  const minuteOf = () => Math.floor(nowMs / 60_000) - (next() % 3_200)
  const hourOf = () => Math.floor(nowMs / 3_600_000) - (next() % 750)
  const code = () => codes[next() % 3] ?? 'accepted'
  let position = round * 100
  const minuteCounts = some(12, () => ({
    cellar: cellarOf(keyOf()),
    minute: minuteOf(),
    code: code(),
    count: 1 + (next() % 9),
  }))
  const beforeMs = todayMs + (Math.floor((round * 5) / 24) - 1) * dayMs
  const key = keyOf()
  const what = next() % 2 === 0 ? ('accepted' as const) : ('refused' as const)
  return changeTo((round + 1) * 100, round === 0 ? null : round * 100, {
    nowMs,
    places: some(12, () => {
      position += 1 + (next() % 5)
      return placeOf(position, {
        stream: `refusals-${keyOf()}`,
        revision: next() % 50,
        key: next() % 3 === 0 ? null : keyOf(),
      })
    }),
    minutes: [{ minute: Math.floor(nowMs / 60_000), position: round * 100 + 1 }],
    minuteCounts: [...minuteCounts, ...minuteCounts.map((each) => ({ ...each, cellar: null }))],
    hourCounts: some(12, () => {
      const counted = keyOf()
      return { cellar: cellarOf(counted), key: counted, hour: hourOf(), code: code(), count: 1 + (next() % 9) }
    }),
    seen: some(8, () => ({ key: keyOf(), rack: `rack${next() % 5}`, minute: minuteOf() })),
    forgotten: [
      {
        stream: `refusals-${key}`,
        keptFrom: next() % 30,
        counts: next() % 3 === 0 ? null : { what, key, cellar: cellarOf(key), beforeMs },
      },
    ],
  })
}

describe('write()', () => {
  test.each([1, 2, 3, 4])('writes what a naive index holds, over kills and restarts (seed %d)', async (seed) => {
    const next = seededNumbers(seed)
    const folder = temporaryFolder()
    let dataDir = folder.path
    let { index, told } = openedIn(dataDir)
    const naive = new NaiveIndex()
    for (let round = 0; round < 40; round += 1) {
      const change = randomChange(next, round)
      await index.write(change)
      naive.write(change)
      const from = [(change.nowMs - askMinutesKeptMs) / 60_000, (change.nowMs - askHoursKeptMs) / 3_600_000] as const
      expect([round, rowsOfFile(dataDir, ...from)]).toEqual([round, naive.rows(...from)])
      if (next() % 4 > 0) continue
      // The files of a running service are as a kill leaves them.
      if (next() % 2 === 0) dataDir = copyOfFiles(dataDir, join(folder.path, `killed-${round}`))
      await index.close()
      ;({ index, told } = openedIn(dataDir))
      await index.check()
      expect([round, index.foldedTo, told]).toEqual([round, change.foldedTo, []])
    }
    await index.check()
    expect(told).toEqual([])
    await index.close()
    folder.remove()
  })

  test('ignores a change that the index includes', async () => {
    const folder = temporaryFolder()
    const { index } = openedIn(folder.path)
    await index.write(oneOfEach(9))
    await index.write(oneOfEach(9))
    await index.write(oneOfEach(8))
    expect(index.foldedTo).toEqual(foldedAt(9))
    expect(rowsIn(folder.path, 'SELECT count FROM minute_counts')).toEqual(['3', '3'])
    expect(rowsIn(folder.path, 'SELECT count FROM hour_counts')).toEqual(['3'])
    await index.close()
    folder.remove()
  })

  test('refuses a change that does not continue the index', async () => {
    const folder = temporaryFolder()
    const { index } = openedIn(folder.path)
    expect(await faultOf(index.write(changeTo(9, 5)))).toBeInstanceOf(AskUnusable)
    await index.startAnew()
    await index.write(changeTo(9, null))
    expect(await faultOf(index.write(changeTo(20, 10)))).toBeInstanceOf(AskUnusable)
    expect(index.foldedTo).toEqual(foldedAt(9))
    await index.close()
    folder.remove()
  })

  test('adds no count that is too old, and deletes counts in turn', async () => {
    const folder = temporaryFolder()
    const { index, told } = openedIn(folder.path)
    const cellars = Array.from({ length: 20 }, (_, number) => `c${number}`)
    const counted = { code: 'accepted', count: 1 }
    const minuteCounts = cellars.map((cellar) => ({ ...counted, cellar, minute: todayMinute }))
    const hourCounts = cellars.map((cellar) => ({ ...counted, cellar, key: cellar, hour: todayHour }))
    const tooOld = [{ ...counted, cellar: 'c0', minute: todayMinute - 48 * 60 - 1 }]
    await index.write(changeTo(1, null, { minuteCounts: [...minuteCounts, ...tooOld], hourCounts }))
    const rows = (table: string): number => rowsIn(folder.path, `SELECT * FROM ${table}`).length
    expect([rows('minute_counts'), rows('hour_counts')]).toEqual([20, 20])
    const left: number[][] = []
    for (let position = 1; position <= 3; position += 1) {
      await index.write(changeTo(position + 1, position, { nowMs: todayMs + askHoursKeptMs + 3_600_000 }))
      left.push([rows('minute_counts'), rows('hour_counts')])
    }
    // Eight at a time. The turn had come to the ninth, because the first change found nothing old.
    expect(left.at(-1)).toEqual([0, 0])
    expect(left[0]).toEqual([12, 12])
    await index.check()
    expect(told).toEqual([])
    await index.close()
    folder.remove()
  })

  test('deletes the racks that were seen longest ago, beyond 100,000', async () => {
    const folder = temporaryFolder()
    const { index, told } = openedIn(folder.path)
    const racks = (first: number, count: number) =>
      Array.from({ length: count }, (_, number) => {
        const rack = String(first + number).padStart(6, '0')
        return { key: `key${(first + number) % 2}`, rack, minute: todayMinute + Math.floor((first + number) / 10_000) }
      })
    await index.write(changeTo(1, null, { seen: racks(0, askSeenRacksMax) }))
    expect(rowsIn(folder.path, 'SELECT count(*) FROM seen')).toEqual([String(askSeenRacksMax)])
    await index.write(changeTo(2, 1, { seen: racks(askSeenRacksMax, 1) }))
    const left = askSeenRacksMax + 1 - askSeenEvictedAtOnce
    expect(rowsIn(folder.path, 'SELECT count(*) FROM seen')).toEqual([String(left)])
    // Among the 10,000 racks of the first minute, those of `key0` go first.
    const ofFirst = `SELECT name, count(*) FROM seen JOIN names ON id = key WHERE minute = ${todayMinute} GROUP BY name`
    expect(rowsIn(folder.path, ofFirst)).toEqual(['key1 5000'])
    await index.check()
    expect(told).toEqual([])
    await index.close()
    folder.remove()
  })
})

/** The change as one part. */
const wholePart = ({ hourCounts, seen, ...head }: AskChange): ChangePart => ({ head, hourCounts, seen, isLast: true })

const brokenRows = {
  [Symbol.iterator]: (): Iterator<never> => {
    throw new Error('broken')
  },
}

describe('AskChanges', () => {
  test('undoes a change whose later part fails or never comes', async () => {
    const folder = temporaryFolder()
    const { index } = openedIn(folder.path)
    await index.close()
    const { hourCounts, seen, ...head } = oneOfEach(9)
    const first: ChangePart = { head, hourCounts, seen: [], isLast: false }
    const last: ChangePart = { head: null, hourCounts: [], seen, isLast: true }
    const broken: ChangePart = { ...last, seen: brokenRows }
    withFile(folder.path, (database) => {
      const changes = new AskChanges(database)
      changes.write(first)
      expect(() => changes.write(broken)).toThrow('broken')
      expect(database.inTransaction).toBe(false)
      changes.write(first)
      changes.close()
      expect(database.inTransaction).toBe(false)
    })
    expect(rowsIn(folder.path, 'SELECT count(*) FROM hour_counts')).toEqual(['0'])
    withFile(folder.path, (database) => {
      const changes = new AskChanges(database)
      for (const part of [first, last]) changes.write(part)
      changes.close()
    })
    const { index: later, told } = openedIn(folder.path)
    await later.check()
    expect([later.foldedTo, told]).toEqual([foldedAt(9), []])
    await later.close()
    folder.remove()
  })

  test('undoes a change on a full disk, and its names', async () => {
    const folder = temporaryFolder()
    const { index } = openedIn(folder.path)
    await index.close()
    const places = Array.from({ length: 500 }, (_, number) => placeOf(number + 1, { key: `key ${number}` }))
    withFile(folder.path, (database) => {
      const changes = new AskChanges(database)
      const pages = database.query<{ page_count: number }, []>('PRAGMA page_count').get()?.page_count ?? 0
      database.run(`PRAGMA max_page_count = ${pages + 3}`)
      const write = (): void => changes.write(wholePart(changeTo(500, null, { places })))
      expect(write).toThrow(expect.objectContaining({ code: 'SQLITE_FULL' }))
      database.run('PRAGMA max_page_count = 100000')
      write()
      changes.close()
    })
    const { index: later, told } = openedIn(folder.path)
    await later.check()
    expect([later.foldedTo, told]).toEqual([foldedAt(500), []])
    const keys = 'SELECT count(DISTINCT name) FROM places JOIN names ON names.id = key'
    expect(rowsIn(folder.path, keys)).toEqual(['500'])
    await later.close()
    folder.remove()
  })
})

describe('idNumber()', () => {
  test('is the first 48 bits of a UUID, or of a hash', () => {
    expect(idNumber('0123abcd-ef01-7abc-8def-001122334455')).toBe(0x0123abcdef01)
    expect(idNumber('ffffffff-ffff-4abc-8def-001122334455')).toBe(2 ** 48 - 1)
    expect(idNumber('no uuid')).toBeLessThan(2 ** 48)
    expect(idNumber('no uuid')).not.toBe(idNumber('no uuid either'))
  })
})

import { describe, expect, test } from 'bun:test'
import { KegSlots } from '../../../src/derived/readings/keg-slots.ts'
import { kegsInMemoryMax, kegsPerCellarMax, readingsKind } from '../../../src/derived/readings/readings-model.ts'
import { SilentKegs } from '../../../src/derived/readings/silent-kegs.ts'
import { lastsAtOnce, StoredKegs } from '../../../src/derived/readings/stored-kegs.ts'
import type { Reading } from '../../../src/domain/reading/fields.ts'
import { ReadingRun, RecordedRun } from '../../../src/domain/reading/recorded-run.ts'
import { cellarStream } from '../../../src/domain/stream-names.ts'
import { retentionMarginMs } from '../../../src/limits.ts'
import { columnsOf } from '../../support/logs/columns-of.ts'
import { foundKegs, hasKeg } from '../../support/readings/asked-kegs.ts'
import {
  emptyReadings,
  flushReadings,
  foldedReadings,
  historyStartMs,
  rowsOf,
} from '../../support/readings/readings-history.ts'
import { Recorder } from '../../support/recorder.ts'

const endMs = historyStartMs + 3_600_000

/** One batch for each thousand kegs, from number `from` on. Each keg has a timestamp a second after that of the keg before it. */
const batches = (from: number, count: number, cellar = 'north'): readonly RecordedRun[] =>
  Array.from({ length: Math.ceil(count / 1_000) }, (_, batch) => {
    const first = from + batch * 1_000
    const readings = Array.from({ length: Math.min(1_000, count - batch * 1_000) }, (_, index) =>
      readingAt(cellar, `keg-${first + index}`, first + index),
    )
    return runOf(readings, first)
  })

const readingAt = (cellar: string, keg: string, second: number): Reading => ({
  cellar,
  rack: 'rack',
  keg,
  value: second,
  timestamp: `${new Date(historyStartMs + second * 1_000).toISOString().slice(0, 19)}Z`,
})

const runOf = (readings: readonly Reading[], position: number): RecordedRun => {
  const request = { requestId: 'x', readings: columnsOf(readings), idempotency: null }
  return new RecordedRun(new ReadingRun('key1', historyStartMs + 300_000_000, [request]), {
    stream: 'readings-key1',
    revision: position,
    position,
  })
}

const movedTo = ({ run, stream }: RecordedRun, position: number): RecordedRun =>
  new RecordedRun(run, { stream, revision: position, position })

const allOf = (database: ReturnType<typeof emptyReadings>): number => foundKegs(database, {}).all

const has = (database: ReturnType<typeof emptyReadings>, keg: string): boolean =>
  hasKeg(database, { rack: 'rack', keg })

describe('a cellar', () => {
  test('forgets the keg with the oldest latest reading when it is full', () => {
    const full = batches(0, kegsPerCellarMax)
    const second = kegsPerCellarMax
    // The oldest keg has a newer reading, so the next one makes room.
    const used = runOf([readingAt('north', 'keg-0', second)], second)
    const late = runOf([readingAt('north', 'late', -1)], second + 1)
    const more = runOf([readingAt('north', 'more', second)], second + 2)
    const folded = foldedReadings([...full, used], endMs)
    expect([allOf(folded), has(folded, 'keg-1')]).toEqual([kegsPerCellarMax, true])
    const database = foldedReadings([...full, used, late, more], endMs)
    expect(allOf(database)).toBe(kegsPerCellarMax)
    expect(['keg-0', 'keg-1', 'keg-2', 'late', 'more'].map((keg) => has(database, keg))).toEqual([
      true,
      false,
      true,
      false,
      true,
    ])
  })

  test('forgets the same kegs after flushes and starts', () => {
    const again = batches(kegsPerCellarMax - 10, 20).map((run) => movedTo(run, 300_000))
    const history = [...batches(0, kegsPerCellarMax + 300), ...batches(200_000, 300), ...again]
    const expected = rowsOf(foldedReadings(history, endMs))
    const database = emptyReadings()
    let model = readingsKind.open(database)
    for (const [index, item] of history.entries()) {
      model.fold([item])
      if (index % 2 === 0) continue
      flushReadings(database, model, historyStartMs)
      if (index % 3 === 0) model = readingsKind.open(database)
    }
    flushReadings(database, model, endMs)
    expect(rowsOf(database)).toEqual(expected)
  })
})

test('a purged cellar is the same with and without a flush before further kegs', () => {
  const acceptedBefore = historyStartMs + 50_000_000 - retentionMarginMs
  const purged = { cellar: 'north', keyId: 'key1', firstRevision: 0, lastRevision: 49_999, readings: 50_000 }
  const data = { ...purged, acceptedBefore, lastAcceptedAt: acceptedBefore - 1 }
  const purge = new Recorder().record(cellarStream('north'), { type: 'ReadingsPurged', data })
  const again = Array.from({ length: 500 }, (_, keg) => readingAt('north', `keg-${keg * 200}`, 290_000))
  const after = [runOf(again, 400_000), ...batches(200_000, 60_000)]
  const parts = [batches(0, kegsPerCellarMax), [purge], after]
  const rows = [parts, [parts[0] ?? [], [purge, ...after]]].map((flushed) => {
    const database = emptyReadings()
    const model = readingsKind.open(database)
    for (const items of flushed) {
      model.fold(items)
      flushReadings(database, model, endMs)
    }
    expect(allOf(database)).toBe(kegsPerCellarMax)
    return rowsOf(database)
  })
  expect(rows[1]).toEqual(rows[0])
})

test('a full cellar reads its oldest kegs in parts, even if all have one time', () => {
  const readings = Array.from({ length: 2 * lastsAtOnce }, (_, keg) => readingAt('north', `keg-${keg}`, 0))
  const runs = Array.from({ length: 4 }, (_, part) =>
    runOf(readings.slice((part * lastsAtOnce) / 2, ((part + 1) * lastsAtOnce) / 2), (part * lastsAtOnce) / 2),
  )
  const database = foldedReadings(runs, endMs)
  const stored = new StoredKegs(database, new KegSlots())
  const reads: number[] = []
  const silent = new SilentKegs([], (after) => {
    const kegs = stored.oldest(1, after)
    reads.push(kegs.length)
    return kegs
  })
  const taken = readings.map(() => silent.take((keg) => ({ ...keg, name: { rack: '', keg: '' } }))?.number)
  expect(taken).toEqual(readings.map((_, keg) => keg))
  expect(reads).toEqual([lastsAtOnce, lastsAtOnce])
})

test('a model with more kegs than fit into memory reads them from its file again', () => {
  const cellars = ['a', 'b', 'c', 'd']
  const once = cellars.flatMap((cellar) => batches(0, 9_000, cellar))
  const history = [...once, ...batches(0, 2_000, 'a')].map((run, index) => movedTo(run, index * 1_000))
  expect(cellars.length * 9_000).toBeGreaterThan(kegsInMemoryMax)
  const database = emptyReadings()
  const model = readingsKind.open(database)
  for (const [index, item] of history.entries()) {
    model.fold([item])
    if (index % 12 === 11) flushReadings(database, model, endMs)
  }
  flushReadings(database, model, endMs)
  expect(rowsOf(database)).toEqual(rowsOf(foldedReadings(history, endMs)))
}, 120_000)

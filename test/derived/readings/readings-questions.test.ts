import { describe, expect, test } from 'bun:test'
import {
  chart,
  findKegs,
  kegNamed,
  racksLike,
  recentReadings,
} from '../../../src/derived/readings/readings-questions.ts'
import type { Reading } from '../../../src/domain/reading/fields.ts'
import { type LogItem, ReadingRun, RecordedRun } from '../../../src/domain/reading/recorded-run.ts'
import { columnsOf } from '../../support/logs/columns-of.ts'
import { answerOf } from '../../support/readings/expected-readings.ts'
import { foldedReadings } from '../../support/readings/readings-history.ts'

const noonMs = Date.UTC(2026, 2, 1, 12)
const minuteMs = 60_000
const hourMs = 3_600_000
const dayMs = 86_400_000

type Sent = Partial<Reading> & { readonly atMs: number; readonly acceptedMs?: number }

/** One request for each reading. */
const history = (sent: readonly Sent[]): readonly LogItem[] =>
  sent.map(({ atMs, acceptedMs = atMs, ...rest }, index) => {
    const timestamp = `${new Date(atMs).toISOString().slice(0, 19)}Z`
    const reading = { cellar: 'north', rack: 'rack', keg: 'keg', value: index, timestamp, ...rest }
    const request = { requestId: 'x', readings: columnsOf([reading]), idempotency: null }
    const at = { stream: 'readings-key1', revision: index, position: index + 1 }
    return new RecordedRun(new ReadingRun('key1', acceptedMs, [request]), at)
  })

describe('the kegs of a cellar', () => {
  const names: readonly (readonly [string, string])[] = [
    ['rack-10', 'b'],
    ['rack-2', 'Ä'],
    ['rack-2', 'keg-10'],
    ['rack-2', 'keg-9'],
  ]
  const database = foldedReadings(history(names.map(([rack, keg]) => ({ rack, keg, atMs: noonMs }))), noonMs)
  const found = (words: readonly string[], page = 1, perPage = 10) => {
    const { kegs, ...rest } = answerOf(findKegs(database, { cellar: 'north', words, page, perPage }))
    return { ...rest, kegs: kegs.map(({ rack, keg }) => `${rack} ${keg}`) }
  }

  test('are sorted by rack, then by keg, with numbers by their value', () => {
    const kegs = ['rack-2 keg-9', 'rack-2 keg-10', 'rack-2 Ä', 'rack-10 b']
    expect(found([])).toEqual({ kegs, page: 1, pages: 1, found: 4, all: 4 })
  })

  test('are found by words in any case of any letter', () => {
    expect(found(['ä', '2'])).toEqual({ kegs: ['rack-2 Ä'], page: 1, pages: 1, found: 1, all: 4 })
    expect(found(['nothing'])).toEqual({ kegs: [], page: 1, pages: 1, found: 0, all: 4 })
  })

  test('have pages, and the last page stands for those after it', () => {
    expect(found([], 2, 3)).toEqual({ kegs: ['rack-10 b'], page: 2, pages: 2, found: 4, all: 4 })
    expect(found(['rack-2'], 9, 2)).toEqual({ kegs: ['rack-2 Ä'], page: 2, pages: 2, found: 3, all: 4 })
  })

  test('are none in a cellar without readings', () => {
    const none = { cellar: 'south', words: [], page: 1, perPage: 3 }
    expect(answerOf(findKegs(database, none))).toEqual({ kegs: [], page: 1, pages: 1, found: 0, all: 0 })
    expect(recentReadings(database, 'south')).toEqual([])
    expect(kegNamed(database, { cellar: 'north', rack: 'rack-2', keg: 'b' })).toBeNull()
  })
})

test('a reading that is too far ahead is only among the last readings', () => {
  const ahead = { atMs: noonMs + 600_001, acceptedMs: noonMs }
  const database = foldedReadings(history([{ atMs: noonMs + 600_000, acceptedMs: noonMs }, ahead]), noonMs)
  expect(kegNamed(database, { cellar: 'north', rack: 'rack', keg: 'keg' })?.values).toEqual([0, 1])
  const further = foldedReadings(history([{ atMs: noonMs + 601_000, acceptedMs: noonMs }]), noonMs)
  expect(kegNamed(further, { cellar: 'north', rack: 'rack', keg: 'keg' })).toBeNull()
  expect(recentReadings(further, 'north').map(({ position }) => position)).toEqual([1])
})

describe('a chart', () => {
  const sent = [0, 10_000, minuteMs, hourMs, dayMs + 5, 80 * dayMs].map((ms) => ({ atMs: noonMs + ms }))
  const database = foldedReadings(history(sent), noonMs + dayMs)
  const of = (fromMs: number, toMs: number) => {
    const { stepMs, points } = answerOf(chart(database, { cellar: 'north', rack: 'rack', keg: 'keg', fromMs, toMs }))
    return { stepMs, points: points.map(({ timeMs, count, mean }) => [timeMs - noonMs, count, mean]) }
  }

  test('of up to a day has a point for each minute with readings', () => {
    const { stepMs, points } = answerOf(
      chart(database, { cellar: 'north', rack: 'rack', keg: 'keg', fromMs: noonMs, toMs: noonMs + hourMs }),
    )
    const first = { timeMs: noonMs, count: 2, min: 0, max: 1, mean: 0.5, first: 0, last: 1 }
    const second = { timeMs: noonMs + minuteMs, count: 1, min: 2, max: 2, mean: 2, first: 2, last: 2 }
    expect({ stepMs, points }).toEqual({ stepMs: minuteMs, points: [first, second] })
  })

  test('has hours if the minutes are not kept any more', () => {
    const old = noonMs - dayMs
    expect(of(old - minuteMs, noonMs - 1)).toEqual({ stepMs: hourMs, points: [] })
    expect(of(old, noonMs).stepMs).toBe(minuteMs)
  })

  test('of more than a day has hours, and of more than 60 days has days', () => {
    const hours = [
      [0, 3, 1],
      [hourMs, 1, 3],
      [dayMs, 1, 4],
    ]
    expect(of(noonMs, noonMs + 60 * dayMs)).toEqual({ stepMs: hourMs, points: hours })
    const halfDay = 12 * hourMs
    const days = [
      [-halfDay, 4, 1.5],
      [dayMs - halfDay, 1, 4],
      [80 * dayMs - halfDay, 1, 5],
    ]
    expect(of(noonMs, noonMs + 81 * dayMs)).toEqual({ stepMs: dayMs, points: days })
  })
})

test('minutes are deleted after two days, and hours stay', () => {
  const database = foldedReadings(
    history([{ atMs: noonMs }, { atMs: noonMs + minuteMs }]),
    noonMs + 2 * dayMs + minuteMs,
  )
  const rows = (table: string) => database.query(`SELECT time FROM ${table}`).all()
  expect(rows('minutes')).toEqual([{ time: noonMs / minuteMs + 1 }])
  expect(rows('hours')).toEqual([{ time: noonMs / hourMs }])
})

test('a keg says when its last request was accepted, and its usual pause', () => {
  const sent = [0, 60, 120, 300, 360].map((second) => ({ atMs: noonMs + second * 1_000 }))
  const database = foldedReadings(history(sent), noonMs)
  const keg = kegNamed(database, { cellar: 'north', rack: 'rack', keg: 'keg' })
  expect([keg?.acceptedMs, keg?.pauseMs]).toEqual([noonMs + 360_000, minuteMs])
})

describe('racks', () => {
  const racks = Array.from({ length: 1_200 }, (_, number) => ['rack-1', `rack-${number}`] as const).flat()
  const sent = racks.map((rack, index) => ({ rack, keg: `keg ${index % 3}`, atMs: noonMs }))
  const database = foldedReadings(history([...sent, { cellar: 'south', rack: 'Rack 7', atMs: noonMs }]), noonMs)

  test('are found by a pattern, each once, in the order of their names', () => {
    const steps = racksLike(database, { pattern: /^rack[- ]1?7$/i, limit: 9 })
    const found = ['rack-7', 'rack-17'].map((rack) => ({ cellar: 'north', rack }))
    expect([...steps].length).toBe(2)
    expect(answerOf(racksLike(database, { pattern: /^rack[- ]1?7$/i, limit: 9 }))).toEqual([
      ...found,
      { cellar: 'south', rack: 'Rack 7' },
    ])
    expect(answerOf(racksLike(database, { pattern: /7$/, limit: 2 }))).toEqual(found)
  })
})

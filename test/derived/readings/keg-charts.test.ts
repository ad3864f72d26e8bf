import type { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import {
  chartedKegsMax,
  chartStepsMs,
  draftCharts,
  kegsReadMax,
  singleReadingsMax,
} from '../../../src/derived/readings/keg-charts.ts'
import { readingsKind } from '../../../src/derived/readings/readings-model.ts'
import type { ChartsWanted } from '../../../src/derived/readings/shown-kegs.ts'
import { modelHere } from '../../support/derived/model-here.ts'
import { answerOf, chartOf } from '../../support/readings/asked-kegs.ts'
import { expectedChart, rounded } from '../../support/readings/expected-charts.ts'
import { arrivalsOf, drawnOf } from '../../support/readings/expected-readings.ts'
import { foldedReadings, historyStartMs, purgedLog, randomHistory } from '../../support/readings/readings-history.ts'
import { sentHistory } from '../../support/readings/sent-history.ts'
import { seededNumbers } from '../../support/seeded-entropy.ts'

const noonMs = Date.UTC(2026, 2, 1, 12)
const minuteMs = 60_000
const hourMs = 3_600_000
const dayMs = 86_400_000

describe('a chart', () => {
  const sent = [0, 10_000, minuteMs, hourMs, dayMs + 5, 80 * dayMs].map((ms) => ({ atMs: noonMs + ms }))
  const database = foldedReadings(sentHistory(sent), noonMs + dayMs)
  const of = (fromMs: number, toMs: number, stepsMax = 400) => {
    const { stepMs, chart } = chartOf(database, { fromMs, toMs, stepsMax })
    return { stepMs, points: chart?.points.map(({ timeMs, count, mean }) => [timeMs - noonMs, count, mean]) }
  }

  test('has a point for each step with readings', () => {
    const { stepMs, chart } = chartOf(database, { fromMs: noonMs, toMs: noonMs + hourMs })
    const first = { timeMs: noonMs, count: 2, min: 0, max: 1, mean: 0.5, first: 0, last: 1 }
    const second = { timeMs: noonMs + minuteMs, count: 1, min: 2, max: 2, mean: 2, first: 2, last: 2 }
    expect({ stepMs, points: chart?.points }).toEqual({ stepMs: minuteMs, points: [first, second] })
  })

  test('has the shortest step that needs no more steps than wanted', () => {
    const spans = [400 * minuteMs, 400 * minuteMs + 1, dayMs, 400 * hourMs, 401 * hourMs, 101 * dayMs, 9_999 * dayMs]
    expect(spans.map((span) => of(noonMs, noonMs + span).stepMs / minuteMs)).toEqual([1, 5, 5, 60, 360, 1_440, 1_440])
    expect([60, 59, 12, 11, 4, 3].map((steps) => of(noonMs, noonMs + hourMs, steps).stepMs / minuteMs)).toEqual([
      1, 5, 5, 15, 15, 60,
    ])
  })

  test('has hours if the minutes are not kept any more', () => {
    const old = noonMs - dayMs
    expect(of(old - minuteMs, noonMs - dayMs + hourMs)).toEqual({ stepMs: hourMs, points: [] })
    expect(of(old, old + hourMs).stepMs).toBe(minuteMs)
  })

  test('of a long range has steps of six hours, or of a day', () => {
    expect(of(noonMs, noonMs + 60 * dayMs)).toEqual({
      stepMs: 6 * hourMs,
      points: [
        [0, 4, 1.5],
        [dayMs, 1, 4],
      ],
    })
    const halfDay = 12 * hourMs
    expect(of(noonMs, noonMs + 101 * dayMs).points).toEqual([
      [-halfDay, 4, 1.5],
      [dayMs - halfDay, 1, 4],
      [80 * dayMs - halfDay, 1, 5],
    ])
  })

  test('of an unknown keg, or of an unknown cellar, is none', () => {
    const keg = { rack: 'rack', keg: 'other' }
    expect(chartOf(database, { kegs: [keg] }).chart).toBeNull()
    expect(chartOf(database, { cellar: 'south' }).chart).toBeNull()
  })

  test('of a keg whose readings were all too far ahead has their number', () => {
    const ahead = foldedReadings(sentHistory([{ atMs: noonMs + 601_000, acceptedMs: noonMs }]), noonMs)
    const { chart } = chartOf(ahead, { fromMs: noonMs - hourMs, toMs: noonMs + hourMs })
    expect([chart?.latest, chart?.acceptedMs, chart?.points, chart?.summary.ahead]).toEqual([null, noonMs, [], 1])
    expect(chartOf(ahead, { fromMs: noonMs - hourMs, toMs: noonMs }).chart?.summary.ahead).toBe(0)
  })
})

describe('a chart of many hours', () => {
  const hours = 600
  const kegs = Array.from({ length: chartedKegsMax }, (_, number) => ({ rack: 'rack', keg: `keg-${number}` }))
  const sent = Array.from({ length: hours }, (_, hour) => kegs.map((keg) => ({ ...keg, atMs: noonMs + hour * hourMs })))
  const database = foldedReadings(sentHistory(sent.flat()), noonMs + hours * hourMs)
  const wanted = { cellar: 'north', fromMs: noonMs, toMs: noonMs + hours * hourMs, stepsMax: 400 }
  const bucketsOf = (kegsOf: typeof kegs, toMs = wanted.toMs) =>
    answerOf(draftCharts(database, { ...wanted, kegs: kegsOf, toMs })).kegs.map((keg) => keg?.buckets.length)

  test('gives way after some hundred buckets', () => {
    expect([...draftCharts(database, { ...wanted, kegs })].length).toBeGreaterThan((hours * kegs.length) / 600)
  })

  test('leaves out further kegs', () => {
    expect(bucketsOf([...kegs, { rack: 'rack', keg: 'keg' }])).toHaveLength(chartedKegsMax)
  })

  test('keeps its buckets only for the kegs that the log is read for', () => {
    const soon = noonMs + 400 * hourMs
    expect(bucketsOf(kegs.slice(0, kegsReadMax), soon)).toEqual(Array(kegsReadMax).fill(400))
    expect(bucketsOf(kegs.slice(0, kegsReadMax + 1), soon)).toEqual(Array(kegsReadMax + 1).fill(0))
    expect(hours).toBeGreaterThan(singleReadingsMax)
    expect(bucketsOf(kegs.slice(0, 1))).toEqual([0])
  })
})

test('a chart counts all readings up to its position, although a flush comes between', () => {
  const sent = [0, 20 * hourMs, hourMs].map((ms) => ({ atMs: noonMs + ms, acceptedMs: noonMs + 20 * hourMs }))
  const history = sentHistory(sent)
  const model = modelHere(readingsKind)
  const foldOne = (index: number): void => {
    model.fold(history.slice(index, index + 1))
    model.flush(noonMs + 20 * hourMs)
  }
  foldOne(0)
  foldOne(1)
  const kegs = [{ rack: 'rack', keg: 'keg' }]
  const range = { fromMs: noonMs, toMs: noonMs + 21 * hourMs, stepsMax: 2_000 }
  const draft = draftCharts(model.database, { cellar: 'north', kegs, ...range })
  expect(draft.next().done).toBe(false)
  foldOne(2)
  const { position, kegs: drafts } = answerOf(draft)
  expect([position, drafts[0]?.summary.count]).toEqual([2, 2])
})

test('a chart of silent kegs gives way after some hundred hours without readings', () => {
  const names = Array.from({ length: chartedKegsMax }, (_, number) => ({ rack: 'rack', keg: `keg-${number}` }))
  const sent = [...names.map((keg) => ({ ...keg, atMs: noonMs })), { keg: 'other', atMs: noonMs + 20 * dayMs }]
  const database = foldedReadings(sentHistory(sent), noonMs + 20 * dayMs)
  const range = { fromMs: noonMs + 18 * dayMs, toMs: noonMs + 18 * dayMs + hourMs, stepsMax: 400 }
  const steps = [...draftCharts(database, { cellar: 'north', kegs: names, ...range })]
  expect(steps.length).toBeGreaterThan((names.length * 18 * 24) / 600)
})

test('minutes are deleted after two days, and hours stay', () => {
  const sent = [{ atMs: noonMs }, { atMs: noonMs + minuteMs }]
  const database = foldedReadings(sentHistory(sent), noonMs + 2 * dayMs + minuteMs)
  const rows = (table: string) => database.query(`SELECT time FROM ${table}`).all()
  expect(rows('minutes')).toEqual([{ time: noonMs / minuteMs + 1 }])
  expect(rows('hours')).toEqual([{ time: noonMs / hourMs }])
})

describe('each chart equals a computation from all readings', () => {
  for (const seed of [21, 22, 23, 24]) {
    test(`of a random history (${seed})`, () => {
      const history = randomHistory(seed)
      const grown = foldedReadings(history, historyStartMs)
      const rebuilt = foldedReadings(purgedLog(history), historyStartMs)
      const next = seededNumbers(seed)
      let points = 0
      for (const [cellar, { kept, ahead, acceptedFrom, accepted }] of Object.entries(drawnOf(history))) {
        for (const [keg, readings] of Map.groupBy(kept, (reading) => reading.keg)) {
          const [{ rack, name } = { rack: '', name: '' }] = readings
          const aheadOfKeg = ahead.filter((reading) => reading.keg === keg)
          for (let round = 0; round < 8; round += 1) {
            const spanMs = [hourMs, 3 * hourMs, dayMs, 5 * dayMs, 40 * dayMs][next() % 5] ?? hourMs
            const fromMs = historyStartMs - 40 * hourMs + (next() % (9 * dayMs))
            const wanted = { cellar, kegs: [{ rack, keg: name }], fromMs, toMs: fromMs + spanMs, stepsMax: 300 }
            const shown = shownChart(grown, wanted)
            const { stepMs, bucketMs } = shown.range
            const range = { ...shown.range, nowMs: wanted.toMs, pauseMs: arrivalsOf(accepted.get(keg)).pause }
            expect(chartStepsMs.some((ms) => ms === stepMs)).toBe(true)
            expect(bucketMs).toBe(stepMs < hourMs ? minuteMs : hourMs)
            expect<unknown>(shown.chart).toEqual(expectedChart(readings, aheadOfKeg, range))
            expect(shown.keptFromMs).toBe(acceptedFrom === 0 ? null : acceptedFrom + hourMs)
            expect(shownChart(rebuilt, wanted)).toEqual(shown)
            points += shown.chart?.points.length ?? 0
          }
        }
      }
      expect(points).toBeGreaterThan(100)
    })
  }
})

const shownChart = (database: Database, wanted: ChartsWanted) => {
  const { chart, keptFromMs, ...range } = chartOf(database, wanted)
  if (chart === null) return { range, keptFromMs, chart }
  const { points, gaps, summary, lowest, highest } = chart
  const mean = summary.mean === null ? null : rounded(summary.mean)
  const roundedPoints = points.map((point) => ({ ...point, mean: point.mean === null ? null : rounded(point.mean) }))
  return { range, keptFromMs, chart: { points: roundedPoints, gaps, summary: { ...summary, mean }, lowest, highest } }
}

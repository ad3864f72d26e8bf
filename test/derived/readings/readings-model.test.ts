import { describe, expect, test } from 'bun:test'
import { readingsKind } from '../../../src/derived/readings/readings-model.ts'
import { everythingOf, expectedOf } from '../../support/readings/expected-readings.ts'
import {
  emptyReadings,
  flushReadings,
  foldedReadings,
  historyStartMs,
  purgedLog,
  randomHistory,
  rowsOf,
} from '../../support/readings/readings-history.ts'
import { seededNumbers } from '../../support/seeded-entropy.ts'

const endMs = historyStartMs + 5 * 86_400_000

describe('the model of readings', () => {
  for (const seed of [1, 2, 3, 4, 5, 6]) {
    test(`has the same rows after random flushes and crashes as after one flush (${seed})`, () => {
      const history = randomHistory(seed)
      const expected = rowsOf(foldedReadings(history, endMs))
      const next = seededNumbers(seed)
      const database = emptyReadings()
      let model = readingsKind.open(database)
      let [from, flushed] = [0, 0]
      while (from < history.length) {
        const to = from + 1 + (next() % 12)
        model.fold(history.slice(from, to))
        from = to
        if (next() % 3 === 0) {
          flushReadings(database, model, historyStartMs)
          flushed = from
        }
        if (next() % 9 === 0) {
          model = readingsKind.open(database)
          from = flushed
        }
      }
      flushReadings(database, model, endMs)
      expect(rowsOf(database)).toEqual(expected)
    })

    test(`equals a computation from all readings (${seed})`, () => {
      const history = randomHistory(seed)
      expect(everythingOf(foldedReadings(history, historyStartMs))).toEqual(expectedOf(history))
    })

    test(`equals a model that is built from the purged log (${seed})`, () => {
      const history = randomHistory(seed)
      const purged = purgedLog(history)
      expect(purged.length).toBeGreaterThan(0)
      expect(everythingOf(foldedReadings(purged, endMs))).toEqual(everythingOf(foldedReadings(history, endMs)))
    })
  }
})

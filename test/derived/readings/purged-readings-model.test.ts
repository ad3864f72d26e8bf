import { expect, test } from 'bun:test'
import { readingsKind } from '../../../src/derived/readings/readings-model.ts'
import { everythingOf, expectedOf } from '../../support/readings/expected-readings.ts'
import {
  emptyReadings,
  flushReadings,
  foldedReadings,
  historyStartMs,
  purgedLog,
  randomHistory,
} from '../../support/readings/readings-history.ts'

test('a model whose history ends with a purge has nothing from before it', () => {
  for (const seed of [11, 12, 13]) {
    const history = randomHistory(seed)
    const lastPurge = history.findLastIndex(({ type }) => type === 'ReadingsPurged')
    for (const end of [lastPurge + 1, lastPurge + 4]) {
      const short = history.slice(0, end)
      const database = foldedReadings(short, historyStartMs)
      expect(everythingOf(database)).toEqual(expectedOf(short))
      expect(everythingOf(foldedReadings(purgedLog(short), historyStartMs))).toEqual(everythingOf(database))
    }
  }
})

test('kegs that send again after a purge are kept, although one flush writes both', () => {
  for (const seed of [11, 12, 13, 14]) {
    const history = randomHistory(seed)
    const purge = history.findLastIndex(({ type }) => type === 'ReadingsPurged')
    const database = emptyReadings()
    const model = readingsKind.open(database)
    for (const items of [history.slice(0, purge), history.slice(purge)]) {
      model.fold(items)
      flushReadings(database, model, historyStartMs)
    }
    expect(everythingOf(database)).toEqual(expectedOf(history))
  }
})

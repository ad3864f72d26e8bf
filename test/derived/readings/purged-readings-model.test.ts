import { expect, test } from 'bun:test'
import { everythingOf, expectedOf } from '../../support/readings/expected-readings.ts'
import { foldedReadings, historyStartMs, purgedLog, randomHistory } from '../../support/readings/readings-history.ts'

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

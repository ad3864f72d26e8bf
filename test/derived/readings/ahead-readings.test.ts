import { Statement } from 'bun:sqlite'
import { expect, spyOn, test } from 'bun:test'
import { aheadKegsPerHourMax } from '../../../src/derived/readings/ahead-readings.ts'
import { readingsKind } from '../../../src/derived/readings/readings-model.ts'
import { emptyReadings, flushReadings, historyStartMs } from '../../support/readings/readings-history.ts'
import { sentHistory } from '../../support/readings/sent-history.ts'

test('a full hour of readings ahead is counted once', () => {
  const database = emptyReadings()
  const prepare = spyOn(database, 'prepare')
  const model = readingsKind.open(database)
  const counting = prepare.mock.calls.findIndex(([sql]) => sql.startsWith('SELECT count(*)'))
  const statement: unknown = prepare.mock.results[counting]?.value
  if (!(statement instanceof Statement)) throw new Error('The statement that counts was not prepared')
  const count = spyOn(statement, 'get')
  const ahead = Array.from({ length: aheadKegsPerHourMax + 200 }, (_, number) => ({
    keg: `keg-${number}`,
    atMs: historyStartMs + 601_000,
    acceptedMs: historyStartMs,
  }))
  const history = sentHistory(ahead)
  model.fold(history.slice(0, aheadKegsPerHourMax))
  flushReadings(database, model, historyStartMs)
  expect(count).toHaveBeenCalledTimes(1)
  model.fold(history.slice(aheadKegsPerHourMax))
  expect(count).toHaveBeenCalledTimes(2)
  flushReadings(database, model, historyStartMs)
  expect(database.query('SELECT count(*) AS kegs FROM ahead').get()).toEqual({ kegs: aheadKegsPerHourMax })
})

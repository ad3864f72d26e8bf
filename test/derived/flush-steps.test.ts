import { expect, test } from 'bun:test'
import { askModel } from '../../src/derived/ask/ask-model.ts'
import { readingsKind } from '../../src/derived/readings/readings-model.ts'
import { minutesKeptMs } from '../../src/derived/readings/roll-ups.ts'
import { secondText } from '../../src/domain/calendar.ts'
import { cellarStream, keyStream, readingsStream } from '../../src/domain/stream-names.ts'
import { modelRowsPerStep } from '../../src/limits.ts'
import { modelHere } from '../support/derived/model-here.ts'
import { Recorder } from '../support/recorder.ts'

const startMs = Date.UTC(2026, 2, 1, 12)
const minuteMs = 60_000
/** The last row of a step can bring a few others along. */
const rowsMax = 2 * modelRowsPerStep

const expectSmallSteps = (steps: readonly number[]): void => {
  expect(steps.reduce((sum, rows) => sum + rows)).toBeGreaterThan(4 * rowsMax)
  expect(Math.max(...steps)).toBeLessThanOrEqual(rowsMax)
}

test('the model of readings writes and deletes the rows of many cellars in small steps', () => {
  const recorder = new Recorder()
  for (let minute = 0; minute < 5; minute += 1) {
    for (let cellar = 0; cellar < 300; cellar += 1) {
      const at = startMs + minute * minuteMs
      const data = { cellar: `cellar-${cellar}`, rack: 'rack', keg: 'keg', value: 4, timestamp: secondText(at) }
      recorder.record(readingsStream(`key-${cellar}`), { type: 'ReadingAccepted', data }, { at })
    }
  }
  const model = modelHere(readingsKind)
  model.fold(recorder.events)
  expectSmallSteps(model.flush(startMs))
  expectSmallSteps(model.flush(startMs + minutesKeptMs + 10 * minuteMs))
})

test('the model of readings writes and purges the rows of many kegs in small steps', () => {
  const recorder = new Recorder()
  for (let keg = 0; keg < 2_000; keg += 1) {
    const data = { cellar: 'north', rack: 'rack', keg: `keg-${keg}`, value: 4, timestamp: secondText(startMs) }
    recorder.record(readingsStream('key'), { type: 'ReadingAccepted', data }, { at: startMs })
  }
  const model = modelHere(readingsKind)
  model.fold(recorder.events)
  expectSmallSteps(model.flush(startMs))
  model.reopen()
  const purged = { cellar: 'north', keyId: 'key', firstRevision: 0, lastRevision: 1_999, readings: 2_000 }
  const data = { ...purged, acceptedBefore: startMs + 24 * 60 * minuteMs, lastAcceptedAt: startMs }
  model.fold([recorder.record(cellarStream('north'), { type: 'ReadingsPurged', data })])
  expectSmallSteps(model.flush(startMs))
})

test('the model for questions writes and forgets many places in small steps', () => {
  const recorder = new Recorder()
  const stream = keyStream('key')
  for (let count = 0; count < 2_000; count += 1) {
    recorder.record(stream, { type: 'KeySuspended', data: { reason: 'a test' } })
  }
  const model = modelHere(askModel)
  model.fold(recorder.events)
  expectSmallSteps(model.flush(startMs))
  const purged = { firstRevision: 0, lastRevision: 1_999, recordedBefore: startMs }
  model.fold([recorder.record(stream, { type: 'RecordsPurged', data: purged })])
  expectSmallSteps(model.flush(startMs))
})

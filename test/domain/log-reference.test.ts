import { expect, test } from 'bun:test'
import { foldedToOf } from '../../src/domain/log-reference.ts'
import { ReadingRun, RecordedRun } from '../../src/domain/reading/recorded-run.ts'
import { sampleRun } from '../support/sample-run.ts'

test('a run is named like its last event', () => {
  const at = { revision: 5, position: 11 }
  const run = sampleRun('k1', at)
  const first = run.run.requests.slice(0, 1)
  const batchAlone = new RecordedRun(new ReadingRun('k1', run.recordedAt, first), { ...at, stream: run.stream })
  for (const one of [run, batchAlone]) {
    const last = one.events().at(-1)
    expect(last && foldedToOf(last)).toEqual(foldedToOf(one))
  }
  expect(foldedToOf(batchAlone)).toMatchObject({
    position: 13,
    revision: 7,
    id: '00000000-0000-4000-8000-000000000000',
  })
})

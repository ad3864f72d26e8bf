import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { askModel } from '../../../src/derived/ask/ask-model.ts'
import { Name } from '../../../src/domain/reading/columns.ts'
import { eventsOfItems, type LogItem, ReadingRun, RecordedRun } from '../../../src/domain/reading/recorded-run.ts'
import { keyStream, readingsStream } from '../../../src/domain/stream-names.ts'
import { contentsOf } from '../../support/ask/file-contents.ts'
import { modelHere } from '../../support/derived/model-here.ts'
import { columnsOf } from '../../support/logs/columns-of.ts'
import { Recorder } from '../../support/recorder.ts'

const hourMs = 3_600_000
const noon = Date.UTC(2026, 2, 1, 12)

/** Few lists of racks, so that a key often sends a list again, or one that differs only in its last rack. */
const racksOf = ({ list, count, last }: Batch): readonly string[] =>
  Array.from({ length: count }, (_, at) => (at === count - 1 ? `last-${last}` : `rack-${(at * list) % 50}`))

type Batch = { readonly list: number; readonly count: number; readonly last: number }
type Step = Batch & { readonly key: number; readonly passedMs: number }

const step: fc.Arbitrary<Step> = fc.record({
  list: fc.integer({ min: 1, max: 3 }),
  count: fc.constantFrom(1, 7, 25),
  last: fc.nat(2),
  key: fc.nat(2),
  passedMs: fc.constantFrom(0, 1_000, 40_000),
})

/** The runs of one log. All batches share their names, as they do in the service. */
const runsOf = (steps: readonly Step[]): readonly RecordedRun[] => {
  const names = new Map<string, Name>()
  const nameOf = (text: string): Name => {
    const name = names.get(text) ?? new Name(text)
    names.set(text, name)
    return name
  }
  const revisions = [0, 0, 0]
  let position = 1 + recorder.events.length
  let atMs = noon
  return steps.map(({ key, passedMs, ...batch }, number) => {
    atMs += passedMs
    const rest = { cellar: 'c', keg: 'keg', value: 1, timestamp: '2026-03-01T12:00:00Z' }
    const readings = columnsOf(
      racksOf(batch).map((rack) => ({ ...rest, rack })),
      nameOf,
    )
    const requestId = `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
    const run = new ReadingRun(`k${key}`, atMs, [{ requestId, readings, idempotency: null }])
    const recorded = new RecordedRun(run, {
      stream: readingsStream(`k${key}`),
      revision: revisions[key] ?? 0,
      position,
    })
    revisions[key] = (revisions[key] ?? 0) + run.count
    position += run.count
    return recorded
  })
}

const recorder = new Recorder(noon - hourMs)
for (const keyId of ['k0', 'k1', 'k2']) {
  const rest = { label: '', note: '', secretHash: 'h', limit: null, expiresAt: null, predecessorId: null }
  recorder.record(keyStream(keyId), { type: 'KeyCreated', data: { keyId, cellar: 'c', ...rest } })
}

const folded = (items: readonly LogItem[]) => {
  const model = modelHere(askModel)
  model.fold(recorder.events)
  for (const item of items) model.fold([item])
  model.flush(noon)
  return contentsOf(model.database)
}

describe('askModel, with runs', () => {
  test('says the same of a run as of its events', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const runs = runsOf(steps)
        expect(folded(runs)).toEqual(folded(eventsOfItems(runs)))
      }),
      { numRuns: 60 },
    )
  })
})

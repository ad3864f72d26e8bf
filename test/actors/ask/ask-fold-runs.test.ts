import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { AskFold } from '../../../src/actors/ask/ask-fold.ts'
import { Name } from '../../../src/domain/reading/columns.ts'
import { eventsOfItems, type LogItem, ReadingRun, RecordedRun } from '../../../src/domain/reading/recorded-run.ts'
import { readingsStream } from '../../../src/domain/stream-names.ts'
import { toldListReadingsMin } from '../../../src/limits.ts'
import { MemoryAskIndex } from '../../support/ask/memory-ask-index.ts'
import { columnsOf } from '../../support/logs/columns-of.ts'

const noon = Date.UTC(2026, 2, 1, 12)

/** Few lists of racks, so that a key often sends a list again, or one that differs only in its last rack. */
const racksOf = ({ list, count, last }: Batch): readonly string[] =>
  Array.from({ length: count }, (_, at) => (at === count - 1 ? `last-${last}` : `rack-${(at * list) % 50}`))

type Batch = { readonly list: number; readonly count: number; readonly last: number }
type Step = Batch & { readonly key: number; readonly passedMs: number }

const step: fc.Arbitrary<Step> = fc.record({
  list: fc.integer({ min: 1, max: 3 }),
  count: fc.constantFrom(1, toldListReadingsMin - 1, toldListReadingsMin, toldListReadingsMin + 9),
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
  let position = 1
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

const contentsOf = async (items: readonly LogItem[]) => {
  const index = new MemoryAskIndex()
  const fold = new AskFold({ ofKey: () => 'c', ofStream: () => null })
  fold.begin(null, -1, noon)
  for (const item of items) fold.fold([item])
  const change = fold.take(noon)
  if (change !== null) await index.write(change)
  return index.contents()
}

describe('AskFold, with runs', () => {
  test('says the same of a run as of its events', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const runs = runsOf(steps)
        expect(await contentsOf(runs)).toEqual(await contentsOf(eventsOfItems(runs)))
      }),
      { numRuns: 60 },
    )
  })
})

import { describe, expect, test } from 'bun:test'
import { judgementRules, refusalsOf, rejectedThen } from '../../../src/domain/reading/batch-repeat.ts'
import { BatchItems, judgeBatch, type ParsedBatch, timelessItems } from '../../../src/domain/reading/judge-batch.ts'
import { NameCache } from '../../../src/domain/reading/name-cache.ts'

const noon = Date.UTC(2026, 2, 1, 12)
const at = (timestamp: string) => ({ cellar: 'wine', rack: 'r', keg: 'k', value: 1, timestamp })
const sent = [
  at('2026-03-01T11:59:59Z'),
  at('2026-03-01T11:00:00Z'),
  at('2026-03-01T12:00:01Z'),
  7,
  { ...at('noon'), rack: 'r' },
  { ...at('2026-03-01T12:00:00Z'), cellar: 'beer' },
]
const policy = { readingAgeMsMax: 60_000, readingAheadMsMax: 0, retentionMs: null }

const parsed = (items: readonly unknown[]): ParsedBatch => {
  const batch = new BatchItems(new NameCache())
  batch.begin('wine')
  for (const item of items) batch.judge(item)
  return batch.finish()
}

const judged = (context: { policy: typeof policy | null; now: number }) => {
  const batch = parsed(sent)
  const then = judgeBatch(batch, context)
  return { rejected: then.rejected, items: timelessItems(batch), refusals: refusalsOf(then, context) }
}

describe('a repeat of a batch', () => {
  test('is judged by the clock and the bounds of the first time', () => {
    const { rejected, items, refusals } = judged({ policy, now: noon })
    expect(rejected.map(({ index }) => index)).toEqual([1, 2, 3, 4, 5])
    expect(rejectedThen(refusals, items)).toEqual({ ok: true, value: rejected })
  })

  test('is judged without bounds if the node did not know the cellar', () => {
    const { rejected, items, refusals } = judged({ policy: null, now: noon })
    expect(rejected.map(({ index }) => index)).toEqual([3, 4, 5])
    expect(rejectedThen(refusals, items)).toEqual({ ok: true, value: rejected })
  })

  test('stores no judgement if no item was refused', () => {
    expect(refusalsOf(parsed([]), { policy, now: noon })).toBeNull()
    expect(rejectedThen(null, judged({ policy, now: noon }).items)).toEqual({
      ok: true,
      value: [],
    })
  })

  test('gets "unavailable" if newer rules judged the batch', () => {
    const { items, refusals } = judged({ policy, now: noon })
    if (refusals === null) throw new Error('there is no judgement')
    const newer = { ...refusals, rules: judgementRules + 1 }
    expect(rejectedThen(newer, items)).toEqual({
      ok: false,
      refusal: { kind: 'store_unavailable' },
    })
  })

  test('throws if its answer would differ from the first', () => {
    const { items, refusals } = judged({ policy, now: noon })
    const changed = items.with(3, noon - 1_000)
    expect(() => rejectedThen(refusals, changed)).toThrow('5 items were refused, and 4 are')
  })

  test('keeps only refusals and instants of its items', () => {
    const long = { ...at('2026-03-01T11:59:59Z'), rack: 'x'.repeat(100_000) }
    const items = timelessItems(parsed([...sent, long]))
    expect(items.slice(0, 3)).toEqual([noon - 1_000, noon - 3_600_000, noon + 1_000])
    expect(JSON.stringify(items)).not.toContain('xx')
  })
})

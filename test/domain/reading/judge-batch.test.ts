import { describe, expect, test } from 'bun:test'
import {
  BatchItems,
  judgeBatch,
  type ParsedBatch,
  parseBatch,
  timelessItems,
} from '../../../src/domain/reading/judge-batch.ts'
import { NameCache } from '../../../src/domain/reading/name-cache.ts'

const noon = Date.UTC(2026, 2, 1, 12)
const reading = { cellar: 'wine', rack: 'r', keg: 'k', value: 1, timestamp: '2026-03-01T12:00:00Z' }
const at = (second: number, value: number) => ({ ...reading, value, timestamp: `2026-03-01T12:00:0${second}.5Z` })

const parsed = (items: readonly unknown[]): ParsedBatch => {
  const batch = new BatchItems(new NameCache())
  batch.begin('wine')
  for (const item of items) batch.judge(item)
  return batch.finish()
}

const readingsOf = ({ readings }: ParsedBatch) =>
  Array.from({ length: readings.count }, (_, index) => readings.readingAt(index))

describe('a batch', () => {
  test('ignores fields that the body inherits', () => {
    expect(parseBatch({ readings: [reading] })).toEqual({ ok: true, value: [reading] })
    expect(parseBatch(Object.create({ readings: [reading] }))).toEqual({
      ok: false,
      refusal: { kind: 'invalid_body', what: 'batch' },
    })
  })

  test('keeps its valid readings in their order, with the five fields and no others', () => {
    const batch = parsed([{ ...reading, unit: '°C' }, null, { ...reading, value: 2 }, { ...reading, cellar: 'beer' }])
    expect(readingsOf(batch)).toEqual([reading, { ...reading, value: 2 }])
    expect(batch.rejected).toEqual([
      { index: 1, refusal: { kind: 'invalid_body', what: 'item' } },
      { index: 3, refusal: { kind: 'cellar_mismatch', cellar: 'wine' } },
    ])
  })

  test('gives the same columns if no timestamp is refused', () => {
    const batch = parsed([reading, 7])
    const policy = { readingAgeMsMax: 0, readingAheadMsMax: 0, retentionMs: null }
    expect(judgeBatch(batch, { policy: null, now: 0 })).toBe(batch)
    expect(judgeBatch(batch, { policy, now: noon })).toBe(batch)
    expect(judgeBatch(batch, { policy, now: noon + 1 })).not.toBe(batch)
    expect(judgeBatch(batch, { policy, now: noon - 1 })).not.toBe(batch)
  })

  test('without the readings that its cellar refuses keeps the order of all items', () => {
    const batch = parsed([7, at(1, 1), reading, 8, at(3, 3), { ...reading, value: 4 }, at(9, 9), 9])
    const policy = { readingAgeMsMax: 1_000, readingAheadMsMax: 3_000, retentionMs: null }
    const judged = judgeBatch(batch, { policy, now: noon + 1_500 })
    expect(readingsOf(judged)).toEqual([at(1, 1), at(3, 3)])
    const tooOld = { kind: 'timestamp_too_old', ageMsMax: 1_000 } as const
    const item = { kind: 'invalid_body', what: 'item' } as const
    expect(judged.rejected).toEqual([
      { index: 0, refusal: item },
      { index: 2, refusal: tooOld },
      { index: 3, refusal: item },
      { index: 5, refusal: tooOld },
      { index: 6, refusal: { kind: 'timestamp_in_future', aheadMsMax: 3_000 } },
      { index: 7, refusal: item },
    ])
  })

  test('gives for each item its refusal or its instant', () => {
    const item = { kind: 'invalid_body', what: 'item' } as const
    expect(timelessItems(parsed([7, 8, reading, 9, at(1, 1), 7]))).toEqual([
      ...[item, item, noon, item, noon + 1_500, item],
    ])
    expect(timelessItems(parsed([7]))).toEqual([item])
  })
})

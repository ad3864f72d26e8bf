import { describe, expect, test } from 'bun:test'
import { judgeBatch, parseBatch } from '../../../src/domain/reading/judge-batch.ts'

const reading = { cellar: 'wine', rack: 'r', keg: 'k', value: 1, timestamp: '2026-03-01T12:00:00Z' }

describe('a batch', () => {
  test('ignores fields that the body inherits', () => {
    expect(parseBatch({ readings: [reading] })).toEqual({ ok: true, value: [reading] })
    expect(parseBatch(Object.create({ readings: [reading] }))).toEqual({
      ok: false,
      refusal: { kind: 'invalid_body', what: 'batch' },
    })
  })

  test('keeps its valid readings in their order, with the five fields and no others', () => {
    const items = [{ ...reading, unit: '°C' }, null, { ...reading, value: 2 }, { ...reading, cellar: 'beer' }]
    expect(judgeBatch(items, { cellar: 'wine', policy: null, now: 0 })).toEqual({
      readings: [reading, { ...reading, value: 2 }],
      rejected: [
        { index: 1, refusal: { kind: 'invalid_body', what: 'item' } },
        { index: 3, refusal: { kind: 'cellar_mismatch', cellar: 'wine' } },
      ],
    })
  })
})

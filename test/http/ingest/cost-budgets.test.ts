import { describe, expect, test } from 'bun:test'
import { CostBudgets } from '../../../src/http/ingest/cost-budgets.ts'

const limit = { readings: 6_000, windowMs: 60_000 }
const empty = { kind: 'rate_limited', window: 'cost' }

describe('CostBudgets', () => {
  test('allow 100 requests a second, saved for a minute', () => {
    const budgets = new CostBudgets()
    for (let spent = 0; spent < 6_000; spent += 1) {
      expect(budgets.refusal('a', limit, 0)).toBeNull()
      budgets.charge('a', limit, 0, { requests: 1, bytes: 0 })
    }
    expect(budgets.refusal('a', limit, 0)).toMatchObject({ ...empty, retryAfterMs: 10 })
    expect(budgets.refusal('a', limit, 9)).toMatchObject(empty)
    expect(budgets.refusal('a', limit, 11)).toBeNull()
    expect(budgets.refusal('b', limit, 0)).toBeNull()
  })

  test('allow 64,000 bytes a second, saved for a minute', () => {
    const budgets = new CostBudgets()
    budgets.charge('a', limit, 0, { requests: 1, bytes: 3_839_999 })
    expect(budgets.refusal('a', limit, 0)).toBeNull()
    budgets.charge('a', limit, 0, { requests: 1, bytes: 64_000 })
    expect(budgets.refusal('a', limit, 999)).toMatchObject(empty)
    expect(budgets.refusal('a', limit, 1_000)).toBeNull()
  })

  test('do not charge requests to an empty budget', () => {
    const budgets = new CostBudgets()
    for (const requests of [6_000, 100_000]) budgets.charge('a', limit, 0, { requests, bytes: 0 })
    expect(budgets.refusal('a', limit, 0)).toMatchObject(empty)
    expect(budgets.refusal('a', limit, 11)).toBeNull()
  })

  test('save at most a minute', () => {
    const budgets = new CostBudgets()
    budgets.charge('a', limit, 0, { requests: 1, bytes: 0 })
    budgets.charge('a', limit, 3_600_000, { requests: 6_000, bytes: 0 })
    expect(budgets.refusal('a', limit, 3_600_000)).toMatchObject(empty)
  })

  test.each([
    [{ readings: 1, windowMs: 86_400_000 }, 100],
    [{ readings: 60_000, windowMs: 60_000 }, 100],
    [{ readings: 60_600, windowMs: 60_000 }, 101],
    [{ readings: 100_000, windowMs: 1_000 }, 10_000],
    [{ readings: 10_000_000, windowMs: 1_000 }, 10_000],
  ])('allow %j a tenth of its readings, from 100 to 10,000: %d', (of, requests) => {
    const budgets = new CostBudgets()
    budgets.charge('a', of, 0, { requests: requests * 60, bytes: 0 })
    expect(budgets.refusal('a', of, 0)).toMatchObject({ allowed: { requests, bytes: requests * 640 } })
  })

  test('forget the key charged longest ago, one past the bound', () => {
    const budgets = new CostBudgets(2)
    for (const keyId of ['a', 'b', 'a', 'c']) budgets.charge(keyId, limit, 0, { requests: 6_000, bytes: 0 })
    expect(budgets.refusal('a', limit, 0)).toMatchObject(empty)
    expect(budgets.refusal('b', limit, 0)).toBeNull()
    expect(budgets.refusal('c', limit, 0)).toMatchObject(empty)
  })

  test('refill from the new time after the clock was set back', () => {
    const budgets = new CostBudgets()
    budgets.charge('a', limit, 3_600_000, { requests: 6_000, bytes: 0 })
    expect(budgets.refusal('a', limit, 0)).toMatchObject(empty)
    expect(budgets.refusal('a', limit, 9)).toMatchObject(empty)
    expect(budgets.refusal('a', limit, 11)).toBeNull()
  })
})

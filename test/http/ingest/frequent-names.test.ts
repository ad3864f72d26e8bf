import { describe, expect, test } from 'bun:test'
import { FrequentNames } from '../../../src/http/ingest/frequent-names.ts'

describe('FrequentNames', () => {
  test('counts exactly while the names fit, highest counts first', () => {
    const names = new FrequentNames(3)
    for (const name of ['b', 'a', 'c', 'a', 'c', 'a']) names.count(name)
    expect(names.top(2)).toEqual([
      ['a', 3],
      ['c', 2],
    ])
    expect(names.top(4)).toHaveLength(3)
  })

  test('lowers every count by one when all counters are in use', () => {
    const names = new FrequentNames(2)
    for (const name of ['a', 'a', 'b', 'c']) names.count(name)
    expect(names.top(2)).toEqual([['a', 1]])
    names.count('c')
    expect(names.top(2).toSorted()).toEqual([
      ['a', 1],
      ['c', 1],
    ])
  })

  test('never counts too much, and too little within its bound', () => {
    const countersMax = 16
    const names = new FrequentNames(countersMax)
    const truth = new Map<string, number>()
    // The names come from a generator with a fixed seed. A few of them are frequent.
    let state = 1
    const total = 20_000
    for (let at = 0; at < total; at += 1) {
      state = (state * 48_271) % 2_147_483_647
      const name = state % 3 === 0 ? `often-${state % 5}` : `seldom-${state}`
      truth.set(name, (truth.get(name) ?? 0) + 1)
      names.count(name)
      expect(names.size).toBeLessThanOrEqual(countersMax)
    }
    const counted = new Map(names.top(countersMax))
    for (const [name, count] of truth) {
      expect(counted.get(name) ?? 0).toBeLessThanOrEqual(count)
      expect(counted.get(name) ?? 0).toBeGreaterThanOrEqual(count - total / (countersMax + 1))
    }
  })
})

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { RefusalSums, type Refused, type Summary } from '../../../src/domain/refusals/refusal-sums.ts'
import {
  refusalSamplesMax,
  refusalSamplesOfAllKeysMax,
  refusalSumsBytesPerDayMax,
  refusalSumsKeysMax,
} from '../../../src/limits.ts'

const startMs = Date.UTC(2026, 2, 1, 12)
const [tenSeconds, minute, tenMinutes] = [10_000, 60_000, 600_000]

const refused = (atMs: number, code = 'INVALID_NAME', more: Partial<Refused> = {}): Refused => ({
  requestId: `request-${atMs}`,
  atMs: startMs + atMs,
  code,
  field: null,
  rule: null,
  rack: null,
  keg: null,
  count: 1,
  ...more,
})

const countsOf = (summaries: readonly Summary[]) =>
  summaries.map(({ keyId, data }) => [keyId, Object.fromEntries(data.counts.map(({ code, count }) => [code, count]))])

describe('RefusalSums', () => {
  test('sums up a code after 10 s, a minute later, and then every 10 minutes', () => {
    const sums = new RefusalSums()
    const told: number[] = []
    let count = 0
    for (let atMs = 0; atMs <= 3_000_000; atMs += 500) {
      sums.note('a', refused(atMs))
      for (const { data } of sums.take(startMs + atMs)) {
        told.push(atMs)
        count += data.counts[0]?.count ?? 0
      }
    }
    expect(told.slice(0, 5)).toEqual([
      tenSeconds,
      tenSeconds + minute,
      tenSeconds + minute + tenMinutes,
      tenSeconds + minute + 2 * tenMinutes,
      tenSeconds + minute + 3 * tenMinutes,
    ])
    expect(count).toBe((told.at(-1) ?? 0) / 500 + 1)
  })

  test('begins again with 10 s after a code was quiet for 10 minutes', () => {
    const sums = new RefusalSums()
    sums.note('a', refused(0))
    expect(sums.take(startMs + tenSeconds - 1)).toEqual([])
    expect(countsOf(sums.take(startMs + tenSeconds))).toEqual([['a', { INVALID_NAME: 1 }]])
    const laterMs = tenSeconds + tenMinutes
    sums.note('a', refused(laterMs))
    expect(sums.take(startMs + laterMs + tenSeconds - 1)).toEqual([])
    expect(sums.take(startMs + laterMs + tenSeconds)).toHaveLength(1)
    const againMs = laterMs + tenSeconds + 1
    sums.note('a', refused(againMs))
    expect(sums.take(startMs + laterMs + tenSeconds + minute - 1)).toEqual([])
    expect(sums.take(startMs + laterMs + tenSeconds + minute)).toHaveLength(1)
  })

  test('writes few summaries of a key that is refused for a day', () => {
    const sums = new RefusalSums()
    let summaries = 0
    for (let atMs = 0; atMs < 86_400_000; atMs += 61_000) {
      summaries += sums.take(startMs + atMs).length
      sums.note('a', refused(atMs))
    }
    expect(summaries).toBeLessThanOrEqual(2 + 86_400_000 / tenMinutes)
    expect(summaries).toBeGreaterThan(100)
  })

  test('sums up a new code after 10 s, together with what else waits', () => {
    const sums = new RefusalSums()
    sums.note('a', refused(0))
    sums.take(startMs + tenSeconds)
    sums.note('a', refused(12_000))
    sums.note('a', refused(15_000, 'INVALID_TYPE', { count: 3 }))
    expect(sums.take(startMs + 24_999)).toEqual([])
    const [summary] = sums.take(startMs + 25_000)
    expect(summary?.data).toMatchObject({
      from: startMs + 12_000,
      to: startMs + 15_000,
      counts: [
        { code: 'INVALID_NAME', count: 1 },
        { code: 'INVALID_TYPE', count: 3 },
      ],
    })
  })

  test('keeps the first samples, and at least one for each code', () => {
    const sums = new RefusalSums()
    for (let index = 0; index < 20; index += 1) sums.note('a', refused(index))
    sums.note('a', refused(20, 'INVALID_TYPE'))
    sums.note('a', refused(21, 'INVALID_VALUE'))
    sums.note('a', refused(22, 'INVALID_VALUE'))
    const [summary] = sums.take(startMs + tenMinutes)
    const samples = summary?.data.samples.map(({ atMs, code }) => [atMs - startMs, code])
    expect(samples).toHaveLength(refusalSamplesMax)
    expect(samples?.slice(-3)).toEqual([
      [5, 'INVALID_NAME'],
      [20, 'INVALID_TYPE'],
      [21, 'INVALID_VALUE'],
    ])
  })

  test('keeps valid names of racks and kegs, and no invalid ones', () => {
    const sums = new RefusalSums()
    sums.note('a', refused(0, 'TIMESTAMP_TOO_OLD', { rack: 'rack-17', keg: 'hop\u0000' }))
    sums.note('a', refused(1, 'INVALID_NAME', { rack: ' ', keg: 'x'.repeat(129) }))
    const [summary] = sums.take(startMs + tenSeconds)
    expect(summary?.data.samples.map(({ rack, keg }) => [rack, keg])).toEqual([
      ['rack-17', null],
      [null, null],
    ])
  })

  test('merges a summary that was given back with what came since', () => {
    const sums = new RefusalSums()
    sums.note('a', refused(0))
    const taken = sums.take(startMs + tenSeconds)
    sums.note('a', refused(11_000))
    sums.note('a', refused(12_000, 'INVALID_TYPE'))
    expect(sums.giveBack(taken, startMs + 13_000)).toEqual([])
    expect(sums.take(startMs + 22_999)).toEqual([])
    const [summary] = sums.take(startMs + 23_000)
    expect(countsOf(summary === undefined ? [] : [summary])).toEqual([['a', { INVALID_NAME: 2, INVALID_TYPE: 1 }]])
    expect([summary?.data.from, summary?.data.to]).toEqual([startMs, startMs + 12_000])
    expect(summary?.data.samples).toHaveLength(3)
  })

  test('holds sums of at most 1,000 keys, and says which refusal finds no room', () => {
    const sums = new RefusalSums()
    for (let key = 0; key < refusalSumsKeysMax; key += 1) expect(sums.note(`key-${key}`, refused(0))).toBe(true)
    expect(sums.note('one more', refused(0))).toBe(false)
    expect(sums.note('key-0', refused(1))).toBe(true)
    expect(sums.size).toBe(refusalSumsKeysMax)
    const taken = sums.take(startMs + tenSeconds)
    expect(taken).toHaveLength(refusalSumsKeysMax)
    // Keys that wait for nothing give way.
    for (let key = 0; key < refusalSumsKeysMax; key += 1) expect(sums.note(`new-${key}`, refused(10_001))).toBe(true)
    expect(sums.size).toBe(refusalSumsKeysMax)
    expect(sums.giveBack(taken.slice(0, 3), startMs + 10_002)).toEqual(taken.slice(0, 3))
  })

  test('holds at most 2,000 samples of all keys, also of summaries that come back', () => {
    const sums = new RefusalSums()
    const samplesOf = (summaries: readonly Summary[]) =>
      summaries.reduce((sum, { data }) => sum + data.samples.length, 0)
    const noteAll = (atMs: number): void => {
      for (let key = 0; key < refusalSumsKeysMax; key += 1) {
        for (let sample = 0; sample < 3; sample += 1) sums.note(`key-${key}`, refused(atMs))
      }
    }
    noteAll(0)
    const taken = sums.take(startMs + tenSeconds)
    expect(samplesOf(taken)).toBe(refusalSamplesOfAllKeysMax)
    noteAll(tenSeconds)
    sums.giveBack(taken, startMs + tenSeconds)
    const merged = sums.take(startMs + tenMinutes)
    expect(samplesOf(merged)).toBe(refusalSamplesOfAllKeysMax)
    expect(merged.every(({ data }) => data.counts[0]?.count === 6)).toBe(true)
  })

  test('leaves out the samples when the day is full, until the next day', () => {
    const sums = new RefusalSums()
    const long = { rack: 'r'.repeat(128), keg: 'k'.repeat(128) }
    let bytes = 0
    let withoutSamples = 0
    let atMs = 0
    for (let round = 0; withoutSamples === 0; round += 1) {
      for (let key = 0; key < 200; key += 1) {
        for (let sample = 0; sample < 8; sample += 1)
          sums.note(`${round}-${key}`, refused(atMs, `CODE_${sample}`, long))
      }
      atMs += tenSeconds
      for (const { data } of sums.take(startMs + atMs)) {
        if (data.samples.length === 0) withoutSamples += 1
        else bytes += JSON.stringify(data).length
      }
    }
    expect(bytes).toBeLessThanOrEqual(refusalSumsBytesPerDayMax)
    const nextDayMs = 86_400_000
    sums.note('next day', refused(nextDayMs))
    expect(sums.take(startMs + nextDayMs + tenSeconds)[0]?.data.samples).toHaveLength(1)
  })

  test('counts every refusal exactly once, whatever is given back', () => {
    const anyStep = fc.record({
      key: fc.nat({ max: 5 }),
      code: fc.nat({ max: 2 }),
      count: fc.integer({ min: 1, max: 9 }),
      passedMs: fc.nat({ max: 200_000 }),
      isAway: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 60 }), (steps) => {
        const sums = new RefusalSums(3)
        let [nowMs, noted, counted, forNode] = [0, 0, 0, 0]
        const count = ({ data }: Summary): number => data.counts.reduce((sum, { count }) => sum + count, 0)
        for (const { key, code, count: many, passedMs, isAway } of steps) {
          nowMs += passedMs
          noted += many
          if (!sums.note(`key-${key}`, refused(nowMs, `CODE_${code}`, { count: many }))) forNode += many
          const taken = sums.take(startMs + nowMs)
          const lost = isAway ? sums.giveBack(taken, startMs + nowMs) : []
          for (const summary of isAway ? lost : taken) counted += count(summary)
          expect(sums.size).toBeLessThanOrEqual(3)
          for (const { data } of taken) expect(data.samples.length).toBeLessThanOrEqual(refusalSamplesMax)
        }
        for (const summary of sums.take(startMs + nowMs + tenMinutes)) counted += count(summary)
        expect(counted + forNode).toBe(noted)
      }),
    )
  })
})

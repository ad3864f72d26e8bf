import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { dayMs } from '../../../src/domain/calendar.ts'
import {
  RefusalSums,
  type Refused,
  refusalSamplesOfAllKeysMax,
  refusalSumsKeysMax,
  type Summary,
} from '../../../src/domain/refusals/refusal-sums.ts'
import {
  bytesOfSummary,
  refusalSummaryBytesOfStop,
  refusalSummaryBytesPerDay,
  refusalSummaryBytesSavedMax,
} from '../../../src/domain/refusals/summary-bytes.ts'
import { refusalSamplesMax } from '../../../src/domain/refusals/waiting-refusals.ts'
import { refusalSummaryMsMax } from '../../../src/limits.ts'

// The default timeout of 5 s is too short on a busy CPU.
setDefaultTimeout(600_000)

const startMs = Date.UTC(2026, 2, 1, 12)
/** The node has run for a day, so it has saved up bytes. */
const begunMs = startMs - dayMs
const [tenSeconds, minute, tenMinutes] = [10_000, 60_000, 600_000]

const refused = (atMs: number, code = 'INVALID_NAME', more: Partial<Refused> = {}): Refused => ({
  requestId: `request-${atMs}`,
  atMs: startMs + atMs,
  code,
  refusal: { kind: 'invalid_value' },
  names: null,
  count: 1,
  ...more,
})

const take = (sums: RefusalSums, nowMs: number): readonly Summary[] =>
  sums.take(nowMs, { summariesMax: Number.POSITIVE_INFINITY, isLast: false })
const stop = (sums: RefusalSums, nowMs: number): readonly Summary[] => {
  const all: Summary[] = []
  while (true) {
    const some = sums.take(nowMs, { summariesMax: 8, isLast: true })
    if (some.length === 0) return all
    all.push(...some)
  }
}
const giveBack = (sums: RefusalSums, summaries: readonly Summary[], nowMs: number): void => {
  for (const summary of summaries) sums.giveBack(summary, nowMs)
}
const ofKeys = (summaries: readonly Summary[]) => summaries.filter(({ keyId }) => keyId !== null)
const countOf = ({ data }: Summary): number => data.counts.reduce((sum, { count }) => sum + count, 0)

const countsOf = (summaries: readonly Summary[]) =>
  summaries.map(({ keyId, data }) => [keyId, Object.fromEntries(data.counts.map(({ code, count }) => [code, count]))])

describe('RefusalSums', () => {
  test('sums up a code after 10 s, a minute later, and then every 10 minutes', () => {
    const sums = new RefusalSums(begunMs)
    const told: number[] = []
    let count = 0
    for (let atMs = 0; atMs <= 3_000_000; atMs += 500) {
      sums.note('a', refused(atMs))
      for (const { data } of take(sums, startMs + atMs)) {
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
    const sums = new RefusalSums(begunMs)
    sums.note('a', refused(0))
    expect(take(sums, startMs + tenSeconds - 1)).toEqual([])
    expect(countsOf(take(sums, startMs + tenSeconds))).toEqual([['a', { INVALID_NAME: 1 }]])
    const laterMs = tenSeconds + tenMinutes
    sums.note('a', refused(laterMs))
    expect(take(sums, startMs + laterMs + tenSeconds - 1)).toEqual([])
    expect(take(sums, startMs + laterMs + tenSeconds)).toHaveLength(1)
    const againMs = laterMs + tenSeconds + 1
    sums.note('a', refused(againMs))
    expect(take(sums, startMs + laterMs + tenSeconds + minute - 1)).toEqual([])
    expect(take(sums, startMs + laterMs + tenSeconds + minute)).toHaveLength(1)
  })

  test('writes few summaries of a key that is refused for a day', () => {
    const sums = new RefusalSums(begunMs)
    let summaries = 0
    for (let atMs = 0; atMs < 86_400_000; atMs += 61_000) {
      summaries += take(sums, startMs + atMs).length
      sums.note('a', refused(atMs))
    }
    expect(summaries).toBeLessThanOrEqual(2 + 86_400_000 / tenMinutes)
    expect(summaries).toBeGreaterThan(100)
  })

  test('sums up a new code after 10 s, together with what else waits', () => {
    const sums = new RefusalSums(begunMs)
    sums.note('a', refused(0))
    take(sums, startMs + tenSeconds)
    sums.note('a', refused(12_000))
    sums.note('a', refused(15_000, 'INVALID_TYPE', { count: 3 }))
    expect(take(sums, startMs + 24_999)).toEqual([])
    const [summary] = take(sums, startMs + 25_000)
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
    const sums = new RefusalSums(begunMs)
    for (let index = 0; index < 20; index += 1) sums.note('a', refused(index))
    sums.note('a', refused(20, 'INVALID_TYPE'))
    sums.note('a', refused(21, 'INVALID_VALUE'))
    sums.note('a', refused(22, 'INVALID_VALUE'))
    const [summary] = take(sums, startMs + tenMinutes)
    const samples = summary?.data.samples.map(({ atMs, code }) => [atMs - startMs, code])
    expect(samples).toHaveLength(refusalSamplesMax)
    expect(samples?.slice(-3)).toEqual([
      [5, 'INVALID_NAME'],
      [20, 'INVALID_TYPE'],
      [21, 'INVALID_VALUE'],
    ])
  })

  test('keeps valid names of racks and kegs, and no invalid ones', () => {
    const sums = new RefusalSums(begunMs)
    sums.note('a', refused(0, 'TIMESTAMP_TOO_OLD', { names: { rack: 'rack-17', keg: 'hop\u0000' } }))
    sums.note('a', refused(1, 'INVALID_NAME', { names: { rack: ' ', keg: 'x'.repeat(129) } }))
    const [summary] = take(sums, startMs + tenSeconds)
    expect(summary?.data.samples.map(({ rack, keg }) => [rack, keg])).toEqual([
      ['rack-17', null],
      [null, null],
    ])
  })

  test('merges a summary that was given back with what came since', () => {
    const sums = new RefusalSums(begunMs)
    sums.note('a', refused(0))
    const taken = take(sums, startMs + tenSeconds)
    sums.note('a', refused(11_000))
    sums.note('a', refused(12_000, 'INVALID_TYPE'))
    giveBack(sums, taken, startMs + 13_000)
    expect(take(sums, startMs + 21_999)).toEqual([])
    const [summary] = take(sums, startMs + 22_000)
    expect(countsOf(summary === undefined ? [] : [summary])).toEqual([['a', { INVALID_NAME: 2, INVALID_TYPE: 1 }]])
    expect([summary?.data.from, summary?.data.to]).toEqual([startMs, startMs + 12_000])
    expect(summary?.data.samples).toHaveLength(3)
  })

  test('holds sums of at most 1,000 keys, and counts the others for the node', () => {
    const sums = new RefusalSums(begunMs)
    for (let key = 0; key < refusalSumsKeysMax; key += 1) sums.note(`key-${key}`, refused(0))
    sums.note('one more', refused(0))
    sums.note('key-0', refused(1))
    expect(sums.size).toBe(refusalSumsKeysMax)
    const taken = take(sums, startMs + tenSeconds)
    expect(ofKeys(taken)).toHaveLength(refusalSumsKeysMax)
    expect(countsOf(taken)[0]).toEqual([null, { INVALID_NAME: 1 }])
    // Keys that wait for nothing give way.
    for (let key = 0; key < refusalSumsKeysMax; key += 1) sums.note(`new-${key}`, refused(10_001))
    expect(sums.size).toBe(refusalSumsKeysMax)
    giveBack(sums, taken.slice(0, 3), startMs + 10_002)
    const merged = take(sums, startMs + tenMinutes)
    expect(countsOf(merged)[0]).toEqual([null, { INVALID_NAME: 4 }])
  })

  test('sums up for the node by code, without samples', () => {
    const sums = new RefusalSums(begunMs)
    sums.note(null, refused(0, 'KEY_UNKNOWN'))
    sums.note(null, refused(5, 'KEY_UNKNOWN'))
    const [summary, ...others] = take(sums, startMs + tenSeconds)
    expect([summary?.keyId, others]).toEqual([null, []])
    expect(summary?.data).toEqual({
      from: startMs,
      to: startMs + 5,
      counts: [{ code: 'KEY_UNKNOWN', count: 2 }],
      samples: [],
    })
  })

  test('hands out a bounded number at once, and all of them at the end', () => {
    const sums = new RefusalSums(begunMs)
    for (let key = 0; key < 10; key += 1) sums.note(`key-${key}`, refused(0))
    sums.note(null, refused(0))
    const sizes = [8, 8, 8].map((summariesMax) => sums.take(startMs, { summariesMax, isLast: true }).length)
    expect(sizes).toEqual([8, 3, 0])
  })

  test('holds at most 2,000 samples of all keys, also of summaries that come back', () => {
    const sums = new RefusalSums(begunMs)
    const samplesOf = (summaries: readonly Summary[]) =>
      summaries.reduce((sum, { data }) => sum + data.samples.length, 0)
    const noteAll = (atMs: number): void => {
      for (let key = 0; key < refusalSumsKeysMax; key += 1) {
        for (let sample = 0; sample < 3; sample += 1) sums.note(`key-${key}`, refused(atMs))
      }
    }
    noteAll(0)
    const taken = take(sums, startMs + tenSeconds)
    expect(samplesOf(taken)).toBe(refusalSamplesOfAllKeysMax)
    noteAll(tenSeconds)
    giveBack(sums, taken, startMs + tenSeconds)
    const merged = take(sums, startMs + tenMinutes)
    expect(samplesOf(merged)).toBe(refusalSamplesOfAllKeysMax)
    expect(merged.every(({ data }) => data.counts[0]?.count === 6)).toBe(true)
  })

  test('writes at most 64 MiB in a day, and each key has its turn', () => {
    const sums = new RefusalSums(begunMs)
    const names = { rack: 'r'.repeat(128), keg: 'k'.repeat(128) }
    const told = new Map<string | null, number>()
    let [noted, bytes, longestWaitMs] = [0, 0, 0]
    const read = (summaries: readonly Summary[], atMs: number): void => {
      for (const summary of summaries) {
        bytes += bytesOfSummary(summary.data)
        longestWaitMs = Math.max(longestWaitMs, startMs + atMs - summary.data.from)
        told.set(summary.keyId, (told.get(summary.keyId) ?? 0) + countOf(summary))
      }
    }
    for (let atMs = 0; atMs < dayMs; atMs += 30_000) {
      read(take(sums, startMs + atMs), atMs)
      for (let key = 0; key < refusalSumsKeysMax; key += 1) {
        // One key is refused a hundred times as often as each other.
        sums.note(`key-${key}`, refused(atMs, `CODE_${key % 3}`, { names, count: key === 0 ? 100 : 1 }))
      }
      sums.note(null, refused(atMs))
      noted += refusalSumsKeysMax + 100
    }
    expect(bytes).toBeLessThanOrEqual(refusalSummaryBytesSavedMax + refusalSummaryBytesPerDay)
    expect(bytes).toBeGreaterThan(refusalSummaryBytesPerDay)
    read(stop(sums, startMs + dayMs), dayMs)
    expect(longestWaitMs).toBeLessThan(refusalSummaryMsMax)
    expect(told.size).toBe(refusalSumsKeysMax + 1)
    expect([...told.values()].reduce((sum, count) => sum + count)).toBe(noted)
  })

  test.each([
    ['dies', tenSeconds],
    ['dies', minute],
    ['stops', tenSeconds],
    ['stops', minute],
  ])('gives a node that %s every %i ms only what it earns while it runs', (how, runMs) => {
    let [noted, counted, bytes] = [0, 0, 0]
    for (let beginMs = 0; beginMs < dayMs; beginMs += runMs) {
      const sums = new RefusalSums(startMs + beginMs)
      for (let key = 0; key < 100; key += 1) sums.note(`key-${key}`, refused(beginMs))
      noted += 100
      const endMs = startMs + beginMs + runMs
      for (const summary of [...take(sums, endMs), ...(how === 'stops' ? stop(sums, endMs) : [])]) {
        bytes += bytesOfSummary(summary.data)
        counted += countOf(summary)
      }
    }
    expect(bytes).toBeLessThanOrEqual(refusalSummaryBytesPerDay)
    expect(bytes).toBeGreaterThan(refusalSummaryBytesPerDay / 10)
    if (how === 'stops') expect(counted).toBe(noted)
  })

  test('tells all at a stop just after the start, in one summary of the node', () => {
    const sums = new RefusalSums(startMs)
    for (let key = 0; key < refusalSumsKeysMax; key += 1) {
      sums.note(`key-${key}`, refused(0, `CODE_OF_REFUSALS_${key % 34}`, { count: 1_000_000 }))
    }
    const [summary, ...others] = stop(sums, startMs)
    expect([summary?.keyId, others]).toEqual([null, []])
    expect(summary === undefined ? 0 : countOf(summary)).toBe(refusalSumsKeysMax * 1_000_000)
    expect(summary === undefined ? 0 : bytesOfSummary(summary.data)).toBeLessThan(refusalSummaryBytesOfStop)
    // What is kept for the stop is there once.
    let more = 0
    for (let rounds = 0; rounds < 100; rounds += 1) {
      sums.note(null, refused(rounds))
      more += stop(sums, startMs).length
    }
    expect(more).toBeLessThan(5)
  })

  test('counts what has waited too long without room for the node, in few summaries', () => {
    const sums = new RefusalSums(startMs)
    for (let key = 0; key < refusalSumsKeysMax; key += 1) {
      sums.note(`key-${key}`, refused(key * 100, 'INVALID_NAME', { names: { rack: 'r'.repeat(128), keg: 'k' } }))
    }
    const told: Summary[] = []
    for (let atMs = 0; atMs <= refusalSummaryMsMax + 100_000; atMs += 500) {
      for (const summary of take(sums, startMs + atMs)) {
        told.push(summary)
        expect(startMs + atMs - summary.data.from).toBeLessThan(refusalSummaryMsMax)
      }
    }
    expect(told.reduce((sum, summary) => sum + countOf(summary), 0)).toBe(refusalSumsKeysMax)
    expect(ofKeys(told).length).toBeLessThan(refusalSumsKeysMax)
    expect(told.length - ofKeys(told).length).toBeLessThanOrEqual(3)
  })

  test('gives room to the key whose last summary is oldest', () => {
    const sums = new RefusalSums(startMs)
    const summarized = new Set<string | null>()
    const names = { rack: 'r'.repeat(128), keg: 'k'.repeat(128) }
    for (let atMs = 0; atMs < 4 * 3_600_000; atMs += tenSeconds) {
      for (let key = 0; key < refusalSumsKeysMax; key += 1) sums.note(`key-${key}`, refused(atMs, 'A', { names }))
      for (const { keyId } of take(sums, startMs + atMs)) summarized.add(keyId)
    }
    expect(summarized.size).toBe(refusalSumsKeysMax + 1)
  })

  test('keeps a summary that finds no room, and writes it later', () => {
    const sums = new RefusalSums(startMs)
    for (let key = 0; key < 100; key += 1) sums.note(`key-${key}`, refused(0))
    sums.note(null, refused(0))
    const first = take(sums, startMs + tenSeconds)
    expect(first[0]?.keyId).toBeNull()
    expect(first.length).toBeLessThan(20)
    const later = take(sums, startMs + tenMinutes)
    expect(first.length + later.length).toBe(101)
  })

  test('counts the bytes of a summary once, however often it is given back', () => {
    const sums = new RefusalSums(begunMs)
    for (let key = 0; key < refusalSumsKeysMax; key += 1) sums.note(`key-${key}`, refused(0))
    for (let round = 1; round < 500; round += 1) {
      const taken = take(sums, startMs + round * tenSeconds)
      expect(taken).toHaveLength(refusalSumsKeysMax)
      giveBack(sums, taken, startMs + round * tenSeconds)
    }
    expect(take(sums, startMs + 500 * tenSeconds).every(({ data }) => data.samples.length === 1)).toBe(true)
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
        const sums = new RefusalSums(begunMs, 3)
        let [nowMs, noted, counted] = [0, 0, 0]
        for (const { key, code, count: many, passedMs, isAway } of steps) {
          nowMs += passedMs
          noted += many
          sums.note(key === 0 ? null : `key-${key}`, refused(nowMs, `CODE_${code}`, { count: many }))
          const taken = take(sums, startMs + nowMs)
          if (isAway) giveBack(sums, taken, startMs + nowMs)
          else for (const summary of taken) counted += countOf(summary)
          expect(sums.size).toBeLessThanOrEqual(3)
          for (const { data } of taken) expect(data.samples.length).toBeLessThanOrEqual(refusalSamplesMax)
        }
        for (const summary of take(sums, startMs + nowMs + tenMinutes)) counted += countOf(summary)
        expect(counted).toBe(noted)
      }),
    )
  })
})

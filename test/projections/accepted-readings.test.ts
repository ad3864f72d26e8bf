import { describe, expect, test } from 'bun:test'
import { createProjections } from '../../projections/projections.ts'
import type { Projections } from '../../projections/queries.ts'
import { instantText } from '../../src/domain/calendar.ts'
import type { EventData } from '../../src/domain/events.ts'
import { cellarStream } from '../../src/domain/stream-names.ts'
import {
  barriersPerKeyMax,
  futureSkewMsMax,
  kegsPerCellarMax,
  latestReadingsPerCellarMax,
  pointsPerKegMax,
} from '../../src/limits.ts'
import { kegNamesOf, kegsOf } from '../support/kegs-of.ts'
import { Recorder } from '../support/recorder.ts'

const noon = Date.UTC(2026, 2, 1, 12)
const dayMs = 86_400_000

const scene = () => {
  const recorder = new Recorder(noon)
  const projections = createProjections()
  const post = (data: Partial<EventData<'ReadingAccepted'>>, options: { at?: number; keyId?: string } = {}) => {
    const event = recorder.record(
      `readings-${options.keyId ?? 'k1'}`,
      {
        type: 'ReadingAccepted',
        data: { cellar: 'c', rack: 'r', keg: 'k', value: 1, timestamp: '2026-03-01T12:00:00Z', ...data },
      },
      { at: options.at ?? noon },
    )
    projections.fold([event])
    return event
  }
  return { recorder, projections, post }
}

const latestOf = (projections: Projections) => kegsOf(projections, 'c').map(({ latest }) => latest.value)

describe('the latest readings of a cellar', () => {
  test(`are the last ${latestReadingsPerCellarMax} accepted, newest first`, () => {
    const { projections, post } = scene()
    for (let value = 0; value < latestReadingsPerCellarMax; value += 1) post({ value })
    expect(projections.readings.latest('c').at(-1)?.value).toBe(0)
    post({ value: 50 })
    const values = projections.readings.latest('c').map(({ value }) => value)
    expect(values).toEqual(Array.from({ length: latestReadingsPerCellarMax }, (_, index) => 50 - index))
  })

  test('put a late reading of another key at its place, also at the oldest place', () => {
    const { projections, post } = scene()
    for (let value = 0; value < latestReadingsPerCellarMax; value += 1) post({ value }, { at: noon + value * 10 })
    post({ value: -1 }, { keyId: 'k2', at: noon + 5 })
    const oldest = () => projections.readings.latest('c').slice(-2)
    expect(oldest().map(({ value }) => value)).toEqual([1, -1])
    post({ value: 50 }, { at: noon + 500 })
    expect(oldest().map(({ value }) => value)).toEqual([2, 1])
  })

  test('have all fields of the event, and its stream, revision and position', () => {
    const { projections, post } = scene()
    post({ cellar: 'other' })
    const event = post({ value: 7e-6, timestamp: '2026-03-01T11:59:00.123456789Z' }, { keyId: 'k2', at: noon + 5 })
    expect(projections.readings.latest('c')).toEqual([
      {
        stream: 'readings-k2',
        revision: 0,
        position: event.position,
        keyId: 'k2',
        recordedAt: noon + 5,
        cellar: 'c',
        rack: 'r',
        keg: 'k',
        value: 7e-6,
        timestamp: '2026-03-01T11:59:00.123456789Z',
        clockSkew: false,
        repeatOf: null,
      },
    ])
    expect(projections.readings.latest('nobody')).toEqual([])
  })
})

describe('the latest value of a keg', () => {
  test('has the latest timestamp, and may not be the last to arrive', () => {
    const { projections, post } = scene()
    post({ value: 1, timestamp: '2026-03-01T11:00:00Z' })
    post({ value: 2, timestamp: '2026-03-01T10:00:00Z' })
    expect(latestOf(projections)).toEqual([1])
    post({ value: 3, timestamp: '2026-03-01T11:00:00.000000001Z' })
    post({ value: 4, timestamp: '2026-03-01T11:00:00Z' })
    expect(latestOf(projections)).toEqual([3])
  })

  test('stays when a reading of the next day is a nanosecond older', () => {
    const { projections, post } = scene()
    post({ value: 1, timestamp: '2026-03-01T11:00:00.000000002Z' })
    post({ value: 2, timestamp: '2026-03-01T11:00:00.000000001Z' }, { keyId: 'k2', at: noon + dayMs })
    expect(latestOf(projections)).toEqual([1])
  })

  test('is the later accepted of two with the same instant', () => {
    const { projections, post } = scene()
    post({ value: 1, timestamp: '2026-03-01T11:00:00Z' })
    post({ value: 2, timestamp: '2026-03-01T11:00:00.000+00:00' })
    expect(latestOf(projections)).toEqual([2])
  })

  test('is never more than ten minutes ahead', () => {
    const { projections, post } = scene()
    post({ value: 1, timestamp: instantText(noon + futureSkewMsMax) })
    expect(projections.readings.latest('c')[0]?.clockSkew).toBe(false)
    post({ value: 2, timestamp: instantText(noon + futureSkewMsMax + 1) })
    expect(projections.readings.latest('c')[0]?.clockSkew).toBe(true)
    expect(latestOf(projections)).toEqual([1])
  })

  test('is not shown while every reading was ahead', () => {
    const { projections, post } = scene()
    post({ value: 1, timestamp: '9999-12-31T23:59:59Z' })
    expect(latestOf(projections)).toEqual([])
    expect(projections.readings.usage('k1')?.accepted).toBe(1)
    post({ value: 2 })
    expect(latestOf(projections)).toEqual([2])
  })
})

describe('the points of a keg', () => {
  test(`are the last ${pointsPerKegMax} in order of acceptance, oldest first`, () => {
    const { projections, post } = scene()
    for (let value = 0; value < pointsPerKegMax; value += 1) post({ value }, { at: noon + value })
    expect(kegsOf(projections, 'c')[0]?.values[0]).toBe(0)
    post({ value: pointsPerKegMax }, { at: noon + pointsPerKegMax })
    const values = kegsOf(projections, 'c')[0]?.values ?? []
    expect(values).toEqual(Array.from({ length: pointsPerKegMax }, (_, index) => index + 1))
  })
})

describe('an exact repeat', () => {
  const isRepeat = (projections: Projections) => projections.readings.latest('c')[0]?.repeatOf !== null

  test('has the same rack, keg, timestamp and value, from any key', () => {
    const { projections, post } = scene()
    post({})
    expect(isRepeat(projections)).toBe(false)
    post({}, { keyId: 'k2', at: noon + 99 })
    expect(isRepeat(projections)).toBe(true)
    post({ timestamp: '2026-03-01T12:00:00.0+00:00' })
    expect(isRepeat(projections)).toBe(true)
  })

  test('has no difference, not even of a nanosecond', () => {
    const { projections, post } = scene()
    post({ timestamp: '2026-03-01T12:00:00.000000001Z' })
    for (const change of [
      { timestamp: '2026-03-01T12:00:00.000000002Z' },
      { timestamp: '2026-03-01T12:00:00.000000001Z', value: 2 },
      { timestamp: '2026-03-01T12:00:00.000000001Z', rack: 'r2' },
      { timestamp: '2026-03-01T12:00:00.000000001Z', keg: 'k2' },
      { timestamp: '2026-03-01T11:00:00.000000001Z' },
    ]) {
      post(change)
      expect(isRepeat(projections)).toBe(false)
    }
  })

  test('is found after a reading of an earlier day moved the points', () => {
    const { projections, post } = scene()
    const nextDay = { keyId: 'k2', at: noon + dayMs }
    post({ timestamp: '2026-03-01T12:00:00.000000001Z' }, nextDay)
    post({ timestamp: '2026-03-01T12:00:00.000000002Z' })
    post({ timestamp: '2026-03-01T12:00:00.000000001Z' }, nextDay)
    expect(isRepeat(projections)).toBe(true)
  })

  test(`is found among the last ${pointsPerKegMax} points of a keg`, () => {
    const { projections, post } = scene()
    post({ value: -1 })
    for (let value = 1; value < pointsPerKegMax; value += 1) post({ value })
    post({ value: -1 })
    expect(isRepeat(projections)).toBe(true)
    for (let value = 1; value <= pointsPerKegMax; value += 1) post({ value })
    post({ value: -1 })
    expect(isRepeat(projections)).toBe(false)
  })
})

describe('the kegs of a cellar', () => {
  test('are sorted by rack, then keg', () => {
    const { projections, post } = scene()
    for (const [rack, keg] of [
      ['rack 10', 'a'],
      ['rack 2', 'b'],
      ['rack 2', 'a'],
    ] as const) {
      post({ rack, keg })
    }
    expect(kegsOf(projections, 'c').map(({ rack, keg }) => `${rack}/${keg}`)).toEqual([
      'rack 2/a',
      'rack 2/b',
      'rack 10/a',
    ])
  })

  test('have the same order after many questions as at the first one', () => {
    const [watched, unwatched] = [scene(), scene()]
    const names = (projections: Projections) => kegNamesOf(projections, 'c').map(({ rack, keg }) => [rack, keg])
    for (let number = 0; number < kegsPerCellarMax + 2_000; number += 1) {
      // The steps 37 and 4,001 have no common factor with 11 and 20,011. So no name comes twice, and the names are not in
      // order.
      const reading = { rack: `rack ${(number * 37) % 11}`, keg: `k${(number * 4_001) % 20_011}` }
      watched.post(reading)
      unwatched.post(reading)
      if (number % 997 === 0) names(watched.projections)
    }
    expect(names(watched.projections)).toHaveLength(kegsPerCellarMax)
    expect(names(watched.projections)).toEqual(names(unwatched.projections))
  })

  test('without a latest reading are left out', () => {
    const { projections, post } = scene()
    post({ keg: 'ahead', timestamp: '2026-03-01T13:00:00Z' })
    post({ keg: 'a' })
    post({ keg: 'b' })
    const { readings } = projections
    expect(kegNamesOf(projections, 'c').map(({ keg }) => keg)).toEqual(['a', 'b'])
    const asked = ['b', 'ahead', 'a', 'unknown'].map((keg) => ({ rack: 'r', keg }))
    expect(readings.kegs('c', asked).map(({ keg }) => keg)).toEqual(['b', 'a'])
  })

  test(`are at most ${kegsPerCellarMax}: the least recently used keg of the cellar is forgotten`, () => {
    const { projections, post } = scene()
    post({ cellar: 'other', keg: 'untouched' })
    for (let number = 0; number < kegsPerCellarMax; number += 1) post({ rack: `r${number % 7}`, keg: `k${number}` })
    expect(kegsOf(projections, 'c')).toHaveLength(kegsPerCellarMax)
    post({ rack: 'r0', keg: 'k0' })
    post({ rack: 'new', keg: 'new' })
    const names = new Set(kegsOf(projections, 'c').map(({ keg }) => keg))
    expect(names.size).toBe(kegsPerCellarMax)
    expect([names.has('k0'), names.has('k1'), names.has('k2'), names.has('new')]).toEqual([true, false, true, true])
    expect(kegsOf(projections, 'other')).toHaveLength(1)
    // The new keg takes the storage of the forgotten keg, and must not show the values of that keg.
    post({ rack: 'new', keg: 'newer' })
    const fresh = kegsOf(projections, 'c').find(({ keg }) => keg === 'newer')
    expect([fresh?.values, fresh?.latest.repeatOf]).toEqual([[1], null])
  })

  test('begin anew after a purge, also the keg that is expected next', () => {
    const { projections, recorder, post } = scene()
    const stream = cellarStream('c')
    projections.fold([recorder.record(stream, { type: 'CellarCreated', data: { cellar: 'c', title: 'c' } })])
    for (const keg of ['a', 'b', 'c']) post({ keg, value: 1 })
    const today = { at: noon + dayMs }
    post({ keg: 'a', value: 2 }, today)
    const range = { firstRevision: 0, lastRevision: 2, readings: 3, lastAcceptedAt: noon }
    const data = { cellar: 'c', keyId: 'k1', ...range, acceptedBefore: Math.floor(today.at / dayMs) * dayMs }
    projections.fold([recorder.record(stream, { type: 'ReadingsPurged', data }, today)])
    post({ keg: 'b', value: 3 }, today)
    expect(kegsOf(projections, 'c').map(({ keg, values }) => [keg, ...values])).toEqual([
      ['a', 2],
      ['b', 3],
    ])
  })

  test('differ if only their joined names are equal', () => {
    const { projections, post } = scene()
    post({ rack: 'a/b', keg: 'c' })
    post({ rack: 'a', keg: 'b/c' })
    post({ rack: '__proto__', keg: 'constructor' })
    expect(kegsOf(projections, 'c')).toHaveLength(3)
  })
})

describe('the usage of a key', () => {
  test('has the last accepted reading and the number of all', () => {
    const { projections, post } = scene()
    expect(projections.readings.usage('k1')).toBeNull()
    for (let number = 0; number < latestReadingsPerCellarMax + 5; number += 1) post({}, { at: noon + number })
    post({}, { keyId: 'k2', at: noon + 999 })
    expect(projections.readings.usage('k1')?.lastUsedAt).toBe(noon + latestReadingsPerCellarMax + 4)
    expect(projections.readings.usage('k1')?.accepted).toBe(latestReadingsPerCellarMax + 5)
  })

  test('does not count seals and fences', () => {
    const { projections, recorder, post } = scene()
    const fence = (keyRevision: number) =>
      projections.fold([recorder.record('readings-k1', { type: 'ReadingsFenced', data: { keyRevision } })])
    for (let revision = 0; revision <= barriersPerKeyMax; revision += 1) fence(revision)
    expect(projections.readings.usage('k1')).toBeNull()
    post({})
    projections.fold([recorder.record('readings-k1', { type: 'ReadingsSealed', data: { reason: 'lost' } })])
    const barriers = projections.readings.barriers('k1')
    expect(barriers).toHaveLength(barriersPerKeyMax)
    expect(barriers.at(-1)?.type).toBe('ReadingsSealed')
    expect(projections.readings.usage('k1')?.accepted).toBe(1)
    expect(projections.readings.barriers('k2')).toEqual([])
  })
})

import { describe, expect, test } from 'bun:test'
import { eachLoad } from '../../../src/actors/search/find-keys.ts'
import { askFoundAtOnceMax, askKeysAtOnceMax, askRacksOfKeysMax, askRowsAtOnceMax } from '../../../src/limits.ts'
import { prepareAskStatements } from '../../../src/log/ask-index/queries/ask-statements.ts'
import { hourCountsOf, minuteCountsOf } from '../../../src/log/ask-index/queries/counts-by-time.ts'
import { keyDaysOf } from '../../../src/log/ask-index/queries/key-days.ts'
import { keyLoadsOf } from '../../../src/log/ask-index/queries/key-loads.ts'
import { keysOfRack } from '../../../src/log/ask-index/queries/keys-of-rack.ts'
import { askPlacesOfIdMax, placeAt, placesOfId } from '../../../src/log/ask-index/queries/places-of-id.ts'
import { positionOfMinute } from '../../../src/log/ask-index/queries/positions-recorded.ts'
import { racksOfKeys } from '../../../src/log/ask-index/queries/racks-of-keys.ts'
import { refusalsOfCellar } from '../../../src/log/ask-index/queries/refusals-of-cellar.ts'
import type { FoldedPlace, KeyLoadsWanted, MinuteCount } from '../../../src/log/ask-index.ts'
import { AskTables } from '../../support/logs/ask-tables.ts'

const requestId = '019b0000-0000-7000-8000-000000000001'
const place = (position: number, of: Partial<FoldedPlace> = {}): FoldedPlace => ({
  position,
  stream: 'key-one',
  revision: position,
  recordedAt: position * 1_000,
  kind: 'keys',
  type: 'KeyRelabelled',
  actor: 'ada@example.org',
  key: 'one',
  cellar: 'north',
  id: `event ${position}`,
  requestId,
  ...of,
})
const withoutIds = ({ id: _, requestId: __, ...rest }: FoldedPlace) => rest

const wholeOf = <T>(steps: Generator<unknown, T>): T => stepsOf(steps)[1]

const stepsOf = <T>(steps: Generator<unknown, T>): readonly [count: number, result: T] => {
  for (let count = 0; ; count += 1) {
    const step = steps.next()
    if (step.done === true) return [count, step.value]
  }
}

const filled = () => {
  const tables = new AskTables()
  for (const position of [3, 5, 9]) tables.addPlace(place(position))
  tables.addPlace(place(7, { id: requestId, requestId: 'another', key: null, cellar: null }))
  tables.addMinute({ minute: 10, position: 3 })
  tables.addMinute({ minute: 12, position: 7 })
  for (const cellar of [null, 'north'])
    for (const [minute, code, count] of [
      [10, 'accepted', 5],
      [10, 'key_is_revoked', 2],
      [11, 'accepted', 1],
    ] as const)
      tables.addMinuteCount({ cellar, minute, code, count: cellar === null ? 10 * count : count })
  for (const [key, hour, code, count] of [
    ['one', 1, 'accepted', 50],
    ['one', 1, 'key_is_revoked', 2],
    ['one', 3, 'key_is_revoked', 3],
    ['two', 2, 'limit_exceeded', 4],
    ['two', 3, 'key_is_revoked', 2],
    ['two', 0, 'key_is_revoked', 99],
  ] as const)
    tables.addHourCount({ key, hour, code, count, cellar: 'north' })
  return prepareAskStatements(tables.database)
}

describe('the queries of ask.db', () => {
  const index = filled()

  test('find the places of an event or of a request by its id', () => {
    const found = wholeOf(placesOfId(index, requestId)).map(({ position }) => position)
    expect(found).toEqual([3, 5, 7, 9])
    expect(wholeOf(placesOfId(index, requestId.toUpperCase())).length).toBe(4)
    expect(wholeOf(placesOfId(index, 'event 5'))).toEqual([withoutIds(place(5))])
    expect(wholeOf(placesOfId(index, 'event 6'))).toEqual([])
  })

  test('find at most 1,000 places of a request, in many steps', () => {
    const tables = new AskTables()
    const places = Array.from({ length: askPlacesOfIdMax + 50 }, (_, at) => at + 1)
    for (const position of places) {
      tables.addPlace(place(position, position % 5 === 0 ? { id: requestId, requestId: `other ${position}` } : {}))
    }
    const [steps, found] = stepsOf(placesOfId(prepareAskStatements(tables.database), requestId))
    expect(found.map(({ position }) => position)).toEqual(places.slice(0, askPlacesOfIdMax))
    expect(steps).toBeGreaterThanOrEqual(Math.floor(askPlacesOfIdMax / askFoundAtOnceMax))
  })

  test('find a place by its position alone', () => {
    expect(placeAt(index, 5)).toEqual(withoutIds(place(5)))
    expect(placeAt(index, 6)).toBeNull()
  })

  test('find the newest row of `minutes` up to a minute', () => {
    const found = [9, 10, 11, 12, 13].map((minute) => positionOfMinute(index, minute))
    const [first, second] = [
      { minute: 10, position: 3 },
      { minute: 12, position: 7 },
    ]
    expect(found).toEqual([null, first, first, second, second])
  })

  test('count the minutes of one cellar, or of all, up to the last minute', () => {
    const north: readonly MinuteCount[] = [
      { cellar: 'north', minute: 10, code: 'accepted', count: 5 },
      { cellar: 'north', minute: 10, code: 'key_is_revoked', count: 2 },
      { cellar: 'north', minute: 11, code: 'accepted', count: 1 },
    ]
    expect(wholeOf(minuteCountsOf(index, 'north', { from: 10, to: 12 }))).toEqual(north)
    expect(wholeOf(minuteCountsOf(index, 'north', { from: 10, to: 11 }))).toEqual(north.slice(0, 2))
    expect(wholeOf(minuteCountsOf(index, 'north', { from: 11, to: 11 }))).toEqual([])
    expect(wholeOf(minuteCountsOf(index, null, { from: 11, to: 12 }))).toEqual([
      { cellar: null, minute: 11, code: 'accepted', count: 10 },
    ])
    expect(wholeOf(minuteCountsOf(index, 'south', { from: 0, to: 99 }))).toEqual([])
  })

  test('count the hours of one key up to the last hour', () => {
    const counts = wholeOf(hourCountsOf(index, 'one', { from: 1, to: 3 }))
    expect(counts).toEqual([
      { cellar: 'north', key: 'one', hour: 1, code: 'accepted', count: 50, busiest: 50 },
      { cellar: 'north', key: 'one', hour: 1, code: 'key_is_revoked', count: 2, busiest: 0 },
    ])
    expect(wholeOf(hourCountsOf(index, 'one', { from: 1, to: 4 })).length).toBe(3)
    expect(wholeOf(hourCountsOf(index, 'nobody', { from: 0, to: 9 }))).toEqual([])
  })

  test('count two days of minutes with a few codes in many steps, each row once', () => {
    const tables = new AskTables()
    const codes = ['accepted', 'key_is_revoked', 'limit_exceeded']
    const counts = Array.from({ length: 600 }, (_, at) =>
      codes.map((code, number): MinuteCount => ({ cellar: 'north', minute: at, code, count: 1 + at + number })),
    ).flat()
    for (const count of counts) tables.addMinuteCount(count)
    const [steps, found] = stepsOf(minuteCountsOf(prepareAskStatements(tables.database), 'north', { from: 0, to: 600 }))
    expect(found).toEqual(counts)
    expect(steps).toBeGreaterThanOrEqual(Math.floor(counts.length / askRowsAtOnceMax))
  })

  test('count a month of hours in many steps, each row once', () => {
    const tables = new AskTables()
    const counts = Array.from({ length: 720 }, (_, hour) => ({ cellar: 'north', key: 'one', hour, count: hour }))
    for (const count of counts) tables.addHourCount({ ...count, code: 'accepted' })
    const [steps, found] = stepsOf(hourCountsOf(prepareAskStatements(tables.database), 'one', { from: 0, to: 720 }))
    expect(found.map(({ hour, count }) => [hour, count])).toEqual(counts.map(({ hour, count }) => [hour, count]))
    expect(steps).toBeGreaterThanOrEqual(Math.floor(counts.length / askRowsAtOnceMax))
  })

  test('sum the refusals of a cellar, the most refused key first', () => {
    const of = (limit: number) => wholeOf(refusalsOfCellar(index, { cellar: 'north', fromHour: 1, limit }))
    const sums = [
      { cellar: 'north', key: 'two', code: 'limit_exceeded', count: 4 },
      { cellar: 'north', key: 'two', code: 'key_is_revoked', count: 2 },
      { cellar: 'north', key: 'one', code: 'key_is_revoked', count: 5 },
    ]
    expect(of(10)).toEqual(sums)
    expect(of(1)).toEqual(sums.slice(0, 1))
    expect(wholeOf(refusalsOfCellar(index, { cellar: 'north', fromHour: 0, limit: 1 }))[0]?.count).toBe(101)
    expect(wholeOf(refusalsOfCellar(index, { cellar: 'south', fromHour: 0, limit: 9 }))).toEqual([])
  })

  test('sum thousands of refused keys in many steps', () => {
    const tables = new AskTables()
    const keys = Array.from({ length: 1_000 }, (_, number) => `key ${number}`)
    for (const [number, key] of keys.entries())
      for (const hour of [4, 5])
        tables.addHourCount({ cellar: 'north', key, hour, code: 'key_is_revoked', count: 1 + number })
    const [steps, sums] = stepsOf(
      refusalsOfCellar(prepareAskStatements(tables.database), { cellar: 'north', fromHour: 4, limit: 3 }),
    )
    expect(steps).toBeGreaterThan(10)
    expect(sums.map((sum) => [sum.key, sum.count])).toEqual([
      ['key 999', 2_000],
      ['key 998', 1_998],
      ['key 997', 1_996],
    ])
  })

  test('find the keys of a rack, the latest first, in few steps', () => {
    const tables = new AskTables()
    for (const key of ['one', 'two', 'three']) {
      for (let rack = 0; rack < askRowsAtOnceMax; rack += 1) {
        if (key !== 'three' || rack !== 7) tables.addSeen({ key, rack: `rack-${rack}`, minute: key === 'one' ? 5 : 6 })
      }
    }
    const others = Array.from({ length: 4 * askRowsAtOnceMax }, (_, number) => `other ${number}`)
    const keys = ['one', 'two', 'three', ...others]
    const statements = prepareAskStatements(tables.database)
    const [steps, found] = stepsOf(keysOfRack(statements, { rack: 'rack-7', keys }))
    expect(found).toEqual([
      { key: 'two', rack: 'rack-7', minute: 6 },
      { key: 'one', rack: 'rack-7', minute: 5 },
    ])
    expect(steps).toBe(4)
    expect(stepsOf(keysOfRack(statements, { rack: 'rack-7', keys: ['one'] }))[0]).toBe(0)
  })

  test('read the loads of thousands of keys in many steps', () => {
    const tables = new AskTables()
    const keys = Array.from({ length: 4 * askKeysAtOnceMax }, (_, number) => `key ${number}`)
    for (const [number, key] of keys.entries()) {
      tables.addHourCount({ cellar: `cellar ${number % 3}`, key, hour: 4, code: 'accepted', count: 1 + number })
      if (number % 2 === 0)
        tables.addHourCount({ cellar: `cellar ${number % 3}`, key, hour: 5, code: 'key_is_revoked', count: 7 })
    }
    const wanted = { fromHour: 4, todayHour: 5, cellar: null }
    const [steps, loads] = stepsOf(keyLoadsOf(prepareAskStatements(tables.database), wanted))
    expect(steps).toBeGreaterThan(8)
    expect([...eachLoad(loads)].sort((a, b) => a.busiest - b.busiest)).toEqual(
      keys.map((keyId, number) => ({ keyId, busiest: 1 + number, refusedToday: number % 2 === 0 ? 7 : 0 })),
    )
  })

  test('read the refusals of a fleet in large steps, only if wanted', () => {
    const tables = new AskTables()
    const keys = Array.from({ length: 2 * askKeysAtOnceMax }, (_, number) => `key ${number}`)
    for (let hour = 0; hour < 4; hour += 1)
      for (const key of keys) tables.addHourCount({ cellar: 'north', key, hour, code: 'key_is_expired', count: 3 })
    const statements = prepareAskStatements(tables.database)
    const of = (wanted: Pick<KeyLoadsWanted, 'fromHour' | 'todayHour'>) =>
      stepsOf(keyLoadsOf(statements, { ...wanted, cellar: null }))
    const [steps, loads] = of({ fromHour: null, todayHour: 0 })
    expect(steps).toBeLessThanOrEqual(4 * 2 + 2 + 1)
    expect([...eachLoad(loads)]).toHaveLength(keys.length)
    expect([...eachLoad(loads)].every(({ refusedToday }) => refusedToday === 12)).toBe(true)
    const [fewSteps, none] = of({ fromHour: 0, todayHour: null })
    expect([fewSteps, none.keyIds]).toEqual([1, ''])
  })

  test('find the last racks of a key among thousands', () => {
    const tables = new AskTables()
    for (let number = 0; number < 5_000; number += 1)
      tables.addSeen({ key: 'one', rack: `rack ${number}`, minute: (number * 7) % 4_999 })
    const [day] = wholeOf(keyDaysOf(prepareAskStatements(tables.database), { keyIds: ['one'], fromHour: 0, toHour: 0 }))
    expect([day?.racks.map(({ minute }) => minute), day?.racksTotal]).toEqual([[4_998, 4_997, 4_996], 5_000])
  })

  test('cut the racks of some keys for each key alike', () => {
    const tables = new AskTables()
    for (let number = 0; number < askRacksOfKeysMax; number += 1)
      tables.addSeen({ key: 'old', rack: `rack ${10_000 + number}`, minute: 1 })
    for (const rack of ['rack 10001', 'rack 10000']) tables.addSeen({ key: 'new', rack, minute: 2 })
    const statements = prepareAskStatements(tables.database)
    const both = wholeOf(racksOfKeys(statements, ['new', 'old', 'nobody', 'other']))
    expect([both.racks.length, both.isCut, both.seenFromMinute]).toEqual([2 + askRacksOfKeysMax / 4, true, null])
    expect(both.racks.slice(0, 3)).toEqual([
      { key: 'new', rack: 'rack 10000', minute: 2 },
      { key: 'new', rack: 'rack 10001', minute: 2 },
      { key: 'old', rack: 'rack 10000', minute: 1 },
    ])
    expect(wholeOf(racksOfKeys(statements, ['old'])).isCut).toBe(false)
  })
})

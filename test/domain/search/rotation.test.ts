import { describe, expect, test } from 'bun:test'
import { racksOfRotation } from '../../../src/domain/search/rotation.ts'

const pair = (key: string, rack: string, minute: number) => ({ key, rack, minute })
const nowMinute = 130
const states = (pairs: Parameters<typeof racksOfRotation>[0], usedMinute: number | null = 100) =>
  Object.fromEntries(
    racksOfRotation(pairs, { oldId: 'old', usedMinute, nowMinute }).map(({ rack, state }) => [rack, state]),
  )

describe('the racks of a rotation', () => {
  test('have switched once a later minute has only the new key', () => {
    const pairs = [pair('old', 'a', 110), pair('new', 'a', 110), pair('old', 'b', 110), pair('new', 'b', 111)]
    expect(states(pairs)).toEqual({ a: 'both', b: 'switched' })
  })

  test('went back if the old key was last', () => {
    expect(states([pair('old', 'a', 112), pair('new', 'a', 111)])).toEqual({ a: 'both' })
  })

  test('are silent if the old key was last seen before the first use', () => {
    const pairs = [pair('old', 'a', 99), pair('old', 'b', 100)]
    expect(states(pairs)).toEqual({ a: 'silent', b: 'old' })
    expect(states(pairs, null)).toEqual({ a: 'old', b: 'old' })
  })

  test('are silent after a week without a reading, unless they have switched', () => {
    const week = 7 * 24 * 60
    const pairs = [pair('old', 'a', nowMinute - week), pair('old', 'b', nowMinute - week - 1)]
    const returned = [pair('old', 'c', nowMinute - week - 1), pair('new', 'c', nowMinute - week - 2)]
    const switched = [pair('old', 'd', nowMinute - week - 2), pair('new', 'd', nowMinute - week - 1)]
    const all = [...pairs, ...returned, ...switched]
    expect(states(all, null)).toEqual({ a: 'old', b: 'silent', c: 'silent', d: 'switched' })
  })

  test('may use any later key of the chain', () => {
    const pairs = [pair('old', 'a', 110), pair('new', 'a', 105), pair('newer', 'a', 120), pair('newer', 'b', 90)]
    expect(racksOfRotation(pairs, { oldId: 'old', usedMinute: 100, nowMinute })).toEqual([
      { rack: 'a', state: 'switched', oldMinute: 110, newMinute: 120 },
      { rack: 'b', state: 'new', oldMinute: null, newMinute: 90 },
    ])
  })

  test('come first if they may need the old key, the latest before others', () => {
    const pairs = [
      ...[pair('new', 'a', 120), pair('old', 'b', 101), pair('old', 'c', 130), pair('old', 'd', 50)],
      ...[pair('old', 'e', 110), pair('new', 'e', 110), pair('old', 'f', 101)],
    ]
    const racks = racksOfRotation(pairs, { oldId: 'old', usedMinute: 100, nowMinute })
    expect(racks.map(({ rack }) => rack)).toEqual(['c', 'b', 'f', 'e', 'd', 'a'])
  })
})

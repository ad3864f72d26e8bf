import { expect, test } from 'bun:test'
import { Tally } from '../../../src/domain/ask/tally.ts'

test('a tally adds up the counts of each time, in any order', () => {
  const tally = new Tally()
  expect([...tally.entries()]).toEqual([])
  expect(tally.add(5, 1)).toBe(true)
  expect(tally.add(5, 2)).toBe(false)
  expect(tally.add(6, 1)).toBe(true)
  expect(tally.add(5, 4)).toBe(false)
  expect(tally.add(6, 3)).toBe(false)
  expect(new Map(tally.entries())).toEqual(
    new Map([
      [5, 7],
      [6, 4],
    ]),
  )
})

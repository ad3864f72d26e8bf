import { expect, test } from 'bun:test'
import { pacedClock } from '../../src/derived/paced-clock.ts'

test('pacedClock() goes ahead at twice the pace, and back at once', () => {
  let [nowMs, passedMs] = [1_000, 0]
  const clock = pacedClock({ now: () => nowMs, passedMs: () => passedMs })
  const after = (passed: number, now: number): number => {
    passedMs += passed
    nowMs = now
    return clock()
  }
  expect(after(500, 1_500)).toBe(1_500)
  expect(after(100, 900_000)).toBe(1_700)
  expect(after(0, 900_000)).toBe(1_700)
  expect(after(100, 1_600)).toBe(1_600)
  expect(after(300, 2_100)).toBe(2_100)
})

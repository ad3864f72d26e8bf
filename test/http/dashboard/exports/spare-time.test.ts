import { expect, test } from 'bun:test'
import {
  exportBytesPerSecondMin,
  exportLookMs,
  exportSpareMsMax,
  SpareTime,
} from '../../../../src/http/dashboard/exports/spare-time.ts'

const looksMax = exportSpareMsMax / exportLookMs
const look = (spare: SpareTime, times: number): boolean =>
  Array.from({ length: times }, () => spare.look()).some((isOver) => isOver)

test('SpareTime ends when bytes have waited for the client as long as allowed', () => {
  const spare = new SpareTime()
  spare.offer(1)
  expect(look(spare, looksMax - 1)).toBe(false)
  expect(spare.look()).toBe(true)
})

test('SpareTime does not pass while nothing waits for the client', () => {
  const spare = new SpareTime()
  expect(look(spare, looksMax * 2)).toBe(false)
  spare.offer(1)
  spare.take()
  expect(look(spare, looksMax * 2)).toBe(false)
})

test.each([
  ['at the lowest rate, never ends', 0, false],
  ['a little slower, ends', 1, true],
])('SpareTime of a client that takes bytes %s', (_, fewer, isOver) => {
  const spare = new SpareTime()
  const bytes = (exportBytesPerSecondMin * exportLookMs) / 1_000 - (fewer * exportBytesPerSecondMin) / 10
  const steps = Array.from({ length: looksMax * 100 }, () => {
    spare.offer(bytes)
    const seen = spare.look()
    spare.take()
    return seen
  })
  expect(steps.some((one) => one)).toBe(isOver)
})

test('SpareTime is never more than at the beginning, however fast the client was', () => {
  const spare = new SpareTime()
  spare.offer(1_000_000_000)
  spare.take()
  spare.offer(1)
  expect(look(spare, looksMax - 1)).toBe(false)
  expect(spare.look()).toBe(true)
})

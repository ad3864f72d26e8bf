import { expect, test } from 'bun:test'
import { thingAndDay } from '../../../src/domain/search/thing-and-day.ts'

const nowMs = Date.UTC(2026, 2, 1, 10, 14)
const dayFrom = (since: number) => ({ since, until: since + 86_400_000 })
const today = dayFrom(Date.UTC(2026, 2, 1))
const yesterday = dayFrom(Date.UTC(2026, 1, 28))

test.each([
  ['clr_7Qp2mZ4k yesterday', 'clr_7Qp2mZ4k', yesterday],
  [' clr_7Qp2mZ4k,  Yesterday ', 'clr_7Qp2mZ4k', yesterday],
  ['ada@example.org today', 'ada@example.org', today],
  ['Wine cellar, Berlin 2026-02-28', 'Wine cellar, Berlin', yesterday],
  ['open today yesterday', 'open today', yesterday],
])('thingAndDay() splits %p', (text, thing, day) => {
  expect(thingAndDay(text, nowMs)).toEqual({ thing, day })
})

test.each(['yesterday', 'yesterday 18:00', 'clr_7Qp2mZ4k', 'wineyesterday', 'wine 2026-02-30', ''])(
  'thingAndDay() finds no day behind a thing in %p',
  (text) => {
    expect(thingAndDay(text, nowMs)).toBeNull()
  },
)

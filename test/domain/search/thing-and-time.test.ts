import { expect, test } from 'bun:test'
import { thingAndTime } from '../../../src/domain/search/thing-and-time.ts'

const nowMs = Date.UTC(2026, 2, 1, 10, 14)
const dayFrom = (since: number) => ({ kind: 'span' as const, since, until: since + 86_400_000 })
const instantAt = (hour: number, minute: number) => ({
  kind: 'instant' as const,
  atMs: Date.UTC(2026, 2, 1, hour, minute),
})
const today = dayFrom(Date.UTC(2026, 2, 1))
const yesterday = dayFrom(Date.UTC(2026, 1, 28))

test.each([
  ['clr_7Qp2mZ4k yesterday', 'clr_7Qp2mZ4k', yesterday],
  [' clr_7Qp2mZ4k,  Yesterday ', 'clr_7Qp2mZ4k', yesterday],
  ['ada@example.org today', 'ada@example.org', today],
  ['Wine cellar, Berlin 2026-02-28', 'Wine cellar, Berlin', yesterday],
  ['open today yesterday', 'open today', yesterday],
  ['clr_7Qp2mZ4k 9:12', 'clr_7Qp2mZ4k', instantAt(9, 12)],
  ['wine-berlin 2026-03-01T09:12Z', 'wine-berlin', instantAt(9, 12)],
  ['wine-berlin, today 18:00', 'wine-berlin', instantAt(18, 0)],
  [
    'clr_7Qp2mZ4k 09:12..09:20',
    'clr_7Qp2mZ4k',
    { kind: 'span' as const, since: Date.UTC(2026, 2, 1, 9, 12), until: Date.UTC(2026, 2, 1, 9, 20) },
  ],
  ['Hall 7 4 minutes ago', 'Hall 7', instantAt(10, 10)],
])('thingAndTime() splits %p', (text, thing, time) => {
  expect(thingAndTime(text, nowMs)).toEqual({ thing, time })
})

test.each(['yesterday', 'yesterday 18:00', 'clr_7Qp2mZ4k', 'wineyesterday', 'wine 2026-02-30', 'wine 24:00', ''])(
  'thingAndTime() finds no time behind a thing in %p',
  (text) => {
    expect(thingAndTime(text, nowMs)).toBeNull()
  },
)

import { dayMs } from '../calendar.ts'
import { done } from '../refusal.ts'
import { invalidField, type Typed } from '../text.ts'
import { isWritable, parseInstant } from './instant.ts'

/**
 * As `parseInstant`, or as people say it at `nowMs`: `10:14` (the last time), `yesterday 18:00`, `today`, `now`, or `3
 * minutes ago`. A time without a zone is UTC, because all pages show UTC. In ms since 1970.
 */
export const parseInstantNear = (text: string, nowMs: number): Typed<number> => {
  const typed = text.trim()
  const near = agoOf(typed, nowMs) ?? clockOf(typed, nowMs)
  if (near !== null) return done(near)
  const parsed = parseInstant(typed)
  if (parsed.ok) return parsed
  if (withoutZone.test(typed)) return parseInstant(`${typed}Z`)
  return isExact.test(typed) ? parsed : invalidField('instant', `It must be ${examples}.`)
}

/** From `since` on, and before `until`, in ms since 1970. */
export type Span = { readonly since: number; readonly until: number }

/**
 * `00:30..00:40`, `yesterday 18:00 to 19:00`, a day (`today`, `2026-03-01`), `this week`, `last week` (from Monday, in
 * UTC), `last hour` or `last 7 days`. `null` for any other text, and for a time that ends after 9999.
 */
export const spanNear = (text: string, nowMs: number): Span | null => {
  const typed = text.trim()
  const span = rangeOf(typed, nowMs) ?? weekOf(typed, nowMs) ?? lastOf(typed, nowMs) ?? dayOf(typed, nowMs)
  return span !== null && isWritable(span.until) && span.since < span.until ? span : null
}

const dayOf = (typed: string, nowMs: number): Span | null => {
  const since = parseInstantNear(typed, nowMs)
  if (!since.ok || !/^(today|yesterday|\d{4}-\d\d-\d\d)$/i.test(typed)) return null
  return { since: since.value, until: since.value + dayMs }
}

/** An end without a day is the first such time after the beginning. */
const rangeOf = (typed: string, nowMs: number): Span | null => {
  const [, from = '', to = ''] = /^(.+?)(?: *\.\.+ *| *… *| *– *| +to +)(.+)$/i.exec(typed) ?? []
  const [since, until] = [parseInstantNear(from, nowMs), parseInstantNear(to, nowMs)]
  if (!since.ok || !until.ok) return null
  if (!/^\d{1,2}:/.test(to.trim())) return { since: since.value, until: until.value }
  const lengthMs = (((until.value - since.value) % dayMs) + dayMs) % dayMs
  return { since: since.value, until: since.value + (lengthMs === 0 ? dayMs : lengthMs) }
}

const weekOf = (typed: string, nowMs: number): Span | null => {
  const [, which] = /^(this|last) week$/i.exec(typed) ?? []
  if (which === undefined) return null
  const day = Math.floor(nowMs / dayMs)
  // Day 4 since 1970 was a Monday.
  const monday = day - ((day - 4) % 7) - (/^last$/i.test(which) ? 7 : 0)
  return { since: monday * dayMs, until: (monday + 7) * dayMs }
}

const lastOf = (typed: string, nowMs: number): Span | null => {
  const [, many] = /^last (\d{1,6} ?[a-z]+|[a-z]+)$/i.exec(typed) ?? []
  const since = many === undefined ? null : agoOf(`${/^\d/.test(many) ? '' : 'a '}${many} ago`, nowMs)
  return since === null ? null : { since, until: nowMs }
}

export const instantExamples = '10:14, yesterday 18:00, 3 minutes ago or 2026-03-01T10:14:07Z'

const examples = `a time (UTC) like ${instantExamples}`

const withoutZone = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d([.,]\d{1,9})?)?$/
/** Of such a text, `parseInstant` says best what is wrong. */
const isExact = /^(\d{4}-|@?-?\d+(\.\d+)?$)/

const unitMs: ReadonlyMap<string, number> = new Map([
  ['s', 1_000],
  ['sec', 1_000],
  ['second', 1_000],
  ['m', 60_000],
  ['min', 60_000],
  ['minute', 60_000],
  ['h', 3_600_000],
  ['hour', 3_600_000],
  ['d', dayMs],
  ['day', dayMs],
  ['week', 7 * dayMs],
])

const agoOf = (typed: string, nowMs: number): number | null => {
  if (/^now$/i.test(typed)) return nowMs
  const [, count, unit = ''] = /^(\d{1,6}|an?) ?([a-z]+) ago$/i.exec(typed) ?? []
  const lower = unit.toLowerCase()
  const ms = unitMs.get(lower) ?? unitMs.get(lower.replace(/s$/, ''))
  if (count === undefined || ms === undefined) return null
  const ago = nowMs - ms * (/^an?$/i.test(count) ? 1 : Number(count))
  return ago < 0 ? null : ago
}

/** Without a day it is the last such time, so it is never in the future. */
const clockOf = (typed: string, nowMs: number): number | null => {
  const parts = dayAndClock.exec(typed)?.groups
  if (parts === undefined) return null
  const { day, hour = '0', minute = '0', second = '0', fraction = '' } = parts
  if (day === undefined && parts['hour'] === undefined) return null
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null
  const midnightMs = nowMs - (nowMs % dayMs)
  const clockMs =
    Number(hour) * 3_600_000 +
    Number(minute) * 60_000 +
    Number(second) * 1_000 +
    Number(fraction.slice(0, 3).padEnd(3, '0'))
  if (day !== undefined) return midnightMs + clockMs - (/^y/i.test(day) ? dayMs : 0)
  return midnightMs + clockMs > nowMs ? midnightMs + clockMs - dayMs : midnightMs + clockMs
}

const dayAndClock =
  /^(?:(?<day>today|yesterday)(?:,? +|$))?(?:(?<hour>\d{1,2}):(?<minute>\d\d)(?::(?<second>\d\d)(?:[.,](?<fraction>\d{1,9}))?)?(?: ?(?:Z|UTC))?)?$/i

import { dayMs, daysInMonth, daysSince1970, instantText } from '../calendar.ts'
import { done } from '../refusal.ts'
import { invalidField, type Typed } from '../text.ts'

/**
 * `2026-03-01T10:14:07Z`, with an offset (`2026-03-01 11:14+01:00`), or a day (its beginning, UTC). A number is seconds
 * since 1970 (`1772360047`), or ms with 13 digits. Returns ms since 1970, rounded down. The refusal says what is wrong.
 */
export const parseInstant = (text: string): Typed<number> => {
  const typed = text.trim()
  if (/^[1-9]\d{12}$/.test(typed)) return done(Number(typed))
  const number = /^@?(-?\d+)(?:\.(\d+))?$/.exec(typed)
  if (number !== null) return fromSeconds(number, typed.startsWith('@'))
  const parts = dateAndTime.exec(typed)
  if (parts === null) return wrong(`It must be ${examples}.`)
  const { year, month, day, hour, minute = '0', second = '0', fraction = '', zone } = parts.groups ?? {}
  const [years, months, days] = [Number(year), Number(month), Number(day)]
  if (months < 1 || months > 12 || days < 1 || days > daysInMonth(years, months))
    return wrong(`There is no day ${year}-${month}-${day}.`)
  const midnightMs = daysSince1970(years, months, days) * dayMs
  if (hour === undefined) return done(midnightMs)
  if (zone === undefined)
    return wrong(`The time zone is missing: write ${typed}Z for UTC, or add an offset like +01:00.`)
  const offsetMinutes = minutesOf(zone)
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59 || offsetMinutes === null)
    return wrong('There is no such time: hours go to 23, minutes and seconds to 59, and offsets from -14:00 to +14:00.')
  const minutes = Number(hour) * 60 + Number(minute) - offsetMinutes
  const atMs = midnightMs + minutes * 60_000 + Number(second) * 1_000 + msOf(fraction)
  return isWritable(atMs) ? done(atMs) : wrong('There is no such time: in UTC, years go from 0000 to 9999.')
}

/** The text of an instant (ms) before the year 0000 or after 9999 could not be read again. */
export const isWritable = (atMs: number): boolean => atMs >= yearsBeginMs && atMs < yearsEndMs

const yearsBeginMs = daysSince1970(0, 1, 1) * dayMs
const yearsEndMs = daysSince1970(10_000, 1, 1) * dayMs

/** The answer about a time after `nowMs` can still change. */
export const notInFuture = (atMs: number, nowMs: number): Typed<number> =>
  atMs <= nowMs
    ? done(atMs)
    : invalidField('at', `This time is in the future: it is now ${instantText(nowMs)}. Enter an earlier time.`)

const examples = 'an instant like 2026-03-01T10:14:07Z, 2026-03-01T11:14:07+01:00, 2026-03-01 (00:00 UTC) or 1772360047'

const wrong = (rule: string) => invalidField('instant', rule)

const dateAndTime =
  /^(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)(?:[Tt ](?<hour>\d\d):(?<minute>\d\d)(?::(?<second>\d\d)(?:[.,](?<fraction>\d{1,9}))?)?(?: ?(?<zone>[Zz]|UTC|[+-]\d\d(?::?\d\d)?))?)?$/

/** `null` if no place on earth has this offset from UTC. */
const minutesOf = (zone: string): number | null => {
  const [, sign, hours, minutes = '0'] = /^([+-])(\d\d):?(\d\d)?$/.exec(zone) ?? []
  if (sign === undefined) return 0
  const offset = Number(hours) * 60 + Number(minutes)
  if (Number(minutes) > 59 || offset > offsetMinutesMax) return null
  return sign === '+' ? offset : -offset
}

const offsetMinutesMax = 14 * 60

const msOf = (fraction: string): number => Number(fraction.slice(0, 3).padEnd(3, '0'))

/**
 * Only 9 to 10 digits are seconds (the years 1973 to 2286), unless an `@` says so. Smaller numbers are rather positions,
 * and 13 digits are ms (2001 to 2286).
 */
const fromSeconds = ([, whole = '', fraction = '']: RegExpExecArray, isMarked: boolean): Typed<number> => {
  const seconds = Number(whole)
  if (Math.abs(seconds) > secondsMax) {
    return wrong(
      'The number is too large for seconds since 1970. If it counts milliseconds, leave out the last three digits.',
    )
  }
  if (!isMarked && seconds < unmarkedSecondsMin)
    return wrong(
      `The number is too small for seconds since 1970, so it may be a position. If it counts seconds, write @${whole}.`,
    )
  return done(seconds * 1_000 + (whole.startsWith('-') ? -msOf(fraction) : msOf(fraction)))
}

/** The last second of the year 9999 has 12 digits, but so have ms until 2001. So the bound is 2286. */
const secondsMax = 9_999_999_999
const unmarkedSecondsMin = 100_000_000

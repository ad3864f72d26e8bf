/**
 * The timestamp rule of a reading (docs/contract.md, "Timestamp"): `YYYY-MM-DDThh:mm:ssZ`, also with 1 to 9
 * fractional digits and with `+00:00` for `Z`.
 *
 * It counts the calendar itself, since `new Date(text)` rolls 30 February over into March and takes forms that the contract
 * does not know. It runs for every reading, hence character codes and no regular expression.
 */

/** `form`: not written as the contract says. `no_such_instant`: written so, but the calendar or the clock has no such time. */
export type TimestampFault = 'form' | 'no_such_instant'

/** Milliseconds since 1970, a fraction of a millisecond rounded down; or the fault. */
export const parseTimestamp = (text: string): number | TimestampFault => {
  if (!separatorsStand(text)) return 'form'
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2)
  const month = twoDigits(text, 5)
  const day = twoDigits(text, 8)
  const hour = twoDigits(text, 11)
  const minute = twoDigits(text, 14)
  const second = twoDigits(text, 17)
  const millisecond = zoneAndFraction(text)
  // NaN marks what is no digit, and survives every sum: one comparison finds it.
  const sum = year + month + day + hour + minute + second + millisecond
  if (Number.isNaN(sum)) return 'form'

  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return 'no_such_instant'
  if (hour > 23 || minute > 59 || second > 59) return 'no_such_instant'
  return (daysSince1970(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second) * 1_000 + millisecond
}

const dash = 45
const dot = 46
const colon = 58

const separatorsStand = (text: string): boolean =>
  text.charCodeAt(4) === dash &&
  text.charCodeAt(7) === dash &&
  text.charCodeAt(10) === 84 &&
  text.charCodeAt(13) === colon &&
  text.charCodeAt(16) === colon

/** What follows the seconds: whole milliseconds of the fraction, 0 without one, NaN if it is not as the rule says. */
const zoneAndFraction = (text: string): number => {
  if (text.length === 20) return text.charCodeAt(19) === 90 ? 0 : Number.NaN
  let at = 19
  let milliseconds = 0
  if (text.charCodeAt(at) === dot) {
    at += 1
    const from = at
    for (let weight = 100; isDigit(text.charCodeAt(at)); at += 1, weight /= 10) {
      if (weight >= 1) milliseconds += (text.charCodeAt(at) - 48) * weight
    }
    const digits = at - from
    if (digits < 1 || digits > 9) return Number.NaN
  }
  const zone = text.slice(at)
  return zone === 'Z' || zone === '+00:00' ? milliseconds : Number.NaN
}

const isDigit = (code: number): boolean => code >= 48 && code <= 57

const twoDigits = (text: string, at: number): number => {
  const tens = text.charCodeAt(at)
  const ones = text.charCodeAt(at + 1)
  return isDigit(tens) && isDigit(ones) ? (tens - 48) * 10 + ones - 48 : Number.NaN
}

const isLeap = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)

const daysInMonth = (year: number, month: number): number => {
  if (month === 2) return isLeap(year) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/**
 * Days of the proleptic Gregorian calendar. A year is taken to begin in March, so that the leap day is its last; then the
 * months before month `m` of it have floor((153 m + 2) / 5) days, and 0000-03-01 lies 719,468 days before 1970-01-01.
 */
const daysSince1970 = (year: number, month: number, day: number): number => {
  const marchYear = month > 2 ? year : year - 1
  const marchMonth = month > 2 ? month - 3 : month + 9
  const leapDays = Math.floor(marchYear / 4) - Math.floor(marchYear / 100) + Math.floor(marchYear / 400)
  return marchYear * 365 + leapDays + Math.floor((153 * marchMonth + 2) / 5) + day - 1 - 719_468
}

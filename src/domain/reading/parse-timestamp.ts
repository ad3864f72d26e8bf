/**
 * Compares character codes: a regular expression is slower, and every reading has a timestamp (docs/contract.md,
 * "Timestamp").
 */
import { daysInMonth, daysSince1970 } from '../calendar.ts'

/** `no_such_instant`: the date does not exist, like 30 February. */
export type TimestampFault = 'form' | 'no_such_instant'

/** In ms since 1970, rounded down. */
export const parseTimestamp = (text: string): number | TimestampFault => {
  if (!separatorsStand(text)) return 'form'
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2)
  const month = twoDigits(text, 5)
  const day = twoDigits(text, 8)
  const hour = twoDigits(text, 11)
  const minute = twoDigits(text, 14)
  const second = twoDigits(text, 17)
  const millisecond = zoneAndFraction(text)
  // Wrong text gives NaN for a part, and so for the sum.
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

/** The text after the seconds, in whole ms, or NaN if it is wrong. */
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

/** Of the 4th to 9th fractional digit. One number for ms and nanoseconds would be exact only to about 200 ns. */
export const nanosecondsPastMs = (timestamp: string): number => {
  if (timestamp.length < '2026-03-01T12:00:00.0000Z'.length) return 0
  let nanoseconds = 0
  let weight = 100_000
  for (let at = fourthDigitAt; weight >= 1; at += 1, weight /= 10) {
    const digit = timestamp.charCodeAt(at) - 48
    if (!(digit >= 0 && digit <= 9)) break
    nanoseconds += digit * weight
  }
  return nanoseconds
}

const fourthDigitAt = '2026-03-01T12:00:00.000'.length

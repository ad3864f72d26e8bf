/** Dates in UTC, in the years 0000 to 9999. They are never read by `new Date(text)`, which turns 30 February into March. */

export const minuteMs = 60_000
export const hourMs = 3_600_000
export const dayMs = 86_400_000
const daySeconds = 86_400

export const minuteOf = (ms: number): number => Math.floor(ms / minuteMs)

export const hourOf = (ms: number): number => Math.floor(ms / hourMs)

export const dayOf = (ms: number): number => Math.floor(ms / dayMs)

export const instantText = (ms: number): string => new Date(ms).toISOString()

/** Most readings are of the last seconds, so their texts are kept. */
export const secondText = (ms: number): string => {
  const second = Math.floor(ms / 1_000)
  const at = second & (keptSeconds - 1)
  const kept = keptTexts[at]
  if (kept !== undefined && keptOf[at] === second) return kept
  const text = newSecondText(second)
  keptOf[at] = second
  keptTexts[at] = text
  return text
}

/** A power of two, so that the last binary digits of a second are its place in the list. */
const keptSeconds = 1_024
const keptOf = new Float64Array(keptSeconds)
const keptTexts: (string | undefined)[] = new Array(keptSeconds).fill(undefined)

const newSecondText = (second: number): string => {
  const day = Math.floor(second / daySeconds)
  if (day !== last.day) last = { day, date: dateText(day) }
  const seconds = second - day * daySeconds
  const minutes = Math.floor(seconds / 60)
  const hours = Math.floor(minutes / 60)
  return `${last.date}T${twoDigits[hours]}:${twoDigits[minutes - hours * 60]}:${twoDigits[seconds - minutes * 60]}Z`
}

const dateText = (day: number): string => instantText(day * dayMs).slice(0, 10)

const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'))

// Most readings have timestamps of the same day.
let last = { day: 0, date: dateText(0) }

/**
 * `month` is 1 to 12. `Date.UTC` would take 30 ns more for each reading. In this formula a year begins in March, so that
 * the leap day is its last day. Then the months before month `m` have floor((153 m + 2) / 5) days.
 */
export const daysSince1970 = (year: number, month: number, day: number): number => {
  const marchYear = month > 2 ? year : year - 1
  const marchMonth = month > 2 ? month - 3 : month + 9
  const leapDays = Math.floor(marchYear / 4) - Math.floor(marchYear / 100) + Math.floor(marchYear / 400)
  return marchYear * 365 + leapDays + Math.floor((153 * marchMonth + 2) / 5) + day - 1 - daysFromYear0
}

/** From 0000-03-01 to 1970-01-01. */
const daysFromYear0 = 719_468

export const daysInMonth = (year: number, month: number): number => {
  if (month === 2) return isLeap(year) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

const isLeap = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)

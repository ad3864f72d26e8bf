/**
 * These functions write instants as text, in UTC. Views may not use `Date`, so `civil` computes the day. In `civil`, a year
 * begins in March, so that a leap day is the last day of its year.
 */
const dayMs = 86_400_000

const civil = (ms: number): { readonly year: number; readonly month: number; readonly day: number } => {
  const days = Math.floor(ms / dayMs) + 719_468
  const era = Math.floor(days / 146_097)
  const dayOfEra = days - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1_460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1,
  }
}

const padded = (number: number, digits: number): string => String(number).padStart(digits, '0')

/** Like `2026-03-01`. */
export const dateText = (ms: number): string => {
  const { year, month, day } = civil(ms)
  return `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}`
}

/** Like `12:00:07`. */
export const clockText = (ms: number): string => {
  const second = Math.floor((((ms % dayMs) + dayMs) % dayMs) / 1_000)
  return `${padded(Math.floor(second / 3_600), 2)}:${padded(Math.floor(second / 60) % 60, 2)}:${padded(second % 60, 2)}`
}

const millisecondsText = (ms: number): string => padded(((ms % 1_000) + 1_000) % 1_000, 3)

/** Like `2026-03-01 12:00:07 UTC`. */
export const secondText = (ms: number): string => `${dateText(ms)} ${clockText(ms)} UTC`

/** Like `12:00:07.042 UTC`. */
export const exactClockText = (ms: number): string => `${clockText(ms)}.${millisecondsText(ms)} UTC`

/** Like `2026-03-01 12:00:07.042 UTC`. */
export const exactText = (ms: number): string => `${dateText(ms)} ${exactClockText(ms)}`

/** Like `2026-03-01T12:00:07.042Z`, for the attribute `datetime`. */
export const isoText = (ms: number): string => `${dateText(ms)}T${clockText(ms)}.${millisecondsText(ms)}Z`

const relative = new Intl.RelativeTimeFormat('en')

/**
 * Like `12 seconds ago` or `in 3 days`. The script `assets/app.js` must use the same steps, because it updates this
 * text.
 */
export const relativeText = (atMs: number, nowMs: number): string => {
  const seconds = Math.trunc((atMs - nowMs) / 1_000)
  const distance = Math.abs(seconds)
  if (distance < 1) return 'just now'
  if (distance < 90) return relative.format(seconds, 'second')
  if (distance < 90 * 60) return relative.format(Math.trunc(seconds / 60), 'minute')
  if (distance < 36 * 3_600) return relative.format(Math.trunc(seconds / 3_600), 'hour')
  return relative.format(Math.trunc(seconds / 86_400), 'day')
}

/** Like `60 s`, `5 min`, `24 h` or `7 d`. */
export const durationText = (ms: number): string => {
  if (ms % dayMs === 0 && ms > dayMs) return `${ms / dayMs} d`
  if (ms % 3_600_000 === 0) return `${ms / 3_600_000} h`
  if (ms % 60_000 === 0 && ms > 60_000) return `${ms / 60_000} min`
  return `${ms / 1_000} s`
}

/** Like `60 seconds`, `5 minutes`, `1 hour`, `24 hours` or `7 days`. */
export const durationWords = (ms: number): string => {
  if (ms % dayMs === 0 && ms > dayMs) return countedUnit(ms / dayMs, 'day')
  if (ms % 3_600_000 === 0 && ms > 0) return countedUnit(ms / 3_600_000, 'hour')
  if (ms % 60_000 === 0 && ms > 60_000) return countedUnit(ms / 60_000, 'minute')
  return countedUnit(ms / 1_000, 'second')
}

const grouped = new Intl.NumberFormat('en', { maximumFractionDigits: 3 })

const countedUnit = (many: number, unit: string): string => `${grouped.format(many)} ${many === 1 ? unit : `${unit}s`}`

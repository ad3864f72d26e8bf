/**
 * `2026-03-01T12:00:07.042Z`, of ms since 1970 in the years 0000 to 9999. The calendar is counted here, as it is for
 * reading one (`timestamp.ts`): a year is taken to begin in March, so that the leap day is its last, and 0000-03-01 lies
 * 719,468 days before 1970. 400 years have 146,097 days, 4 have 1,461.
 */
export const instantText = (ms: number): string => {
  const days = Math.floor(ms / dayMs)
  const rest = ms - days * dayMs
  return `${dateText(days)}T${padded(rest / 3_600_000, 2)}:${padded((rest / 60_000) % 60, 2)}:${padded((rest / 1_000) % 60, 2)}.${padded(rest % 1_000, 3)}Z`
}

/** The same in whole seconds, rounded down: `2026-03-01T12:00:07Z`, the contract's own form. */
export const secondText = (ms: number): string => `${instantText(ms).slice(0, -5)}Z`

const dayMs = 86_400_000

const dateText = (daysSince1970: number): string => {
  const days = daysSince1970 + 719_468
  const era = Math.floor(days / 146_097)
  const dayOfEra = days - era * 146_097
  const leapDaysBefore = Math.floor(dayOfEra / 1_460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096)
  const yearOfEra = Math.floor((dayOfEra - leapDaysBefore) / 365)
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const day = dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
  const year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
  return `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}`
}

const padded = (number: number, digits: number): string => String(Math.floor(number)).padStart(digits, '0')

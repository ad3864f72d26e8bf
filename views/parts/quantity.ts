import type { Limit } from '../../src/domain/events.ts'
import { dayMs, durationText } from './time-words.ts'

const grouped = new Intl.NumberFormat('en')

/** Like `6,000`. */
export const countText = (count: number): string => grouped.format(count)

/** Like `6,000 per 60 s`. */
export const limitText = (limit: Limit): string => `${countText(limit.readings)} per ${durationText(limit.windowMs)}`

/** Like `1 key` or `3 keys`. */
export const countOf = (count: number, one: string, many: string): string =>
  `${countText(count)} ${count === 1 ? one : many}`

const byteUnits = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const

/** Like `1.9 GB` or `61 GB`. */
export const bytesText = (bytes: number): string => {
  let [left, unit] = [bytes, 0]
  while (left >= 999.5 && unit < byteUnits.length - 1) [left, unit] = [left / 1_000, unit + 1]
  return `${left < 9.95 && unit > 0 ? left.toFixed(1) : Math.round(left)} ${byteUnits[unit]}`
}

const aboutUnits = [
  ['year', 365.25 * dayMs],
  ['month', 30.4 * dayMs],
  ['day', dayMs],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

/** Like `14 months`. `null`: more than a hundred years. */
export const aboutText = (ms: number): string | null => {
  if (ms > 100 * aboutUnits[0][1]) return null
  const [unit, unitMs] = aboutUnits.find(([, size]) => ms >= 2 * size) ?? aboutUnits[4]
  const count = Math.max(1, Math.round(ms / unitMs))
  return countOf(count, unit, `${unit}s`)
}

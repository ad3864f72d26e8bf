import type { Limit } from '../../src/domain/events.ts'
import { durationText } from './time-words.ts'

const grouped = new Intl.NumberFormat('en')

/** Like `6,000`. */
export const countText = (count: number): string => grouped.format(count)

/** Like `6,000 per 60 s`. */
export const limitText = (limit: Limit): string => `${countText(limit.readings)} per ${durationText(limit.windowMs)}`

/** Like `1 key` or `3 keys`. */
export const countOf = (count: number, one: string, many: string): string =>
  `${countText(count)} ${count === 1 ? one : many}`

/** As people type them: `90m`, and `6000/60` for 6,000 readings per 60 s. */
import { keyLimitReadingsMax, keyWindowMsMax, keyWindowMsMin, retentionMsMin, rotationOverlapsMs } from '../limits.ts'
import { dayMs } from './calendar.ts'
import type { Limit } from './events.ts'
import { done } from './refusal.ts'
import { invalidField, type Typed } from './text.ts'

/** A longer duration is taken for a typing error. */
export const durationMsMax = 36_500 * 86_400_000

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: dayMs }

export const parseDurationMs = (text: string, field: string, msMax = durationMsMax): Typed<number> => {
  const [, count, unit] = /^(\d{1,12})([smhd])$/.exec(text.trim()) ?? []
  const ms = Number(count) * (unitMs[unit ?? ''] ?? Number.NaN)
  if (ms >= 1 && ms <= msMax) return done(ms)
  return invalidField(
    field,
    `The duration must be a whole number followed by s, m, h or d, like 30d. The maximum is ${msMax / dayMs}d.`,
  )
}

export const durationTyped = (ms: number): string => {
  const [unit = 's', lengthMs = 1_000] = Object.entries(unitMs).findLast(([, length]) => ms % length === 0) ?? []
  return `${ms / lengthMs}${unit}`
}

export const parseOverlap = (text: string): Typed<number> =>
  overlapWithin(rotationOverlapsMs.find((ms) => overlapTyped(ms) === text.trim()) ?? Number.NaN)

export const overlapWithin = (overlapMs: number): Typed<number> =>
  rotationOverlapsMs.some((ms) => ms === overlapMs)
    ? done(overlapMs)
    : invalidField('overlap', `The overlap must be one of ${rotationOverlapsMs.map(overlapTyped).join(', ')}.`)

/** The contract writes one day as `24h`, not `1d` (docs/contract.md, "Keys"). */
export const overlapTyped = (ms: number): string => {
  if (ms === 0) return '0'
  return ms === unitMs['d'] ? '24h' : durationTyped(ms)
}

export const parseLimit = (text: string): Typed<Limit> => {
  const [, readings, seconds] = /^(\d{1,12})\/(\d{1,12})$/.exec(text.trim()) ?? []
  return limitWithin({ readings: Number(readings), windowMs: Number(seconds) * 1_000 })
}

/** `null` is allowed, and means the limit of the cellar or the default limit. */
export const limitWithin = <L extends Limit | null>(limit: L): Typed<L> => {
  if (limit === null) return done(limit)
  const { readings, windowMs } = limit
  const isReadings = Number.isInteger(readings) && readings >= 1 && readings <= keyLimitReadingsMax
  const isWindow = Number.isInteger(windowMs) && windowMs >= keyWindowMsMin && windowMs <= keyWindowMsMax
  if (isReadings && isWindow) return done(limit)
  return invalidField(
    'limit',
    `The limit must be 1 to ${keyLimitReadingsMax} readings per ${keyWindowMsMin / 1_000} to ${keyWindowMsMax / 1_000} seconds, like 6000/60.`,
  )
}

/** Only whole days, because readings are deleted once a day. `null` means that they are kept for ever. */
export const retentionWithin = <R extends number | null>(retentionMs: R): Typed<R> => {
  if (retentionMs === null) return done(retentionMs)
  const isWhole = retentionMs % retentionMsMin === 0
  if (isWhole && retentionMs >= retentionMsMin && retentionMs <= durationMsMax) return done(retentionMs)
  const daysMax = durationMsMax / retentionMsMin
  return invalidField('retention', `Readings must be kept for a whole number of days, from 1 to ${daysMax}.`)
}

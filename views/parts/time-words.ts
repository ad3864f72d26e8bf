/** All in UTC. */
export const dayMs = 86_400_000

/** Like `2026-03-01T12:00:07.042Z`, for the attribute `datetime`. */
export const isoText = (ms: number): string => new Date(ms).toISOString()

/** Like `2026-03-01`. */
export const dateText = (ms: number): string => isoText(ms).slice(0, 10)

/** Like `12:00:07`. */
export const clockText = (ms: number): string => isoText(ms).slice(11, 19)

/** Like `2026-03-01 12:00:07 UTC`. */
export const secondText = (ms: number): string => `${dateText(ms)} ${clockText(ms)} UTC`

/** Like `12:00:07.042 UTC`. */
export const exactClockText = (ms: number): string => `${isoText(ms).slice(11, 23)} UTC`

/** Like `2026-03-01 12:00:07.042 UTC`. */
export const exactText = (ms: number): string => `${dateText(ms)} ${exactClockText(ms)}`

const relative = new Intl.RelativeTimeFormat('en')

/** Like `12 seconds ago` or `in 3 days`. `assets/app.js` updates this text, so it must use the same steps. */
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

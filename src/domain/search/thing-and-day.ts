import { dayMs } from '../calendar.ts'
import { parseInstantNear } from './near-instant.ts'

export type Day = {
  /** Midnight in UTC, in ms since 1970. */
  readonly since: number
  /** The next midnight. */
  readonly until: number
}

/**
 * Splits a text like `clr_7Qp2mZ4k yesterday`: a thing, and `today`, `yesterday` or a day like `2026-03-01`. `null`: the text does
 * not end with a day, or has nothing before it.
 */
export const thingAndDay = (text: string, nowMs: number): { readonly thing: string; readonly day: Day } | null => {
  const [, thing, typedDay = ''] = /^(.*\S)[ ,]+(today|yesterday|\d{4}-\d\d-\d\d)$/i.exec(text.trim()) ?? []
  const since = parseInstantNear(typedDay, nowMs)
  if (thing === undefined || !since.ok) return null
  return { thing: thing.replace(/,$/, ''), day: { since: since.value, until: since.value + dayMs } }
}

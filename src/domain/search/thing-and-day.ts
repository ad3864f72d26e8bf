import { type Day, dayNear } from './near-instant.ts'

/**
 * Splits a text like `clr_7Qp2mZ4k yesterday`: a thing, and `today`, `yesterday` or a day like `2026-03-01`. `null`: the text does
 * not end with a day, or has nothing before it.
 */
export const thingAndDay = (text: string, nowMs: number): { readonly thing: string; readonly day: Day } | null => {
  const [, thing, typedDay = ''] = /^(.*\S)[ ,]+(\S+)$/.exec(text.trim()) ?? []
  const day = dayNear(typedDay, nowMs)
  return thing === undefined || day === null ? null : { thing: thing.replace(/,$/, ''), day }
}

import { parseInstantNear, type Span, spanNear } from './near-instant.ts'

export type Time =
  | ({ readonly kind: 'span' } & Span)
  /** In ms since 1970. */
  | { readonly kind: 'instant'; readonly atMs: number }

/**
 * `clr_7Qp2mZ4k yesterday` or `wine-berlin 21:12`. The time is as long as it can be: `yesterday 18:00`, not `18:00`.
 * `null`: the text does not end with a time, or has nothing before it.
 */
export const thingAndTime = (text: string, nowMs: number): { readonly thing: string; readonly time: Time } | null => {
  const typed = text.trim()
  if (timeNear(typed, nowMs) !== null) return null
  for (const { index, 0: gap } of typed.matchAll(/[ ,]+/g)) {
    const time = timeNear(typed.slice(index + gap.length), nowMs)
    if (index > 0 && time !== null) return { thing: typed.slice(0, index), time }
  }
  return null
}

export const timeNear = (text: string, nowMs: number): Time | null => {
  const span = spanNear(text, nowMs)
  if (span !== null) return { kind: 'span', ...span }
  const instant = parseInstantNear(text, nowMs)
  return instant.ok ? { kind: 'instant', atMs: instant.value } : null
}

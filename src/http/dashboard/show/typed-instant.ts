import { notInFuture } from '../../../domain/search/instant.ts'
import { parseInstantNear } from '../../../domain/search/near-instant.ts'
import type { Typed } from '../../../domain/text.ts'

/** `?at=`, which people type, or `?pick=`, which the browser fills in. */
export const typedTime = (query: URLSearchParams): string =>
  (query.get('at') ?? '').trim() === '' ? (query.get('pick') ?? '').trim() : (query.get('at') ?? '')

/** Refuses a time after `nowMs`, because the log can still change before that time. */
export const pastInstant = (typed: string, nowMs: number): Typed<number> => {
  const instant = parseInstantNear(typed, nowMs)
  return instant.ok ? notInFuture(instant.value, nowMs) : instant
}

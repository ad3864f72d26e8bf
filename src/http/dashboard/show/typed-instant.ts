import { done } from '../../../domain/refusal.ts'
import { notInFuture, parseInstant } from '../../../domain/search/instant.ts'
import { invalidField, type Typed } from '../../../domain/text.ts'

/** Reads `?at=`, which people type, or `?pick=`, which the browser fills in. Returns a blank text without both. */
export const typedTime = (query: URLSearchParams): string =>
  (query.get('at') ?? '').trim() === '' ? (query.get('pick') ?? '').trim() : (query.get('at') ?? '')

/** Times without a zone are in UTC, because the page shows all times in UTC. */
export const typedInstant = (text: string): Typed<number> => {
  const withZone = parseInstant(text)
  const instant = withZone.ok ? withZone : parseInstant(`${text.trim()}Z`)
  return instant.ok
    ? done(instant.value)
    : invalidField('at', 'Enter a valid date and time in UTC, like 2026-03-01 10:14:07.')
}

/** Refuses a time after `nowMs`, because the log can still change before that time. */
export const pastInstant = (typed: string, nowMs: number): Typed<number> => {
  const instant = typedInstant(typed)
  return instant.ok ? notInFuture(instant.value, nowMs) : instant
}

import { parseTimestamp } from './reading/parse-timestamp.ts'
import { done } from './refusal.ts'
import { invalidField, type Typed } from './text.ts'

/** The key is expired already in the millisecond `expiresAt`. */
export const isExpired = ({ expiresAt }: { readonly expiresAt: number | null }, nowMs: number): boolean =>
  expiresAt !== null && nowMs >= expiresAt

/** The end of the year 9999: dates have four digits for the year. */
const expiresAtMax = 253_402_300_799_000

const expiryRule =
  'The expiry must be a date that exists, like 2026-03-31 (valid until the end of that day, UTC), or a time in UTC, like 2026-03-31T18:00:00Z.'

/** A date alone means the end of that day, UTC. The result (ms) can be in the past. */
export const parseExpiry = (text: string): Typed<number> => {
  const typed = text.trim()
  const isDate = /^\d{4}-\d{2}-\d{2}$/.test(typed)
  const parsed = parseTimestamp(isDate ? `${typed}T23:59:59Z` : typed)
  if (typeof parsed !== 'number') return invalidField('expiresAt', expiryRule)
  const expiresAt = isDate ? parsed + 1_000 : parsed
  if (expiresAt >= 0 && expiresAt <= expiresAtMax) return done(expiresAt)
  return invalidField('expiresAt', 'The expiry must be between 1970-01-01 and 9999-12-30. For no expiry, leave it out.')
}

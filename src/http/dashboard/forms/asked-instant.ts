import { parseTimestamp } from '../../../domain/reading/timestamp.ts'
import { done } from '../../../domain/refusal.ts'
import { invalidField, type Typed } from '../../../domain/text.ts'

/**
 * An instant as an auditor types it or copies it from a page: `2026-03-01 10:14:07.042 UTC`. What a hurried one leaves out
 * (UTC, the seconds, the time of day) is filled in; the calendar is the one judge of what exists.
 */
export const askedInstant = (text: string): Typed<number> => {
  const [, date, time = '00:00', seconds = ':00', fraction = ''] =
    /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2})(:\d{2})?(\.\d{1,9})?)?(?: ?(?:UTC|Z))?$/i.exec(text.trim()) ?? []
  const parsed = parseTimestamp(`${date}T${time}${seconds}${fraction}Z`)
  if (typeof parsed === 'number') return done(parsed)
  return invalidField('at', 'The instant must exist and be written like 2026-03-01 10:14:07, in UTC.')
}

/** The texts of faults in a field. They follow the rules for texts to devices in docs/contract.md, "One reading". */
import type { NameFault, ReadingRefusal } from '../domain/refusal.ts'
import { nameCodePointsMax } from '../limits.ts'

const exampleTimestamp = '2025-03-01T12:00:00Z'

export const nameWords: Record<NameFault, string> = {
  blank: `must not be blank: send 1 to ${nameCodePointsMax} characters.`,
  outer_space: 'must not begin or end with a space: remove the space.',
  too_long: `must be at most ${nameCodePointsMax} characters: choose a shorter name.`,
  control_character: 'must not contain a control character: remove it.',
  lone_surrogate: 'must be whole Unicode characters, without half of a surrogate pair: remove that half.',
}

export const timestampWords: Record<TimestampFault, string> = {
  form: `timestamp must have the form YYYY-MM-DDThh:mm:ssZ, in UTC, with at most 9 fractional digits: send it like ${exampleTimestamp}.`,
  no_such_instant: `timestamp must be a date and a time that exist, with months 01-12, hours 00-23, minutes and seconds 00-59: send it like ${exampleTimestamp}.`,
}

type TimestampFault = Extract<ReadingRefusal, { readonly kind: 'invalid_timestamp' }>['fault']

/** The rules for texts to devices are in docs/contract.md, "One reading". */
import { nameFields, readingFields } from '../domain/reading/fields.ts'
import type { NameFault, ReadingRefusal } from '../domain/refusal.ts'
import { nameCodePointsMax } from '../limits.ts'

const exampleTimestamp = '2025-03-01T12:00:00Z'

export const nameWords = (field: string | null): Readonly<Record<NameFault, string>> => {
  const name = nameFields.find((one) => one === field)
  const codePointsMax = name === undefined ? nameCodePointsMax : readingFields[name].codePointsMax
  return {
    blank: `must not be blank: send 1 to ${codePointsMax} characters.`,
    outer_space: 'must not begin or end with a space: remove the space.',
    too_long: `must be at most ${codePointsMax} characters: choose a shorter name.`,
    control_character: 'must not contain a control character: remove it.',
    lone_surrogate: 'must be whole Unicode characters, without half of a surrogate pair: remove that half.',
  }
}

export const timestampWords: Record<TimestampFault, string> = {
  form: `timestamp must have the form YYYY-MM-DDThh:mm:ssZ, in UTC, with at most 9 fractional digits: send it like ${exampleTimestamp}.`,
  no_such_instant: `timestamp must be a date and a time that exist, with months 01-12, hours 00-23, minutes and seconds 00-59: send it like ${exampleTimestamp}.`,
}

type TimestampFault = Extract<ReadingRefusal, { readonly kind: 'invalid_timestamp' }>['fault']

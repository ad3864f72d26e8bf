import type { FormFields } from './read-form.ts'

type Values<Field extends string> = Readonly<Record<Field, string>>

/**
 * The hidden field `_shown`: the values that the form showed. Saving changes only the fields that differ from them, so a
 * change that somebody else made meanwhile stays (docs/decisions/025-forms-and-commands-change-what-was-asked.md).
 */
export const shownFieldOf = (values: Values<string>): string => new URLSearchParams(values).toString()

/** The values that the sent form had shown. A field missing in `_shown` counts as unchanged since. */
export const shownValues = <Field extends string>(form: FormFields, now: Values<Field>): Values<string> => {
  const sent = new URLSearchParams(form('_shown'))
  return Object.fromEntries(Object.entries<string>(now).map(([field, value]) => [field, sent.get(field) ?? value]))
}

/** True if at least one of these fields was changed. Browsers send CR LF for LF. */
export const isChanged = (form: FormFields, shown: Values<string>, fields: readonly string[]): boolean =>
  fields.some((field) => form(field).replaceAll('\r\n', '\n') !== shown[field])

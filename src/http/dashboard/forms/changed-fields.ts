import type { FormFields } from './read-form.ts'

type Values<Field extends string> = Readonly<Record<Field, string>>

/**
 * The hidden field `_shown` has the values that the form showed. Only fields that differ are saved
 * (docs/decisions/025-forms-and-commands-change-what-was-asked.md).
 */
export const shownFieldOf = (values: Values<string>): string => new URLSearchParams(values).toString()

/** A field missing in `_shown` counts as shown with its present value. */
export const shownValues = <Field extends string>(form: FormFields, now: Values<Field>): Values<string> => {
  const sent = new URLSearchParams(form('_shown'))
  return Object.fromEntries(Object.entries<string>(now).map(([field, value]) => [field, sent.get(field) ?? value]))
}

/** Browsers send CR LF for LF. */
export const isChanged = (form: FormFields, shown: Values<string>, fields: readonly string[]): boolean =>
  fields.some((field) => form(field).replaceAll('\r\n', '\n') !== shown[field])

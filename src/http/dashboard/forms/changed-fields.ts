import type { FormFields } from './read-form.ts'

type Values<Field extends string> = Readonly<Record<Field, string>>

/**
 * The values that the form showed: only a difference from them is a change
 * (docs/decisions/025-forms-and-commands-change-what-was-asked.md).
 */
export const shownFieldOf = (values: Values<string>): string => new URLSearchParams(values).toString()

export const shownValues = <Field extends string>(form: FormFields, now: Values<Field>): Values<string> => {
  const sent = new URLSearchParams(form('_shown'))
  return Object.fromEntries(Object.entries<string>(now).map(([field, value]) => [field, sent.get(field) ?? value]))
}

/** Browsers send each line break as CR LF. An untouched note would count as changed. */
export const isChanged = (form: FormFields, shown: Values<string>, fields: readonly string[]): boolean =>
  fields.some((field) => form(field).replaceAll('\r\n', '\n') !== shown[field])

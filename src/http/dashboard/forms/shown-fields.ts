import type { FormFields } from './read-form.ts'

type Values<Field extends string> = Readonly<Record<Field, string>>

/**
 * A form that changes what is there carries what it showed, in one hidden field. So to save it changes what the person
 * typed over, and what somebody else changed since it was opened stays. Of two who change the same, the last to save wins.
 */
export const shownText = (values: Values<string>): string => new URLSearchParams(values).toString()

/** What the form says that it showed; in place of what it does not say, what it would show now. */
export const shownBy = <Field extends string>(form: FormFields, now: Values<Field>): Values<string> => {
  const sent = new URLSearchParams(form('_shown'))
  return Object.fromEntries(Object.entries<string>(now).map(([field, value]) => [field, sent.get(field) ?? value]))
}

/** Whether one of these fields, which mean something together, is not as it was shown. A browser sends CR LF for LF. */
export const isTypedOver = (form: FormFields, shown: Values<string>, fields: readonly string[]): boolean =>
  fields.some((field) => form(field).replaceAll('\r\n', '\n') !== shown[field])

import type { KeyState } from '../../../domain/key.ts'
import { limitValues } from './limit-fields.ts'
import type { FormFields } from './read-form.ts'

/** The fields of the form for a new key, and for one that is edited, as they were typed. */
export const keyFormValues = (form: FormFields) => ({
  label: form('label'),
  note: form('note'),
  expires: form('expires'),
  expires_on: form('expires_on'),
  limit_readings: form('limit_readings'),
  limit_seconds: form('limit_seconds'),
})

export type KeyFormValues = ReturnType<typeof keyFormValues>

/** The same fields as the key has them. */
export const keyFormOf = ({ label, note, limit }: KeyState): KeyFormValues => ({
  label,
  note,
  expires: 'keep',
  expires_on: '',
  ...limitValues(limit),
})

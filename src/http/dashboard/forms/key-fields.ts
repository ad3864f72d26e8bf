import type { ExpiryChoice } from '../../../../views/types.ts'
import { dayMs } from '../../../domain/calendar.ts'
import type { Limit } from '../../../domain/events.ts'
import { parseExpiry } from '../../../domain/expiry.ts'
import type { KeyState } from '../../../domain/key.ts'
import { assertNever, done } from '../../../domain/refusal.ts'
import { invalidField, type Typed } from '../../../domain/text.ts'
import { keyLimitReadingsMax, keyWindowMsMax, keyWindowMsMin } from '../../../limits.ts'
import type { FormFields } from './read-form.ts'

/** As typed, so that the form can show them again after a refusal. */
export const keyFormValues = (form: FormFields) => ({
  label: form('label'),
  note: form('note'),
  expires: form('expires'),
  expires_on: form('expires_on'),
  limit_readings: form('limit_readings'),
  limit_seconds: form('limit_seconds'),
})

export type KeyFormValues = ReturnType<typeof keyFormValues>

/** `expires_now` is in no field: it tells whether the expiry was changed meanwhile. */
export const keyShownOf = (key: KeyState) => ({ ...keyFormOf(key), expires_now: String(key.expiresAt ?? 'never') })

export const keyFormOf = ({ label, note, limit }: KeyState): KeyFormValues => ({
  label,
  note,
  expires: 'keep',
  expires_on: '',
  ...limitValues(limit),
})

const presetDays = { '7d': 7, '30d': 30, '90d': 90, '1y': 365 } as const

type ExpiryForm = { readonly nowMs: number; readonly isNew: boolean }

/** In ms since 1970. `null` means never; `keep` leaves the expiry as it is. */
export const chosenExpiry = (form: FormFields, { nowMs, isNew }: ExpiryForm): Typed<number | null | 'keep'> => {
  const choice = expiryChoices.find((known) => known === form('expires'))
  switch (choice) {
    case undefined:
      return invalidField('expires', 'Choose when the key expires.')
    case 'keep':
      return done('keep')
    case 'never':
      return done(null)
    case '7d':
    case '30d':
    case '90d':
    case '1y':
      return done(nowMs + presetDays[choice] * dayMs)
    case 'date':
      return typedDate(form('expires_on'), { nowMs, isNew })
    default:
      return assertNever(choice)
  }
}

const expiryChoices: readonly ExpiryChoice[] = ['keep', 'never', '7d', '30d', '90d', '1y', 'date']

/** A browser without support for date fields can send any text. */
const typedDate = (text: string, { nowMs, isNew }: ExpiryForm): Typed<number> => {
  if (text.trim() === '') return invalidField('expires_on', 'Choose the last valid day of the key.')
  const parsed = parseExpiry(text)
  if (!parsed.ok) return invalidField('expires_on', parsed.refusal.rule)
  if (parsed.value > nowMs) return parsed
  return invalidField(
    'expires_on',
    `This day is already over in UTC. Choose a later day.${isNew ? '' : ' To stop the key now, revoke it.'}`,
  )
}

/** `null` if both fields are blank: then the limit of the cellar, or the default one, holds. */
export const typedLimit = (form: FormFields): Typed<Limit | null> => {
  const readings = form('limit_readings').trim()
  const seconds = form('limit_seconds').trim()
  if (readings === '' && seconds === '') return done(null)
  if (readings === '')
    return invalidField('limit_readings', 'Enter the number of readings too, or leave both fields blank.')
  if (seconds === '') return invalidField('limit_seconds', 'Enter the period too, or leave both fields blank.')
  if (!isWithin(readings, 1, keyLimitReadingsMax)) {
    return invalidField(
      'limit_readings',
      `The number of readings must be a whole number from 1 to ${keyLimitReadingsMax}.`,
    )
  }
  const [secondsMin, secondsMax] = [keyWindowMsMin / 1_000, keyWindowMsMax / 1_000]
  if (!isWithin(seconds, secondsMin, secondsMax)) {
    return invalidField(
      'limit_seconds',
      `The period must be a whole number of seconds from ${secondsMin} to ${secondsMax}.`,
    )
  }
  return done({ readings: Number(readings), windowMs: Number(seconds) * 1_000 })
}

const isWithin = (text: string, min: number, max: number): boolean =>
  /^\d{1,12}$/.test(text) && Number(text) >= min && Number(text) <= max

export const limitValues = (limit: Limit | null) => ({
  limit_readings: limit === null ? '' : String(limit.readings),
  limit_seconds: limit === null ? '' : String(limit.windowMs / 1_000),
})

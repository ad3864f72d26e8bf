import type { ExpiryChoice } from '../../../../views/types.ts'
import { parseExpiry } from '../../../domain/expiry.ts'
import { assertNever, done } from '../../../domain/refusal.ts'
import { invalidField, type Typed } from '../../../domain/text.ts'
import type { FormFields } from './read-form.ts'

const dayMs = 86_400_000
const presetDays = { '7d': 7, '30d': 30, '90d': 90, '1y': 365 } as const

/** `isNew`: the form makes a key, so there is none that could be ended now. */
type Asked = { readonly nowMs: number; readonly isNew: boolean }

/** The instant that the form's choice means, ms; `null` for never, `keep` for the one it has. A year is 365 days. */
export const chosenExpiry = (form: FormFields, { nowMs, isNew }: Asked): Typed<number | null | 'keep'> => {
  const choice = expiryChoiceOf(form('expires'))
  switch (choice) {
    case null:
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
      return dateOf(form('expires_on'), { nowMs, isNew })
    default:
      return assertNever(choice)
  }
}

/** The date field sends only dates; a browser without one lets any text through. */
const dateOf = (text: string, { nowMs, isNew }: Asked): Typed<number> => {
  if (text.trim() === '') return invalidField('expires_on', 'Choose the last day on which the key is valid.')
  const parsed = parseExpiry(text)
  if (!parsed.ok) return invalidField('expires_on', parsed.refusal.rule)
  if (parsed.value > nowMs) return parsed
  return invalidField('expires_on', `That day is over in UTC.${isNew ? '' : ' To end a key now, revoke it.'}`)
}

const choices: readonly ExpiryChoice[] = ['keep', 'never', '7d', '30d', '90d', '1y', 'date']

const expiryChoiceOf = (text: string): ExpiryChoice | null => choices.find((choice) => choice === text) ?? null

import type { Limit } from '../../../domain/events.ts'
import { done } from '../../../domain/refusal.ts'
import { invalidField, type Typed } from '../../../domain/text.ts'
import { keyLimitReadingsMax, keyWindowMsMax, keyWindowMsMin } from '../../../limits.ts'
import type { FormFields } from './read-form.ts'

/** The limit that both fields together mean; `null`, if both are blank, for the one that holds without them. */
export const typedLimit = (form: FormFields): Typed<Limit | null> => {
  const readings = form('limit_readings').trim()
  const seconds = form('limit_seconds').trim()
  if (readings === '' && seconds === '') return done(null)
  if (readings === '') return invalidField('limit_readings', 'Say how many readings too, or leave both blank.')
  if (seconds === '') return invalidField('limit_seconds', 'Say in how many seconds too, or leave both blank.')
  if (!isWithin(readings, 1, keyLimitReadingsMax)) {
    return invalidField('limit_readings', `The readings must be a whole number from 1 to ${keyLimitReadingsMax}.`)
  }
  const [secondsMin, secondsMax] = [keyWindowMsMin / 1_000, keyWindowMsMax / 1_000]
  if (!isWithin(seconds, secondsMin, secondsMax)) {
    return invalidField('limit_seconds', `The seconds must be a whole number from ${secondsMin} to ${secondsMax}.`)
  }
  return done({ readings: Number(readings), windowMs: Number(seconds) * 1_000 })
}

const isWithin = (text: string, min: number, max: number): boolean =>
  /^\d{1,12}$/.test(text) && Number(text) >= min && Number(text) <= max

/** What the two fields show for a limit. */
export const limitValues = (limit: Limit | null) => ({
  limit_readings: limit === null ? '' : String(limit.readings),
  limit_seconds: limit === null ? '' : String(limit.windowMs / 1_000),
})

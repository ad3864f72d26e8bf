import { isUtf8 } from 'node:buffer'
import { testCellar } from '../support/test-service.ts'

export type Sent = Readonly<Record<'cellar' | 'rack' | 'keg' | 'value' | 'timestamp', unknown>>

/**
 * Checks a reading with patterns and the platform's calendar, and uses no code of the service. So a mistake here or in the
 * service shows as a difference. Returns `null` if the reading is invalid.
 */
export const judgeNaively = (body: Uint8Array): Sent | null => {
  if (body.length > 16_384 || !isUtf8(body)) return null
  return judged(parsedOrNull(new TextDecoder().decode(body), 32))
}

/** Returns `null` if the body is not a batch. A `null` in the list means that this item is invalid. */
export const judgeBatchNaively = (body: Uint8Array): readonly (Sent | null)[] | null => {
  if (body.length > 1_048_576 || !isUtf8(body)) return null
  const parsed = parsedOrNull(new TextDecoder().decode(body), 32_000)
  if (parsed === null || Array.isArray(parsed)) return null
  const { readings } = Object.fromEntries(Object.entries(parsed))
  if (!Array.isArray(readings) || readings.length < 1 || readings.length > 1_000) return null
  return readings.map((reading) => judged(typeof reading === 'object' ? reading : null))
}

const judged = (parsed: object | null): Sent | null => {
  if (parsed === null || Array.isArray(parsed)) return null
  const { cellar, rack, keg, value, timestamp } = Object.fromEntries(Object.entries(parsed))
  const isValid = cellar === testCellar && isName(rack) && isName(keg) && Number.isFinite(value) && isInstant(timestamp)
  return isValid ? { cellar, rack, keg, value, timestamp } : null
}

const parsedOrNull = (text: string, structuralCharsMax: number): object | null => {
  try {
    const parsed: unknown = JSON.parse(text)
    const structure = text.replace(/"(?:[^"\\]|\\.)*"/g, '').replace(/[^{}[\]:,]/g, '')
    if (structure.length > structuralCharsMax || levelsOf(structure) > 32) return null
    return typeof parsed === 'object' ? parsed : null
  } catch {
    return null
  }
}

/** The depth is how often the innermost brackets can be removed until none is left. */
const levelsOf = (structure: string): number => {
  let brackets = structure.replace(/[:,]/g, '')
  let levels = 0
  for (; brackets !== ''; levels += 1) brackets = brackets.replace(/\[\]|\{\}/g, '')
  return levels
}

const isName = (name: unknown): boolean =>
  typeof name === 'string' && /^[^\p{Cc}\p{Cs}]{1,128}$/u.test(name) && name.trim() === name

const form = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,9})?(Z|\+00:00)$/

/** A time such as 30 February does not exist. For such a time, `Date` prints another time or fails. */
const isInstant = (text: unknown): boolean => {
  const seconds = typeof text === 'string' ? form.exec(text)?.[1] : undefined
  if (seconds === undefined) return false
  const date = new Date(`${seconds}Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().slice(0, 19) === seconds
}

import { done, type ItemRefusal, type Outcome, refused } from '../refusal.ts'
import { nameFault } from '../text.ts'
import { type NameField, type Reading, type ReadingField, readingFields, requiredFields } from './fields.ts'
import { parseTimestamp } from './parse-timestamp.ts'

export type ParsedReading = { readonly reading: Reading; readonly timestampMs: number }

/** Keep this order of checks: docs/contract.md, "One reading", says which fault is reported first. */
export const parseReading = (json: unknown): Outcome<ParsedReading, ItemRefusal> => {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    return refused({ kind: 'invalid_body', what: 'reading' })
  }
  for (const field of requiredFields) if (own(json, field) === undefined) return missingFields(json)

  const cellar = nameIn(json, 'cellar')
  if (typeof cellar !== 'string') return cellar
  const rack = nameIn(json, 'rack')
  if (typeof rack !== 'string') return rack
  const keg = nameIn(json, 'keg')
  if (typeof keg !== 'string') return keg

  const value = own(json, 'value')
  if (typeof value !== 'number') return wrongType.value
  if (!Number.isFinite(value)) return refused({ kind: 'invalid_value' })

  const timestamp = own(json, 'timestamp')
  if (typeof timestamp !== 'string') return wrongType.timestamp
  const timestampMs = parseTimestamp(timestamp)
  if (typeof timestampMs === 'string') return refused({ kind: 'invalid_timestamp', fault: timestampMs })

  return done({ reading: { cellar, rack, keg, value, timestamp }, timestampMs })
}

type Refused = { readonly ok: false; readonly refusal: ItemRefusal }

const nameIn = (body: object, field: NameField): string | Refused => {
  const name = own(body, field)
  if (typeof name !== 'string') return wrongType[field]
  const fault = nameFault(name, readingFields[field].codePointsMax)
  return fault === null ? name : refused({ kind: 'invalid_name', field, fault })
}

const missingFields = (body: object): Refused =>
  refused({ kind: 'missing_field', fields: requiredFields.filter((field) => own(body, field) === undefined) })

export const cellarRefusal = (reading: Reading, cellar: string): ItemRefusal | null =>
  reading.cellar === cellar ? null : { kind: 'cellar_mismatch', cellar }

/** Ignores fields of the prototype, which the device did not send. */
const own = (body: object, field: ReadingField): unknown =>
  Object.hasOwn(body, field) ? Reflect.get(body, field) : undefined

const typeRefusal = (field: ReadingField, expected: 'string' | 'number'): Refused =>
  refused({ kind: 'invalid_type', field, expected })

/** Made once: a faulty device can send a wrong type in each item of a batch. */
const wrongType: Readonly<Record<ReadingField, Refused>> = {
  cellar: typeRefusal('cellar', 'string'),
  rack: typeRefusal('rack', 'string'),
  keg: typeRefusal('keg', 'string'),
  value: typeRefusal('value', 'number'),
  timestamp: typeRefusal('timestamp', 'string'),
}

import type { CellarPolicy, EventData } from '../events.ts'
import {
  done,
  type ItemRefusal,
  type NameFault,
  type NameField,
  type Outcome,
  type ReadingField,
  refused,
} from '../refusal.ts'
import { nameFault } from '../text.ts'
import { parseTimestamp } from './timestamp.ts'

/** A reading as the device sent it. The log stores it unchanged. */
export type Reading = EventData<'ReadingAccepted'>

export type ParsedReading = { readonly reading: Reading; readonly timestampMs: number }

/** Keep this order of checks: docs/contract.md, "One reading", says which fault is reported first. */
export const parseReading = (json: unknown): Outcome<ParsedReading, ItemRefusal> => {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    return refused({ kind: 'invalid_body', what: 'reading' })
  }
  const body: Partial<Record<ReadingField, unknown>> = json
  const cellar = own(body, 'cellar')
  const rack = own(body, 'rack')
  const keg = own(body, 'keg')
  const value = own(body, 'value')
  const timestamp = own(body, 'timestamp')
  if (
    cellar === undefined ||
    rack === undefined ||
    keg === undefined ||
    value === undefined ||
    timestamp === undefined
  ) {
    return refused({ kind: 'missing_field', fields: fieldsInOrder.filter((field) => own(body, field) === undefined) })
  }

  if (typeof cellar !== 'string') return wrongType.cellar
  const cellarFault = nameFault(cellar)
  if (cellarFault !== null) return wrongName('cellar', cellarFault)

  if (typeof rack !== 'string') return wrongType.rack
  const rackFault = nameFault(rack)
  if (rackFault !== null) return wrongName('rack', rackFault)

  if (typeof keg !== 'string') return wrongType.keg
  const kegFault = nameFault(keg)
  if (kegFault !== null) return wrongName('keg', kegFault)

  if (typeof value !== 'number') return wrongType.value
  if (!Number.isFinite(value)) return refused({ kind: 'invalid_value' })

  if (typeof timestamp !== 'string') return wrongType.timestamp
  const timestampMs = parseTimestamp(timestamp)
  if (typeof timestampMs === 'string') return refused({ kind: 'invalid_timestamp', fault: timestampMs })

  return done({ reading: { cellar, rack, keg, value, timestamp }, timestampMs })
}

/** A key can store readings of its own cellar only. */
export const cellarRefusal = (reading: Reading, cellar: string): ItemRefusal | null =>
  reading.cellar === cellar ? null : { kind: 'cellar_mismatch', cellar }

export type TimestampPolicy = Pick<CellarPolicy, 'readingAgeMsMax' | 'readingAheadMsMax' | 'retentionMs'>

/** Checks the timestamp against the bounds that the cellar sets. The service itself sets no bounds. `now` is in ms. */
export const policyRefusal = (timestampMs: number, policy: TimestampPolicy, now: number): ItemRefusal | null => {
  const { readingAgeMsMax, readingAheadMsMax, retentionMs } = policy
  // The retention is also a maximum age. Otherwise the service would accept readings that are too old to be kept.
  const ageMsMax = Math.min(readingAgeMsMax ?? Number.POSITIVE_INFINITY, retentionMs ?? Number.POSITIVE_INFINITY)
  if (now - timestampMs > ageMsMax) return { kind: 'timestamp_too_old', ageMsMax }
  if (readingAheadMsMax !== null && timestampMs - now > readingAheadMsMax) {
    return { kind: 'timestamp_in_future', aheadMsMax: readingAheadMsMax }
  }
  return null
}

const fieldsInOrder: readonly ReadingField[] = ['cellar', 'rack', 'keg', 'value', 'timestamp']

/** Ignores fields of the object's prototype, because the device did not send such fields. */
const own = (body: Partial<Record<ReadingField, unknown>>, field: ReadingField): unknown =>
  Object.hasOwn(body, field) ? body[field] : undefined

const typeRefusal = (field: ReadingField, expected: 'string' | 'number') =>
  refused<ItemRefusal>({ kind: 'invalid_type', field, expected })

/** Made once, because a faulty device can send a wrong type in each item of a batch. */
const wrongType = {
  cellar: typeRefusal('cellar', 'string'),
  rack: typeRefusal('rack', 'string'),
  keg: typeRefusal('keg', 'string'),
  value: typeRefusal('value', 'number'),
  timestamp: typeRefusal('timestamp', 'string'),
}

const wrongName = (field: NameField, fault: NameFault) => refused<ItemRefusal>({ kind: 'invalid_name', field, fault })

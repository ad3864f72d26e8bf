import { describe, expect, test } from 'bun:test'
import type { By, RecordedEvent } from '../../../src/domain/events.ts'
import type { Attribution, KeyState } from '../../../src/domain/key.ts'
import {
  admit,
  foldReadings,
  noReadings,
  type ReadingsEventType,
  type ReadingsState,
} from '../../../src/domain/reading/admission.ts'
import type { ReadingRefusal } from '../../../src/domain/refusal.ts'

const start = Date.UTC(2026, 2, 1, 12)
const by: By = { kind: 'cli' }
const mark: Attribution = { at: start, by, reason: '' }
const limit = { readings: 2, windowMs: 60_000 }

const active: KeyState = {
  keyId: 'k',
  cellar: 'c',
  label: '',
  note: '',
  secretHash: '',
  limit: null,
  expiresAt: start + 1_000,
  predecessorId: null,
  rotation: null,
  created: mark,
  suspended: null,
  revoked: null,
  expiryRecorded: null,
  revision: 0,
}

const recorded = { id: 'id', stream: 'readings-k', metadata: { by, requestId: '', correlationId: '', causationId: '' } }
const reading = { cellar: 'c', rack: 'r', keg: 'k', value: 1, timestamp: '2026-03-01T12:00:00Z' }
const accepted = (revision: number, recordedAt = start): RecordedEvent<ReadingsEventType> => ({
  ...recorded,
  type: 'ReadingAccepted',
  data: reading,
  revision,
  position: revision,
  recordedAt,
})
const sealed = (revision: number): RecordedEvent<ReadingsEventType> => ({
  ...recorded,
  type: 'ReadingsSealed',
  data: { reason: 'lost' },
  revision,
  position: revision,
  recordedAt: start,
})
const fenced = (revision: number, keyRevision: number): RecordedEvent<ReadingsEventType> => ({
  ...recorded,
  type: 'ReadingsFenced',
  data: { keyRevision },
  revision,
  position: revision,
  recordedAt: start,
})

const folded = (...events: readonly RecordedEvent<ReadingsEventType>[]): ReadingsState => {
  const readings = noReadings(limit.windowMs)
  for (const event of events) foldReadings(readings, event)
  return readings
}

const revokedRefusal: ReadingRefusal = { kind: 'key_invalid', why: 'revoked' }
const suspendedRefusal: ReadingRefusal = { kind: 'key_invalid', why: 'suspended' }
const full = [accepted(0), accepted(1)]

describe('admit() refuses in this order, each before all that follow', () => {
  const suspended = { ...active, suspended: mark }
  const revoked = { ...active, revoked: mark }
  const rows: readonly [string, KeyState | null, ReadingsState, number, ReadingRefusal | null][] = [
    ['an unknown key', null, folded(...full), start + 1_000, { kind: 'key_invalid', why: 'unknown' }],
    ['a revoked key', { ...revoked, suspended: mark }, folded(...full), start + 1_000, revokedRefusal],
    ['a sealed stream', suspended, folded(...full, sealed(2)), start + 1_000, revokedRefusal],
    ['a suspended key', suspended, folded(...full), start + 1_000, suspendedRefusal],
    ['an expired key, at the very millisecond', active, folded(...full), start + 1_000, { kind: 'key_expired' }],
    [
      'a full window',
      active,
      folded(...full),
      start + 999,
      { kind: 'rate_limited', limit, retryAfterMs: 59_001, window: 'readings' },
    ],
    ['and admits the last millisecond before expiry', active, folded(accepted(0)), start + 999, null],
    ['and admits the last place of the window', { ...active, expiresAt: null }, folded(accepted(0)), start, null],
    ['and admits into a window that has passed', { ...active, expiresAt: null }, folded(...full), start + 60_000, null],
  ]
  test.each(rows)('%s', (_, key, readings, now, expected) => {
    expect(admit(key, readings, { limit, now, readings: 1 })).toEqual(expected)
  })

  test('a reserved place counts like a reading', () => {
    const readings = folded(accepted(0))
    readings.window.reserve(1, start)
    expect(admit(active, readings, { limit, now: start, readings: 1 })?.kind).toBe('rate_limited')
  })

  test('a batch is admitted when the window has room for all of it, and waits until it has', () => {
    const readings = folded(accepted(0))
    const wide = { readings: 3, windowMs: 60_000 }
    expect(admit(active, readings, { limit: wide, now: start, readings: 2 })).toBeNull()
    readings.window.record(start + 500, 1)
    expect(admit(active, readings, { limit: wide, now: start + 999, readings: 2 })).toEqual({
      kind: 'rate_limited',
      limit: wide,
      retryAfterMs: 59_501,
      window: 'readings',
    })
  })

  test('a batch as large as the limit is admitted, and one past it never could be, however full the window', () => {
    for (const readings of [folded(), folded(...full)]) {
      expect(admit(active, readings, { limit, now: start + 999, readings: 3 })).toEqual({
        kind: 'batch_too_large',
        readingsMax: 2,
        bound: 'key',
      })
    }
    expect(admit(active, folded(), { limit, now: start, readings: 2 })).toBeNull()
  })
})

describe('foldReadings()', () => {
  test('counts readings in the window, not fences or seals', () => {
    const readings = folded(accepted(7), fenced(8, 3), accepted(9), sealed(10))
    expect(readings.window.used(start)).toBe(2)
    expect(readings.revision).toBe(10)
    expect(readings.sealed?.data.reason).toBe('lost')
  })

  test('remembers the highest fence, whatever came later', () => {
    expect(folded(accepted(0)).fencedAt).toBe(-1)
    expect(folded(fenced(0, 4), fenced(1, 2)).fencedAt).toBe(4)
  })

  test('begins at any revision and refuses a gap after it', () => {
    const readings = folded(accepted(41))
    expect(() => foldReadings(readings, accepted(43))).toThrow('the last one folded is 41')
    expect(() => foldReadings(readings, accepted(41))).toThrow('the last one folded is 41')
  })
})

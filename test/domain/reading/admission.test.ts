import { describe, expect, test } from 'bun:test'
import type { By, RecordedEvent } from '../../../src/domain/events.ts'
import type { Attribution, KeyState } from '../../../src/domain/key.ts'
import {
  admit,
  foldReadings,
  noReadings,
  type ReadingsEventType,
  type ReadingsState,
} from '../../../src/domain/reading/admit-by-key-and-window.ts'
import type { ReadingRefusal } from '../../../src/domain/refusal.ts'

const start = Date.UTC(2026, 2, 1, 12)
const by: By = { kind: 'cli' }
const change: Attribution = { at: start, by, reason: '' }
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
  created: change,
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

describe('admit()', () => {
  const suspended = { ...active, suspended: change }
  const revoked = { ...active, revoked: change }
  const rows: readonly [string, KeyState | null, ReadingsState, number, ReadingRefusal | null][] = [
    ['refuses an unknown key', null, folded(...full), start + 1_000, { kind: 'key_invalid', why: 'unknown' }],
    [
      'refuses a revoked key before a suspended one',
      { ...revoked, suspended: change },
      folded(...full),
      start + 1_000,
      revokedRefusal,
    ],
    [
      'refuses a sealed stream like a revoked key',
      suspended,
      folded(...full, sealed(2)),
      start + 1_000,
      revokedRefusal,
    ],
    ['refuses a suspended key before an expired one', suspended, folded(...full), start + 1_000, suspendedRefusal],
    ['refuses an expired key before a full window', active, folded(...full), start + 1_000, { kind: 'key_expired' }],
    [
      'refuses a reading at a full window',
      active,
      folded(...full),
      start + 999,
      { kind: 'rate_limited', limit, retryAfterMs: 59_001, window: 'readings' },
    ],
    ['admits a reading at the last millisecond before the expiry', active, folded(accepted(0)), start + 999, null],
    ['admits the last reading of the window', { ...active, expiresAt: null }, folded(accepted(0)), start, null],
    [
      'admits a reading after the window has passed',
      { ...active, expiresAt: null },
      folded(...full),
      start + 60_000,
      null,
    ],
  ]
  test.each(rows)('%s', (_, key, readings, now, expected) => {
    expect(admit(key, readings, { limit, now, readings: 1 })).toEqual(expected)
  })

  test('counts a reserved reading like an accepted one', () => {
    const readings = folded(accepted(0))
    readings.window.reserve(1, start)
    expect(admit(active, readings, { limit, now: start, readings: 1 })?.kind).toBe('rate_limited')
  })

  test('refuses a batch until all of it fits into the window', () => {
    const readings = folded(accepted(0))
    const wide = { readings: 3, windowMs: 60_000 }
    expect(admit(active, readings, { limit: wide, now: start, readings: 2 })).toBeNull()
    readings.window.record(start + 400, 1)
    expect(admit(active, readings, { limit: wide, now: start + 999, readings: 2 })).toEqual({
      kind: 'rate_limited',
      limit: wide,
      retryAfterMs: 59_401,
      window: 'readings',
    })
  })

  test('refuses a batch larger than the limit for ever', () => {
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

  test('keeps the highest fence', () => {
    expect(folded(accepted(0)).fencedAt).toBe(-1)
    expect(folded(fenced(0, 4), fenced(1, 2)).fencedAt).toBe(4)
  })

  test('begins at any revision, and throws at a gap', () => {
    const readings = folded(accepted(41))
    expect(() => foldReadings(readings, accepted(43))).toThrow('the last one folded is 41')
    expect(() => foldReadings(readings, accepted(41))).toThrow('the last one folded is 41')
  })
})

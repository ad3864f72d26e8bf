import { describe, expect, test } from 'bun:test'
import { noPolicy } from '../../../src/domain/cellar.ts'
import { parseReading } from '../../../src/domain/reading/reading.ts'
import { policyRefusal } from '../../../src/domain/reading/timestamp-policy.ts'

const reading = {
  cellar: 'wine',
  rack: 'rack-17',
  keg: 'temperature',
  value: 21.5,
  timestamp: '2026-03-01T12:00:00.5Z',
}

describe('parseReading()', () => {
  test('answers the five fields as sent, and the instant', () => {
    const timestampMs = Date.UTC(2026, 2, 1, 12, 0, 0, 500)
    expect(parseReading({ ...reading, unit: 'C' })).toEqual({ ok: true, value: { reading, timestampMs } })
  })

  test('ignores a field of a prototype', () => {
    expect(parseReading(Object.create(reading))).toEqual({
      ok: false,
      refusal: { kind: 'missing_field', fields: ['cellar', 'rack', 'keg', 'value', 'timestamp'] },
    })
  })
})

describe('policyRefusal()', () => {
  const now = Date.UTC(2026, 2, 1, 12)
  const bounded = { ...noPolicy, readingAgeMsMax: 1_000, readingAheadMsMax: 0 }

  test('accepts any timestamp if the cellar sets no bound', () => {
    expect(policyRefusal(-62_167_219_200_000, noPolicy, now)).toBeNull()
    expect(policyRefusal(253_402_300_799_999, noPolicy, now)).toBeNull()
  })

  test('accepts the bounds, and refuses one millisecond more', () => {
    expect(policyRefusal(now - 1_000, bounded, now)).toBeNull()
    expect(policyRefusal(now - 1_001, bounded, now)).toEqual({ kind: 'timestamp_too_old', ageMsMax: 1_000 })
    expect(policyRefusal(now, bounded, now)).toBeNull()
    expect(policyRefusal(now + 1, bounded, now)).toEqual({ kind: 'timestamp_in_future', aheadMsMax: 0 })
  })

  test('refuses a reading older than the retention, and names the shorter bound', () => {
    const dayMs = 86_400_000
    for (const [readingAgeMsMax, retentionMs, ageMsMax] of [
      [null, dayMs, dayMs],
      [2 * dayMs, dayMs, dayMs],
      [1_000, dayMs, 1_000],
    ] as const) {
      const policy = { ...noPolicy, readingAgeMsMax, retentionMs }
      expect(policyRefusal(now - ageMsMax, policy, now)).toBeNull()
      expect(policyRefusal(now - ageMsMax - 1, policy, now)).toEqual({ kind: 'timestamp_too_old', ageMsMax })
    }
  })
})

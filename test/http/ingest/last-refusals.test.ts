import { describe, expect, test } from 'bun:test'
import { LastRefusals } from '../../../src/http/ingest/last-refusals.ts'
import { RefusalWindows } from '../../../src/http/ingest/refusal-windows.ts'

describe('LastRefusals', () => {
  test('remembers the last one of each key', () => {
    const refusals = new LastRefusals(2)
    expect(refusals.of('a')).toBeNull()
    refusals.note('a', { atMs: 1, code: 'MALFORMED_JSON' })
    refusals.note('a', { atMs: 2, code: 'KEY_REVOKED' })
    expect(refusals.of('a')).toEqual({ atMs: 2, code: 'KEY_REVOKED' })
  })

  test('forgets the key that was refused longest ago, one past its bound', () => {
    const refusals = new LastRefusals(2)
    for (const [atMs, keyId] of ['a', 'b', 'a', 'c'].entries()) refusals.note(keyId, { atMs, code: 'RATE_LIMITED' })
    expect(refusals.of('a')).not.toBeNull()
    expect(refusals.of('b')).toBeNull()
    expect(refusals.of('c')).not.toBeNull()
  })
})

describe('RefusalWindows', () => {
  const limit = { readings: 1, windowMs: 1_000 }

  test('refuses from the tenth refusal on, and not before', () => {
    const windows = new RefusalWindows()
    for (let refused = 0; refused < 10; refused += 1) {
      expect(windows.refusal('a', limit, 0)).toBeNull()
      windows.count('a', limit, 0)
    }
    expect(windows.refusal('a', limit, 0)).toMatchObject({ kind: 'rate_limited', window: 'refusals' })
    expect(windows.refusal('b', limit, 0)).toBeNull()
    expect(windows.refusal('a', limit, 1_000)).toBeNull()
  })

  test('forgets the key that was refused longest ago, one past its bound', () => {
    const windows = new RefusalWindows(1)
    for (let refused = 0; refused < 10; refused += 1) windows.count('a', limit, 0)
    windows.count('b', limit, 0)
    expect(windows.refusal('a', limit, 0)).toBeNull()
  })

  test('begins anew when the length of the window changes', () => {
    const windows = new RefusalWindows()
    for (let refused = 0; refused < 10; refused += 1) windows.count('a', limit, 0)
    expect(windows.refusal('a', { readings: 1, windowMs: 2_000 }, 0)).toBeNull()
  })
})

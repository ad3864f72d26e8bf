import { describe, expect, test } from 'bun:test'
import { LastRefusals } from '../../../src/http/ingest/last-refusals.ts'

describe('LastRefusals', () => {
  test('remembers the last refusal of each key', () => {
    const refusals = new LastRefusals(2)
    expect(refusals.of('a')).toBeNull()
    refusals.note('a', { atMs: 1, code: 'MALFORMED_JSON', isCost: false })
    refusals.note('a', { atMs: 2, code: 'KEY_REVOKED', isCost: false })
    expect(refusals.of('a')).toEqual({ atMs: 2, code: 'KEY_REVOKED', isCost: false, cause: null })
  })

  test('forgets the key refused longest ago, one past the bound', () => {
    const refusals = new LastRefusals(2)
    for (const [atMs, keyId] of ['a', 'b', 'a', 'c'].entries())
      refusals.note(keyId, { atMs, code: 'RATE_LIMITED', isCost: false })
    expect(refusals.of('a')).not.toBeNull()
    expect(refusals.of('b')).toBeNull()
    expect(refusals.of('c')).not.toBeNull()
  })

  test('keeps the refusal from before the budget was empty', () => {
    const refusals = new LastRefusals()
    const empty = { code: 'RATE_LIMITED', isCost: true }
    refusals.note('b', { atMs: 1, ...empty })
    expect(refusals.of('b')?.cause).toBeNull()
    refusals.note('a', { atMs: 1, code: 'MALFORMED_JSON', isCost: false })
    for (const atMs of [2, 3]) {
      refusals.note('a', { atMs, ...empty })
      expect(refusals.of('a')).toEqual({ atMs, ...empty, cause: 'MALFORMED_JSON' })
    }
    refusals.note('a', { atMs: 4, code: 'RATE_LIMITED', isCost: false })
    expect(refusals.of('a')?.cause).toBeNull()
  })
})

import { describe, expect, test } from 'bun:test'
import { type AuditEvent, historyOf, stateAt } from '../../projections/audit-trail.ts'
import type { By, RecordedEvent } from '../../src/domain/events.ts'
import type { KeyStatus } from '../../src/domain/key-refusal.ts'
import { type Draft, Recorder } from '../support/recorder.ts'

const noon = Date.UTC(2026, 2, 1, 12)
const second = 1_000
const ada: By = { kind: 'operator', email: 'ada@example.org' }
const limit = { readings: 9, windowMs: second }

const created: Draft = {
  type: 'KeyCreated',
  data: {
    keyId: 'k1',
    cellar: 'c',
    label: 'Key 1',
    note: '',
    secretHash: 'h',
    limit: null,
    expiresAt: noon + 50 * second,
    predecessorId: null,
  },
}

/** Records who did what, and when, in seconds after noon. */
const life = (...steps: readonly [seconds: number, draft: Draft, by?: By][]): readonly AuditEvent[] => {
  const recorder = new Recorder(noon)
  for (const [seconds, draft, by] of steps) {
    const stream = draft.type.startsWith('Readings') ? 'readings-k1' : 'key-k1'
    recorder.record(stream, draft, { at: noon + seconds * second, by: by ?? ada })
  }
  return recorder.events.filter(isAudit)
}

const isAudit = (event: RecordedEvent): event is AuditEvent => /^(Key|Readings)/.test(event.type)

const wholeLife = life(
  [0, created],
  [1, { type: 'KeyRelabelled', data: { label: 'Pump', note: 'in the yard' } }],
  [2, { type: 'KeyLimitChanged', data: { limit } }],
  [10, { type: 'KeySuspended', data: { reason: 'lost' } }],
  [10, { type: 'ReadingsFenced', data: { keyRevision: 3 } }],
  [20, { type: 'KeyResumed', data: { reason: '' } }, { kind: 'cli' }],
  [60, { type: 'KeyExpired', data: { expiresAt: noon + 50 * second } }, { kind: 'system' }],
  [70, { type: 'KeyExpirySet', data: { expiresAt: null } }],
  [80, { type: 'ReadingsSealed', data: { reason: 'stolen' } }],
  [81, { type: 'KeyRevoked', data: { reason: 'stolen', sealId: 'event-9' } }],
)

const keyThen = (events: readonly AuditEvent[], atMs: number) => {
  const then = stateAt(events, atMs, noon + 1_000_000 * second)
  if (!then.ok) throw new Error(then.refusal.rule)
  return then.value
}

const stateThen = (events: readonly AuditEvent[], atMs: number) => {
  const { status, reason } = keyThen(events, atMs)
  return { status, reason }
}

const at = (seconds: number) => stateThen(wholeLife, noon + seconds * second)

describe('historyOf()', () => {
  test('shows the old and the new value of each change', () => {
    expect(historyOf(wholeLife).map(({ event, changes }) => [event.type, changes])).toEqual([
      [
        'KeyCreated',
        [
          { field: 'cellar', to: 'c' },
          { field: 'label', to: 'Key 1' },
          { field: 'limit', to: null },
          { field: 'expiresAt', to: noon + 50 * second },
        ],
      ],
      [
        'KeyRelabelled',
        [
          { field: 'label', from: 'Key 1', to: 'Pump' },
          { field: 'note', to: 'in the yard' },
        ],
      ],
      ['KeyLimitChanged', [{ field: 'limit', from: null, to: limit }]],
      ['KeySuspended', [{ field: 'reason', to: 'lost' }]],
      ['ReadingsFenced', [{ field: 'keyRevision', to: 3 }]],
      ['KeyResumed', []],
      ['KeyExpired', [{ field: 'expiresAt', to: noon + 50 * second }]],
      ['KeyExpirySet', [{ field: 'expiresAt', from: noon + 50 * second, to: null }]],
      ['ReadingsSealed', [{ field: 'reason', to: 'stolen' }]],
      ['KeyRevoked', [{ field: 'reason', to: 'stolen' }]],
    ])
  })

  test('shows the state after each event', () => {
    expect(historyOf(wholeLife).map(({ event, after }) => `${event.type}: ${after.status}`)).toEqual([
      'KeyCreated: active',
      'KeyRelabelled: active',
      'KeyLimitChanged: active',
      'KeySuspended: suspended',
      'ReadingsFenced: suspended',
      'KeyResumed: active',
      'KeyExpired: expired',
      'KeyExpirySet: active',
      'ReadingsSealed: revoked',
      'KeyRevoked: revoked',
    ])
  })

  test('shows the successor of a rotation, its first use and the new expiry', () => {
    const overlapMs = 5 * second
    const end = (usedAt: number, expiresAt: number): Draft => ({
      type: 'KeySuperseded',
      data: { successorId: 'k2', usedAt: noon + usedAt * second, expiresAt: noon + expiresAt * second },
    })
    const rotated: Draft = { type: 'KeyRotated', data: { successorId: 'k2', overlapMs } }
    const history = historyOf(life([0, created], [1, rotated], [20, end(20, 25), { kind: 'system' }]))
    const used = { field: 'superseded', keyId: 'k2', usedAt: noon + 20 * second } as const
    expect(history.slice(1).map(({ changes }) => changes)).toEqual([
      [{ field: 'successor', keyId: 'k2', overlapMs }],
      [used, { field: 'expiresAt', from: noon + 50 * second, to: noon + 25 * second }],
    ])
    expect(history.at(-1)?.after.reason).toContain('expiry 2026-03-01T12:00:25.000Z')
    expect(historyOf(life([0, created], [1, rotated], [20, end(20, 50)])).at(-1)?.changes).toEqual([used])
    const follower: Draft =
      created.type === 'KeyCreated' ? { ...created, data: { ...created.data, predecessorId: 'k0' } } : created
    expect(historyOf(life([0, follower]))[0]?.changes.at(-1)).toEqual({ field: 'predecessor', keyId: 'k0' })
    const events = life([0, created], [1, rotated], [20, end(20, 25), { kind: 'system' }])
    expect(stateThen(events, noon + 26 * second)).toEqual({
      status: 'expired',
      reason:
        'expired since 2026-03-01T12:00:25.000Z; this expiry was set 2026-03-01T12:00:20.000Z by the service itself',
    })
  })

  test('has each event, and the key before and after it', () => {
    expect(historyOf(wholeLife).map(({ event }) => event)).toEqual([...wholeLife])
    const relabelled = historyOf(wholeLife)[1]
    expect([relabelled?.before?.label, relabelled?.after.key.label]).toEqual(['Key 1', 'Pump'])
    expect(historyOf(wholeLife)[0]?.before).toBeNull()
    expect(historyOf(wholeLife)[4]?.after).toMatchObject({
      status: 'suspended',
      reason: 'suspended since 2026-03-01T12:00:10.000Z by ada@example.org: lost',
    })
  })

  test('is in the order of the log', () => {
    expect(historyOf([...wholeLife].reverse())).toEqual(historyOf(wholeLife))
    expect(historyOf([])).toEqual([])
  })

  test('never shows the hash of the secret in its changes', () => {
    expect(JSON.stringify(historyOf(wholeLife).map(({ changes }) => changes))).not.toContain('secretHash')
  })

  test('throws for half a history', () => {
    expect(() => historyOf(wholeLife.slice(1))).toThrow('was never created')
    expect(() => historyOf(wholeLife.filter(({ stream }) => stream === 'readings-k1'))).toThrow('was never created')
  })
})

describe('stateAt()', () => {
  const answers: [seconds: number, status: KeyStatus | null, reason: string][] = [
    [-0.001, null, 'not created yet: created 2026-03-01T12:00:00.000Z by ada@example.org'],
    [0, 'active', 'active since 2026-03-01T12:00:00.000Z by ada@example.org; expiry 2026-03-01T12:00:50.000Z'],
    [9.999, 'active', 'active since 2026-03-01T12:00:00.000Z by ada@example.org; expiry 2026-03-01T12:00:50.000Z'],
    [10, 'suspended', 'suspended since 2026-03-01T12:00:10.000Z by ada@example.org: lost'],
    [19.999, 'suspended', 'suspended since 2026-03-01T12:00:10.000Z by ada@example.org: lost'],
    [20, 'active', 'active since 2026-03-01T12:00:20.000Z by the command line; expiry 2026-03-01T12:00:50.000Z'],
    [49.999, 'active', 'active since 2026-03-01T12:00:20.000Z by the command line; expiry 2026-03-01T12:00:50.000Z'],
    [
      50,
      'expired',
      'expired since 2026-03-01T12:00:50.000Z; this expiry was set 2026-03-01T12:00:00.000Z by ada@example.org',
    ],
    [
      69.999,
      'expired',
      'expired since 2026-03-01T12:00:50.000Z; this expiry was set 2026-03-01T12:00:00.000Z by ada@example.org',
    ],
    [70, 'active', 'active since 2026-03-01T12:01:10.000Z by ada@example.org; no expiry'],
    [79.999, 'active', 'active since 2026-03-01T12:01:10.000Z by ada@example.org; no expiry'],
    [80, 'revoked', 'revoked since 2026-03-01T12:01:20.000Z by ada@example.org: stolen'],
    [9_999, 'revoked', 'revoked since 2026-03-01T12:01:20.000Z by ada@example.org: stolen'],
  ]
  for (const [seconds, status, reason] of answers) {
    test(`answers ${status ?? 'not created yet'} ${seconds} s after noon, and why`, () => {
      expect(at(seconds)).toEqual({ status, reason })
    })
  }

  test('has the key as it was, and the event that decided', () => {
    const decided = (seconds: number) => keyThen(wholeLife, noon + seconds * second).decidedBy?.type
    expect([-1, 0, 10, 20, 50, 70, 80, 90].map(decided)).toEqual([
      'KeyCreated',
      'KeyCreated',
      'KeySuspended',
      'KeyResumed',
      'KeyCreated',
      'KeyExpirySet',
      'ReadingsSealed',
      'ReadingsSealed',
    ])
    expect(keyThen(wholeLife, noon).key).toMatchObject({ label: 'Key 1', limit: null })
    expect(keyThen(wholeLife, noon + 2 * second).key).toMatchObject({ label: 'Pump', limit })
    expect(keyThen(wholeLife, noon - 1).key).toBeNull()
    expect(keyThen([], noon)).toMatchObject({ key: null, decidedBy: null })
  })

  test('answers revoked before suspended before expired', () => {
    const suspendedPastExpiry = life([0, created], [1, { type: 'KeySuspended', data: { reason: '' } }])
    expect(stateThen(suspendedPastExpiry, noon + 55 * second).status).toBe('suspended')
    const revokedToo = life(
      [0, created],
      [1, { type: 'KeySuspended', data: { reason: '' } }],
      [2, { type: 'KeyRevoked', data: { reason: '', sealId: 's' } }, { kind: 'system' }],
    )
    expect(stateThen(revokedToo, noon + 55 * second)).toEqual({
      status: 'revoked',
      reason: 'revoked since 2026-03-01T12:00:02.000Z by the service itself',
    })
  })

  test('names the person who set the expiry last', () => {
    const events = life(
      [0, created],
      [3, { type: 'KeyExpirySet', data: { expiresAt: noon + 5 * second } }, { kind: 'cli' }],
    )
    expect(stateThen(events, noon + 5 * second).reason).toBe(
      'expired since 2026-03-01T12:00:05.000Z; this expiry was set 2026-03-01T12:00:03.000Z by the command line',
    )
    expect(stateThen(events, noon + 4 * second).reason).toContain('active since 2026-03-01T12:00:00.000Z')
  })

  test('refuses a future instant, and answers for the present', () => {
    const now = noon + 30 * second
    expect(stateAt(wholeLife, now, now)).toMatchObject({ ok: true, value: { status: 'active' } })
    expect(stateAt(wholeLife, now + 1, now)).toMatchObject({
      ok: false,
      refusal: { field: 'at', rule: expect.stringContaining('is in the future: it is now 2026-03-01T12:00:30.000Z') },
    })
  })

  test('says that there is no such key', () => {
    expect(stateThen([], noon)).toEqual({ status: null, reason: 'there is no such key' })
  })
})

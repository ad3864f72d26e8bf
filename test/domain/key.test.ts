import { describe, expect, test } from 'bun:test'
import type { By, Limit, RecordedEvent } from '../../src/domain/events.ts'
import {
  type DecidedKey,
  decideKey,
  evolveKey,
  type KeyCommand,
  type KeyEventType,
  type KeyState,
  sameLimit,
  takesAway,
} from '../../src/domain/key.ts'
import { type KeyStatus, keyStatus } from '../../src/domain/key-refusal.ts'

const now = Date.UTC(2026, 2, 1, 12)
const admin: By = { kind: 'operator', email: 'ada@example.org' }
const limit: Limit = { readings: 10, windowMs: 1_000 }

const record = (draft: DecidedKey, revision: number, recordedAt = now): RecordedEvent<KeyEventType> => ({
  ...draft,
  id: `event-${revision}`,
  stream: 'key-k1',
  revision,
  position: revision + 1,
  recordedAt,
  metadata: { by: admin, requestId: 'r', correlationId: 'r', causationId: 'r' },
})

const foldAll = (drafts: readonly DecidedKey[]): KeyState | null => {
  let key: KeyState | null = null
  for (const [revision, draft] of drafts.entries()) key = evolveKey(key, record(draft, revision))
  return key
}

const creation = { keyId: 'k1', cellar: 'c', label: 'l', note: 'n', secretHash: 'h', limit: null, predecessorId: null }
const created: DecidedKey = { type: 'KeyCreated', data: { ...creation, expiresAt: now + 1_000 } }
const createdExpiring: DecidedKey = { type: 'KeyCreated', data: { ...creation, expiresAt: now } }
const rotated = { type: 'KeyRotated', data: { successorId: 'k2', overlapMs: 500 } } as const
const superseded = { type: 'KeySuperseded', data: { successorId: 'k2', usedAt: now, expiresAt: now + 500 } } as const
const suspended: DecidedKey = { type: 'KeySuspended', data: { reason: 'lost' } }
const revoked: DecidedKey = { type: 'KeyRevoked', data: { reason: 'stolen', sealId: 's1' } }
const expired: DecidedKey = { type: 'KeyExpired', data: { expiresAt: now } }

const states = {
  unknown: [],
  active: [created],
  suspended: [created, suspended],
  expired: [createdExpiring],
  'expired, recorded': [createdExpiring, expired],
  'suspended and expired': [createdExpiring, suspended],
  rotated: [created, rotated],
  superseded: [created, rotated, superseded],
  revoked: [created, revoked],
  'suspended, then revoked': [created, suspended, revoked],
} satisfies Record<string, readonly DecidedKey[]>
type StateName = keyof typeof states

const commands = {
  CreateKey: { type: 'CreateKey', ...creation, expiresAt: now + 1 },
  RelabelKey: { type: 'RelabelKey', label: 'new', note: 'new' },
  SetKeyLimit: { type: 'SetKeyLimit', limit },
  SetKeyExpiry: { type: 'SetKeyExpiry', expiresAt: now + 5_000 },
  RotateKey: { type: 'RotateKey', successorId: 'k3', overlapMs: 3_600_000 },
  SupersedeKey: { type: 'SupersedeKey', successorId: 'k2', usedAt: now - 1, readingId: 'r1' },
  SuspendKey: { type: 'SuspendKey', reason: 'why' },
  ResumeKey: { type: 'ResumeKey', reason: 'found' },
  RecordKeyExpiry: { type: 'RecordKeyExpiry' },
  RevokeKey: { type: 'RevokeKey', reason: 'why', sealId: 's2' },
} satisfies { [K in KeyCommand['type']]: Extract<KeyCommand, { type: K }> }

const repeated = (times: number, what: string): readonly string[] => Array.from({ length: times }, () => what)

/**
 * Each list has one entry for each of `states`, in order: an event, a refusal, `-` for no event, or `bug` for a thrown error.
 */
const decisions: Record<KeyCommand['type'], readonly string[]> = {
  CreateKey: ['KeyCreated', ...repeated(9, 'bug')],
  RelabelKey: ['key_not_found', ...repeated(7, 'KeyRelabelled'), 'key_is_revoked', 'key_is_revoked'],
  SetKeyLimit: ['key_not_found', ...repeated(7, 'KeyLimitChanged'), 'key_is_revoked', 'key_is_revoked'],
  SetKeyExpiry: ['key_not_found', ...repeated(7, 'KeyExpirySet'), 'key_is_revoked', 'key_is_revoked'],
  RotateKey: [
    'key_not_found',
    'KeyRotated',
    'KeyRotated',
    'key_is_expired',
    'key_is_expired',
    'key_is_expired',
    'KeyRotated',
    'key_is_superseded',
    'key_is_revoked',
    'key_is_revoked',
  ],
  SupersedeKey: ['key_not_found', ...repeated(5, '-'), 'KeySuperseded', '-', 'key_is_revoked', 'key_is_revoked'],
  SuspendKey: [
    'key_not_found',
    'KeySuspended',
    '-',
    'KeySuspended',
    'KeySuspended',
    '-',
    'KeySuspended',
    'KeySuspended',
    'key_is_revoked',
    'key_is_revoked',
  ],
  ResumeKey: ['key_not_found', '-', 'KeyResumed', '-', '-', 'KeyResumed', '-', '-', 'key_is_revoked', 'key_is_revoked'],
  RecordKeyExpiry: [
    'key_not_found',
    '-',
    '-',
    'KeyExpired',
    '-',
    'KeyExpired',
    '-',
    '-',
    'key_is_revoked',
    'key_is_revoked',
  ],
  RevokeKey: ['key_not_found', ...repeated(7, 'KeyRevoked'), '-', '-'],
}

const verdict = (key: KeyState | null, command: KeyCommand): string => {
  try {
    const decision = decideKey(key, command, now)
    if (!decision.ok) return decision.refusal.kind
    return decision.value.map(({ type }) => type).join(', ') || '-'
  } catch {
    return 'bug'
  }
}

const stateNames: readonly StateName[] = [
  'unknown',
  'active',
  'suspended',
  'expired',
  'expired, recorded',
  'suspended and expired',
  'rotated',
  'superseded',
  'revoked',
  'suspended, then revoked',
]

describe('decideKey()', () => {
  for (const command of Object.values(commands)) {
    test(`answers ${command.type} in every state as the table says`, () => {
      const got = stateNames.map((name) => `${name}: ${verdict(foldAll(states[name]), command)}`)
      expect(got).toEqual(stateNames.map((name, index) => `${name}: ${decisions[command.type][index]}`))
    })
  }

  test('writes no event for a command that was folded already', () => {
    for (const name of stateNames.filter((one) => one !== 'unknown')) {
      for (const command of Object.values(commands).filter(({ type }) => type !== 'CreateKey')) {
        const decision = decideKey(foldAll(states[name]), command, now)
        if (!decision.ok) continue
        const after = foldAll([...states[name], ...decision.value])
        expect(`${name}, ${command.type}: ${verdict(after, command)}`).toBe(`${name}, ${command.type}: -`)
      }
    }
  })

  test('copies every field of a command into its event', () => {
    const key = foldAll(states.active)
    const events = [
      commands.RelabelKey,
      commands.SetKeyLimit,
      commands.SetKeyExpiry,
      commands.RotateKey,
      commands.SuspendKey,
      commands.RevokeKey,
    ].map((command) => {
      const decision = decideKey(key, command, now)
      return decision.ok ? decision.value : []
    })
    expect(events).toEqual([
      [{ type: 'KeyRelabelled', data: { label: 'new', note: 'new' } }],
      [{ type: 'KeyLimitChanged', data: { limit } }],
      [{ type: 'KeyExpirySet', data: { expiresAt: now + 5_000 } }],
      [{ type: 'KeyRotated', data: { successorId: 'k3', overlapMs: 3_600_000 } }],
      [{ type: 'KeySuspended', data: { reason: 'why' } }],
      [{ type: 'KeyRevoked', data: { reason: 'why', sealId: 's2' } }],
    ])
  })

  test('keeps a rotated key working from its successor’s first use, never past its own expiry', () => {
    const end = (expiresAt: number | null) => {
      const key = foldAll([created, { type: 'KeyExpirySet', data: { expiresAt } }, rotated])
      const decision = decideKey(key, { ...commands.SupersedeKey, usedAt: now }, now)
      return decision.ok ? decision.value.map(({ data }) => data) : decision.refusal
    }
    const ending = (expiresAt: number) => [{ successorId: 'k2', usedAt: now, expiresAt }]
    expect(end(null)).toEqual(ending(now + 500))
    expect(end(now + 501)).toEqual(ending(now + 500))
    expect(end(now + 499)).toEqual(ending(now + 499))
  })

  test('lets only the last successor end a key, and only once', () => {
    const again: DecidedKey = { type: 'KeyRotated', data: { successorId: 'k3', overlapMs: 0 } }
    const twice = [created, rotated, again]
    expect(verdict(foldAll(twice), commands.SupersedeKey)).toBe('-')
    expect(verdict(foldAll(twice), { ...commands.SupersedeKey, successorId: 'k3' })).toBe('KeySuperseded')
    const longer: DecidedKey = { type: 'KeyExpirySet', data: { expiresAt: null } }
    expect(verdict(foldAll([...states.superseded, longer]), commands.SupersedeKey)).toBe('-')
  })

  test('changes the overlap of a rotation until the successor is used', () => {
    const again = { ...commands.RotateKey, successorId: 'k2' }
    const other = decideKey(foldAll(states.rotated), again, now)
    expect(other).toEqual({
      ok: true,
      value: [{ type: 'KeyRotated', data: { successorId: 'k2', overlapMs: 3_600_000 } }],
    })
    expect(verdict(foldAll(states.rotated), { ...again, overlapMs: 500 })).toBe('-')
    expect(foldAll([created, rotated, ...(other.ok ? other.value : [])])?.rotation).toEqual({
      successorId: 'k2',
      overlapMs: 3_600_000,
      superseded: null,
    })
    const moreTime: DecidedKey = { type: 'KeyExpirySet', data: { expiresAt: null } }
    expect(verdict(foldAll([...states.superseded, moreTime]), again)).toBe('-')
  })

  test('rotates a superseded key again after an admin sets a later expiry', () => {
    const until = (expiresAt: number | null): string =>
      verdict(foldAll([...states.superseded, { type: 'KeyExpirySet', data: { expiresAt } }]), commands.RotateKey)
    expect([until(now + 499), until(now + 500)]).toEqual(['key_is_superseded', 'key_is_superseded'])
    expect([until(now + 501), until(null)]).toEqual(['KeyRotated', 'KeyRotated'])
  })

  test('refuses a key that expires now, and creates one that expires a millisecond later', () => {
    expect(verdict(null, { ...commands.CreateKey, expiresAt: now })).toBe('expiry_in_past')
    expect(verdict(null, { ...commands.CreateKey, expiresAt: now + 1 })).toBe('KeyCreated')
    expect(verdict(null, { ...commands.CreateKey, expiresAt: null })).toBe('KeyCreated')
  })

  test('leaves the type of the command out of the event', () => {
    const { type: _, ...data } = commands.CreateKey
    expect(decideKey(null, commands.CreateKey, now)).toEqual({ ok: true, value: [{ type: 'KeyCreated', data }] })
  })

  test('records an expiry once, and a later one again', () => {
    const later: DecidedKey = { type: 'KeyExpirySet', data: { expiresAt: now - 1 } }
    expect(verdict(foldAll([...states['expired, recorded'], later]), commands.RecordKeyExpiry)).toBe('KeyExpired')
  })
})

describe('keyStatus()', () => {
  const change = { at: 0, by: admin, reason: '' }
  const flags = [false, true]
  const table: [revoked: boolean, suspended: boolean, expired: boolean, status: KeyStatus][] = [
    [false, false, false, 'active'],
    [false, false, true, 'expired'],
    [false, true, false, 'suspended'],
    [false, true, true, 'suspended'],
    [true, false, false, 'revoked'],
    [true, false, true, 'revoked'],
    [true, true, false, 'revoked'],
    [true, true, true, 'revoked'],
  ]

  test('says revoked before suspended before expired before active, in every combination', () => {
    const active = evolveKey(null, record(created, 0))
    const got = flags.flatMap((isRevoked) =>
      flags.flatMap((isSuspended) =>
        flags.map((isExpired) => {
          const key: KeyState = {
            ...active,
            revoked: isRevoked ? change : null,
            suspended: isSuspended ? change : null,
            expiresAt: isExpired ? now : now + 1,
          }
          return [isRevoked, isSuspended, isExpired, keyStatus(key, now)]
        }),
      ),
    )
    expect(got).toEqual(table)
  })

  test('is expired from the millisecond of the expiry on', () => {
    const key = evolveKey(null, record(createdExpiring, 0))
    expect(keyStatus(key, now - 1)).toBe('active')
    expect(keyStatus(key, now)).toBe('expired')
    expect(keyStatus({ ...key, expiresAt: null }, Number.MAX_SAFE_INTEGER)).toBe('active')
  })

  test('is active again after a later expiry, even after KeyExpired', () => {
    const revived = foldAll([createdExpiring, expired, { type: 'KeyExpirySet', data: { expiresAt: now + 1 } }])
    expect(revived && keyStatus(revived, now)).toBe('active')
  })
})

describe('evolveKey()', () => {
  test('keeps who suspended and revoked the key, when and why', () => {
    const key = foldAll([created, suspended, revoked])
    expect(key?.created).toEqual({ at: now, by: admin, reason: '' })
    expect(key?.suspended).toEqual({ at: now, by: admin, reason: 'lost' })
    expect(key?.revoked).toEqual({ at: now, by: admin, reason: 'stolen' })
    expect(key?.revision).toBe(2)
  })

  test('changes only what the event names', () => {
    const before = evolveKey(null, record(created, 0))
    expect(foldAll([created, suspended, { type: 'KeyResumed', data: { reason: '' } }])).toEqual({
      ...before,
      revision: 2,
    })
    const changes: [DecidedKey, Partial<KeyState>][] = [
      [
        { type: 'KeyRelabelled', data: { label: 'x', note: 'y' } },
        { label: 'x', note: 'y' },
      ],
      [{ type: 'KeyLimitChanged', data: { limit } }, { limit }],
      [{ type: 'KeyExpirySet', data: { expiresAt: null } }, { expiresAt: null }],
      [rotated, { rotation: { successorId: 'k2', overlapMs: 500, superseded: null } }],
      [expired, { expiryRecorded: now }],
    ]
    for (const [draft, change] of changes) {
      expect(foldAll([created, draft])).toEqual({ ...before, ...change, revision: 1 })
    }
  })

  test('throws for a change of a key that was never created', () => {
    expect(() => evolveKey(null, record(suspended, 0))).toThrow('Cannot fold KeySuspended of "key-k1"')
  })
})

describe('takesAway()', () => {
  const key = evolveKey(null, record(created, 0))
  const effective: Limit = { readings: 10, windowMs: 1_000 }
  const cellarLimit: Limit = { readings: 5, windowMs: 1_000 }
  const table: [title: string, event: DecidedKey, taken: boolean][] = [
    ['a suspension', suspended, true],
    ['an earlier expiry', { type: 'KeyExpirySet', data: { expiresAt: now + 999 } }, true],
    ['the same expiry', { type: 'KeyExpirySet', data: { expiresAt: now + 1_000 } }, false],
    ['a later expiry', { type: 'KeyExpirySet', data: { expiresAt: now + 1_001 } }, false],
    ['no expiry any more', { type: 'KeyExpirySet', data: { expiresAt: null } }, false],
    ['fewer readings', { type: 'KeyLimitChanged', data: { limit: { readings: 9, windowMs: 1_000 } } }, true],
    ['more readings', { type: 'KeyLimitChanged', data: { limit: { readings: 11, windowMs: 1_000 } } }, false],
    ['a longer window', { type: 'KeyLimitChanged', data: { limit: { readings: 10, windowMs: 1_001 } } }, true],
    ['a shorter window', { type: 'KeyLimitChanged', data: { limit: { readings: 10, windowMs: 999 } } }, false],
    ['more in a longer one', { type: 'KeyLimitChanged', data: { limit: { readings: 99, windowMs: 1_001 } } }, true],
    ['the lower limit of the cellar', { type: 'KeyLimitChanged', data: { limit: null } }, true],
    ['a new label', { type: 'KeyRelabelled', data: { label: '', note: '' } }, false],
    ['the end of a rotation', { ...superseded, data: { ...superseded.data, expiresAt: now + 999 } }, true],
    [
      'the end of one whose key ends no later',
      { ...superseded, data: { ...superseded.data, expiresAt: now + 1_000 } },
      false,
    ],
    ['a rotation', rotated, false],
    ['a resumption', { type: 'KeyResumed', data: { reason: '' } }, false],
    ['a recorded expiry', expired, false],
    ['a revocation, which a seal stands for', revoked, false],
    ['a creation', created, false],
  ]
  for (const [title, event, taken] of table) {
    test(`${taken ? 'asks for a fence after' : 'asks for no fence after'} ${title}`, () => {
      expect(takesAway(event, key, effective, cellarLimit)).toBe(taken)
    })
  }

  test('asks for a fence after a first expiry', () => {
    const event: DecidedKey = { type: 'KeyExpirySet', data: { expiresAt: now + 999_999 } }
    expect(takesAway(event, { ...key, expiresAt: null }, effective, cellarLimit)).toBe(true)
  })
})

describe('sameLimit()', () => {
  test('compares by value, and null only with null', () => {
    expect(sameLimit(limit, { ...limit })).toBe(true)
    expect(sameLimit(limit, { ...limit, readings: 11 })).toBe(false)
    expect(sameLimit(limit, { ...limit, windowMs: 1_001 })).toBe(false)
    expect(sameLimit(null, null)).toBe(true)
    expect(sameLimit(null, limit)).toBe(false)
    expect(sameLimit(limit, null)).toBe(false)
  })
})

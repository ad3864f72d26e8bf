import { describe, expect, test } from 'bun:test'
import {
  type CellarCommand,
  type CellarEventType,
  type CellarState,
  type DecidedCellar,
  decideCellar,
  evolveCellar,
  noPolicy,
  unitOf,
  unitsPerCellarMax,
} from '../../src/domain/cellar.ts'
import type { CellarPolicy, RecordedEvent } from '../../src/domain/events.ts'

const at = Date.UTC(2026, 2, 1, 12)
const policy: CellarPolicy = {
  limit: { readings: 1, windowMs: 1_000 },
  readingAgeMsMax: null,
  readingAheadMsMax: 5,
  retentionMs: null,
}

const record = (draft: DecidedCellar, revision: number): RecordedEvent<CellarEventType> => ({
  ...draft,
  id: `event-${revision}`,
  stream: 'cellar-x',
  revision,
  position: revision + 1,
  recordedAt: at + revision,
  metadata: { by: { kind: 'cli' }, requestId: 'r', correlationId: 'r', causationId: 'r' },
})

const foldAll = (drafts: readonly DecidedCellar[]): CellarState | null => {
  let cellar: CellarState | null = null
  for (const [revision, draft] of drafts.entries()) cellar = evolveCellar(cellar, record(draft, revision))
  return cellar
}

const created: DecidedCellar = { type: 'CellarCreated', data: { cellar: 'c', title: 'C' } }
const policyChanged: DecidedCellar = { type: 'CellarPolicyChanged', data: { policy } }

const rename = (title: string): CellarCommand => ({ type: 'RenameCellar', title })
const change = (next: CellarPolicy): CellarCommand => ({ type: 'ChangeCellarPolicy', changes: next })

describe('decideCellar()', () => {
  const table: [given: string, history: readonly DecidedCellar[], command: CellarCommand, then: string][] = [
    ['none', [], { type: 'CreateCellar', cellar: 'c', title: 'C' }, 'CellarCreated'],
    ['one', [created], { type: 'CreateCellar', cellar: 'c', title: 'other' }, 'cellar_exists'],
    ['none', [], rename('x'), 'cellar_not_found'],
    ['one', [created], rename('x'), 'CellarRenamed'],
    ['one of that title', [created], rename('C'), '-'],
    ['none', [], change(policy), 'cellar_not_found'],
    ['one', [created], change(policy), 'CellarPolicyChanged'],
    ['one without a policy', [created], change({ ...noPolicy }), '-'],
    ['one with that policy', [created, policyChanged], change({ ...policy }), '-'],
    ['one with a policy', [created, policyChanged], change(noPolicy), 'CellarPolicyChanged'],
  ]
  for (const [given, history, command, then] of table) {
    test(`given ${given}, ${command.type} leads to ${then}`, () => {
      const decision = decideCellar(foldAll(history), command)
      expect(decision.ok ? decision.value.map(({ type }) => type).join() || '-' : decision.refusal.kind).toBe(then)
    })
  }

  test('keeps policy fields that a change does not name', () => {
    const decision = decideCellar(foldAll([created, policyChanged]), {
      type: 'ChangeCellarPolicy',
      changes: { retentionMs: 86_400_000 },
    })
    expect(decision).toMatchObject({ ok: true, value: [{ data: { policy: { ...policy, retentionMs: 86_400_000 } } }] })
  })

  test('writes no event for the same policy, whatever the order of its fields', () => {
    const reordered: CellarPolicy = {
      readingAheadMsMax: 5,
      retentionMs: null,
      limit: { windowMs: 1_000, readings: 1 },
      readingAgeMsMax: null,
    }
    expect(decideCellar(foldAll([created, policyChanged]), change(reordered))).toEqual({ ok: true, value: [] })
  })
})

describe('a unit', () => {
  const set = (unit: string, keg = 'temperature'): CellarCommand => ({ type: 'SetUnit', keg, unit })
  const unitSet = (unit: string, keg = 'temperature'): DecidedCellar => ({ type: 'CellarUnitSet', data: { keg, unit } })

  test('is set, changed and removed, each by one event', () => {
    for (const [given, unit] of [
      [[], '°C'],
      [[unitSet('°C')], '°F'],
      [[unitSet('°C')], ''],
    ] as const)
      expect(decideCellar(foldAll([created, ...given]), set(unit))).toEqual({ ok: true, value: [unitSet(unit)] })
  })

  test('appends nothing if kegs of this name have it already', () => {
    expect(decideCellar(foldAll([created, unitSet('°C')]), set('°C'))).toEqual({ ok: true, value: [] })
    expect(decideCellar(foldAll([created]), set(''))).toEqual({ ok: true, value: [] })
    expect(decideCellar(foldAll([created, unitSet('°C'), unitSet('')]), set(''))).toEqual({ ok: true, value: [] })
  })

  test('is refused in a cellar that has the maximum, but others can still change', () => {
    const full = Array.from({ length: unitsPerCellarMax }, (_, at) => unitSet('bar', `keg ${at}`))
    const refusal = { kind: 'too_many_units', unitsMax: unitsPerCellarMax } as const
    expect(decideCellar(foldAll([created, ...full.slice(1)]), set('°C'))).toMatchObject({ ok: true })
    expect(decideCellar(foldAll([created, ...full]), set('°C'))).toEqual({ ok: false, refusal })
    expect(decideCellar(foldAll([created, ...full]), set('hPa', 'keg 0'))).toMatchObject({ ok: true })
    expect(decideCellar(foldAll([created, ...full, unitSet('', 'keg 0')]), set('°C'))).toMatchObject({ ok: true })
  })

  test('belongs to one name, even to one like a property', () => {
    const cellar = foldAll([created, unitSet('°C'), unitSet('bar', '__proto__')])
    if (cellar === null) throw new Error('no cellar')
    const names = ['temperature', 'Temperature', '__proto__', 'constructor']
    expect(names.map((keg) => unitOf(cellar, keg))).toEqual(['°C', null, 'bar', null])
  })
})

describe('a purge', () => {
  const retentionMs = 86_400_000
  const purge = { keyId: 'k', firstRevision: 3, lastRevision: 7, readings: 4, lastAcceptedAt: at - 1 }
  const command: CellarCommand = { type: 'PurgeReadings', purges: [purge, purge], acceptedBefore: at, retentionMs }
  const kept = (ms: number | null): DecidedCellar => ({
    type: 'CellarPolicyChanged',
    data: { policy: { ...noPolicy, retentionMs: ms } },
  })

  test('writes one event for each key', () => {
    const cellar = foldAll([created, kept(retentionMs)])
    const purged = { type: 'ReadingsPurged' as const, data: { cellar: 'c', acceptedBefore: at, ...purge } }
    expect(decideCellar(cellar, command)).toEqual({ ok: true, value: [purged, purged] })
    expect(evolveCellar(cellar, record(purged, 2))).toMatchObject({ title: 'C', revision: 2 })
  })

  test('writes no event if the retention has changed', () => {
    for (const ms of [null, 2 * retentionMs]) {
      expect(decideCellar(foldAll([created, kept(retentionMs), kept(ms)]), command)).toEqual({ ok: true, value: [] })
    }
    expect(decideCellar(foldAll([]), command)).toEqual({ ok: false, refusal: { kind: 'cellar_not_found' } })
  })
})

describe('a policy', () => {
  for (const other of [
    { ...policy, limit: null },
    { ...policy, limit: { readings: 2, windowMs: 1_000 } },
    { ...policy, readingAgeMsMax: 0 },
    { ...policy, readingAheadMsMax: 6 },
    { ...policy, retentionMs: 86_400_000 },
  ]) {
    test(`differs if one field differs: ${JSON.stringify(other)}`, () => {
      expect(decideCellar(foldAll([created, policyChanged]), change(other))).toEqual({
        ok: true,
        value: [{ type: 'CellarPolicyChanged', data: { policy: other } }],
      })
    })
  }
})

describe('evolveCellar()', () => {
  test('keeps the identifier, the creator and the time', () => {
    expect(foldAll([created, { type: 'CellarRenamed', data: { title: 'New' } }, policyChanged])).toEqual({
      cellar: 'c',
      title: 'New',
      policy,
      units: new Map(),
      silence: [],
      createdAt: at,
      createdBy: { kind: 'cli' },
      revision: 2,
    })
  })

  test('throws for a change of a cellar that was never created', () => {
    expect(() => evolveCellar(null, record(policyChanged, 0))).toThrow('Cannot fold CellarPolicyChanged of "cellar-x"')
  })
})

import { describe, expect, test } from 'bun:test'
import { eventTypes, type NewEvent, type RecordedEvent } from '../../../src/domain/events.ts'
import {
  anyEvent,
  keyOfEvent,
  kindOf,
  type LogFilter,
  matches,
  parseActor,
} from '../../../src/domain/search/event-filter.ts'
import { nothingBefore, stateAfter } from '../../../src/domain/search/state-before.ts'
import {
  categories,
  cellarStream,
  keyStream,
  nodeRefusalsStream,
  readingsStream,
  refusalsStream,
} from '../../../src/domain/stream-names.ts'
import { cellarRenamed, keySuspended, reading } from '../../support/logs/sample-events.ts'

const recorded = <E extends NewEvent>(event: E, stream: string) => ({ ...event, stream, revision: 0, position: 1 })

const purged = (cellar: string, keyId: string): RecordedEvent<'ReadingsPurged'> => ({
  ...recorded(keySuspended(), cellarStream(cellar)),
  type: 'ReadingsPurged',
  data: { cellar, keyId, firstRevision: 0, lastRevision: 1, readings: 2, acceptedBefore: 0, lastAcceptedAt: 0 },
})

const keyId = '7Qp2mZ4k'
const suspended = recorded(keySuspended(), keyStream(keyId))
const accepted = recorded(reading(readingsStream(keyId), { cellar: 'wine' }), readingsStream(keyId))
const renamed = recorded(cellarRenamed('x'), cellarStream('wine'))

test('stateAfter() a purge leaves the states as they were, without a cellar', () => {
  expect(stateAfter(nothingBefore, purged('wine', keyId))).toBe(nothingBefore)
})

describe('kindOf()', () => {
  test('gives every category a kind', () => {
    const kinds = categories.map((category) => kindOf({ stream: `${category}-x`, type: 'KeySuspended' }))
    expect(Object.fromEntries(categories.map((category, index) => [category, kinds[index]]))).toEqual({
      cellarbook: 'log',
      cellar: 'cellars',
      key: 'keys',
      operator: 'operators',
      readings: 'readings',
      refusals: 'refusals',
      signins: 'operators',
      exports: 'log',
      attention: 'attention',
      proofs: 'log',
    })
  })

  test('counts only seals and fences among the readings as events of keys', () => {
    const types = eventTypes.filter((type) => kindOf({ stream: 'readings-x', type }) === 'keys')
    expect(types).toEqual(['ReadingsSealed', 'ReadingsFenced'])
  })
})

describe('keyOfEvent()', () => {
  test('finds the key in the stream, or in a purge', () => {
    const keys = [suspended, accepted, purged('wine', keyId), renamed].map(keyOfEvent)
    expect(keys).toEqual([keyId, keyId, keyId, null])
    expect(keyOfEvent({ ...suspended, stream: refusalsStream(keyId) })).toBe(keyId)
    expect(keyOfEvent({ ...suspended, stream: nodeRefusalsStream })).toBeNull()
    expect(keyOfEvent({ ...suspended, stream: `operator-${keyId}` })).toBeNull()
  })
})

describe('matches()', () => {
  const key = { ...anyEvent, recordedAt: 2_000, kind: 'keys', type: 'KeyRevoked', key: keyId, cellar: 'wine' }
  const summary = { ...anyEvent, recordedAt: 9_000, firstAt: 1_000, lastAt: 2_000 }
  const isIn = (event: Parameters<typeof matches<string>>[0], part: Partial<LogFilter>) =>
    matches<string>(event, { ...anyEvent, ...part })

  const parts = (...all: readonly Partial<LogFilter>[]) => all

  test('compares each field, and wants any value of a field that is not set', () => {
    expect(parts({}, { kind: 'keys' }, { key: keyId, cellar: 'wine' }).map((part) => isIn(key, part))).toEqual([
      true,
      true,
      true,
    ])
    expect(
      parts({ kind: 'log' }, { key: keyId, cellar: 'beer' }, { actor: 'cli' }).map((part) => isIn(key, part)),
    ).toEqual([false, false, false])
  })

  test.each([
    [{ since: 2_000 }, true],
    [{ since: 2_001 }, false],
    [{ until: 2_001 }, true],
    [{ until: 2_000 }, false],
  ])('wants an event from the beginning on, and before the end: %j', (part, isWanted) => {
    expect(isIn(key, part)).toBe(isWanted)
  })

  test.each([
    [{ since: 1_200, until: 1_300 }, true],
    [{ since: 2_000 }, true],
    [{ since: 2_001, until: 9_500 }, false],
    [{ until: 1_001 }, true],
    [{ until: 1_000 }, false],
  ])('wants a summary if its period overlaps the time, whenever it was recorded: %j', (part, isWanted) => {
    expect(isIn(summary, part)).toBe(isWanted)
  })
})

describe('parseActor()', () => {
  test.each([
    ['cli', 'cli'],
    ['system', 'system'],
    [' Ada@Example.org', 'ada@example.org'],
    ['clr_7Qp2mZ4k', 'clr_7Qp2mZ4k'],
    ['clr_7Qp2mZ4k_…', 'clr_7Qp2mZ4k'],
  ] as const)('reads %p', (text, actor) => {
    expect(parseActor(text)).toEqual({ ok: true, value: actor })
  })

  test.each(['', 'ada', '7Qp2mZ4k', 'clr_7Qp2', 'clr_7Qp2mZ4k_secret', 'everyone'])('refuses %p', (text) => {
    expect(parseActor(text).ok).toBe(false)
  })
})

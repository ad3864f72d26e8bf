import { describe, expect, test } from 'bun:test'
import { eventData, type NewEvent, type RecordedEvent } from '../../../src/domain/events.ts'
import { isBy, isOfCellar, keyOfEvent, kindOf, parseActor } from '../../../src/domain/search/event-filter.ts'
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
      proofs: 'log',
    })
  })

  test('counts only seals and fences among the readings as events of keys', () => {
    const types = Object.keys(eventData).filter(
      (type) => kindOf({ stream: 'readings-x', type: typeNamed(type) }) === 'keys',
    )
    expect(types).toEqual(['ReadingsSealed', 'ReadingsFenced'])
  })
})

const typeNamed = (name: string): RecordedEvent['type'] => {
  const found = Object.keys(eventData).find((type): type is RecordedEvent['type'] => type === name)
  if (found === undefined) throw new Error(name)
  return found
}

describe('keyOfEvent()', () => {
  test('finds the key in the stream, or in a purge', () => {
    const keys = [suspended, accepted, purged('wine', keyId), renamed].map(keyOfEvent)
    expect(keys).toEqual([keyId, keyId, keyId, null])
    expect(keyOfEvent({ ...suspended, stream: refusalsStream(keyId) })).toBe(keyId)
    expect(keyOfEvent({ ...suspended, stream: nodeRefusalsStream })).toBeNull()
    expect(keyOfEvent({ ...suspended, stream: `operator-${keyId}` })).toBeNull()
  })
})

describe('isOfCellar()', () => {
  test('knows the cellar of readings and of changes of cellars', () => {
    expect(['wine', 'beer'].map((cellar) => isOfCellar(accepted, cellar))).toEqual([true, false])
    expect(['wine', 'beer'].map((cellar) => isOfCellar(renamed, cellar))).toEqual([true, false])
    expect(['wine', 'beer'].map((cellar) => isOfCellar(purged('wine', keyId), cellar))).toEqual([true, false])
  })

  test('asks for the key of a change, and knows that others have no cellar', () => {
    expect(isOfCellar(suspended, 'wine')).toBe('ask_key')
    expect(isOfCellar({ ...suspended, stream: 'cellarbook-log' }, 'wine')).toBe(false)
    expect(isOfCellar({ ...suspended, stream: 'operator-x' }, 'wine')).toBe(false)
  })
})

describe('parseActor()', () => {
  test.each([
    ['cli', { kind: 'cli' }],
    ['system', { kind: 'system' }],
    [' Ada@Example.org', { kind: 'operator', email: 'ada@example.org' }],
    ['clr_7Qp2mZ4k', { kind: 'key', keyId }],
    ['clr_7Qp2mZ4k_…', { kind: 'key', keyId }],
  ] as const)('reads %p', (text, actor) => {
    expect(parseActor(text)).toEqual({ ok: true, value: actor })
  })

  test.each(['', 'ada', '7Qp2mZ4k', 'clr_7Qp2', 'clr_7Qp2mZ4k_secret', 'everyone'])('refuses %p', (text) => {
    expect(parseActor(text).ok).toBe(false)
  })
})

test('isBy() compares who asked, whatever the session', () => {
  const session = { id: 's', linkMadeBy: null }
  const all = [
    { kind: 'operator', email: 'ada@example.org', session },
    { kind: 'operator', email: 'bob@example.org' },
    { kind: 'key', keyId },
    { kind: 'key', keyId: '00000000' },
    { kind: 'cli' },
    { kind: 'system' },
  ] as const
  const by = (actor: Parameters<typeof isBy>[1]) => all.filter((one) => isBy(one, actor))
  expect(by({ kind: 'operator', email: 'ada@example.org' })).toEqual([all[0]])
  expect(by({ kind: 'key', keyId })).toEqual([all[2]])
  expect(by({ kind: 'cli' })).toEqual([all[4]])
  expect(by({ kind: 'system' })).toEqual([all[5]])
})

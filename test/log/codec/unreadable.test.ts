import { describe, expect, test } from 'bun:test'
import { recordCategories } from '../../../src/domain/stream-names.ts'
import { createCodec, type StoredRow } from '../../../src/log/codec/codec.ts'
import { unreadableTypeCharsMax, unreadableWhyCharsMax } from '../../../src/log/codec/unreadable.ts'
import { UndecodableEvent } from '../../../src/log/event-log.ts'
import { assertStorable, recordedAtMax } from '../../../src/log/storable.ts'
import { keySuspended, recordsPurged, startMs } from '../../support/logs/sample-events.ts'

const codec = createCodec()
const place = { stream: 'signins-node', revision: 5, position: 90, count: 1, recordedAt: startMs }
const stored = (fields: object = {}): object => ({ ...recordsPurged(), schemaVersion: 1, ...fields })
const rowOf = (...events: readonly unknown[]): StoredRow => ({
  ...place,
  count: events.length,
  body: JSON.stringify(events),
})

const unreadable = [
  ['an unknown type', rowOf(stored({ type: 'Never' })), { type: 'Never', why: 'this version does not know its type' }],
  ['a newer version', rowOf(stored({ schemaVersion: 9 })), { type: 'RecordsPurged' }],
  ['other metadata', rowOf(stored({ metadata: { by: { kind: 'moon' } } })), { type: 'RecordsPurged' }],
  ['other data', rowOf(stored({ data: 7 })), { type: 'RecordsPurged' }],
  ['a time after 9999', rowOf(stored({ recordedAt: recordedAtMax + 1 })), { type: 'RecordsPurged' }],
  ['no object', rowOf(7), { type: '(unknown)' }],
  ['no JSON', { ...place, body: '{"' }, { type: '(unknown)', why: 'its row is not JSON' }],
  ['another number of events', { ...rowOf(), count: 1 }, { type: '(unknown)' }],
  ['bytes that are no readings', { ...place, body: new Uint8Array([9, 9]) }, { type: 'ReadingAccepted' }],
] as const

describe('an unreadable record', () => {
  test.each([...unreadable])('is read as RecordUnreadable: %s', (_, row, data) => {
    expect(codec.decode(row)).toMatchObject([
      { type: 'RecordUnreadable', stream: 'signins-node', revision: 5, position: 90, data },
    ])
  })

  test.each([...unreadable])('throws UndecodableEvent in other streams: %s', (_, row) => {
    for (const stream of ['key-one', 'cellarbook-log', 'operator-one', 'readings-one']) {
      expect(() => codec.decode({ ...row, stream })).toThrow(UndecodableEvent)
    }
  })

  test('is read as RecordUnreadable in every category', () => {
    for (const category of recordCategories) {
      const events = codec.decode({ ...rowOf(stored({ type: 'Never' })), stream: `${category}-log` })
      expect(events).toMatchObject([{ type: 'RecordUnreadable' }])
    }
  })

  test('keeps a readable id and time, and hides no other', () => {
    const events = codec.decode(rowOf(stored(), stored({ id: 'one', type: 'Never', recordedAt: 7 }), stored()))
    expect(events.map(({ type, revision }) => [type, revision])).toEqual([
      ['RecordsPurged', 5],
      ['RecordUnreadable', 6],
      ['RecordsPurged', 7],
    ])
    expect(events[1]).toMatchObject({ id: 'one', recordedAt: 7 })
  })

  test('has a time that can be written, whatever is stored', () => {
    const timeOf = (recordedAt: number) => codec.decode(rowOf(stored({ type: 'Never', recordedAt })))[0]?.recordedAt
    expect([recordedAtMax, recordedAtMax + 1, 8.64e15 + 1].map(timeOf)).toEqual([recordedAtMax, 0, 0])
    expect(codec.decode(rowOf(stored({ recordedAt: recordedAtMax })))[0]?.type).toBe('RecordsPurged')
  })

  test('takes the positions of all events of an unreadable row', () => {
    const row = { ...place, count: 3, body: 'no JSON' }
    expect(codec.decode(row).map(({ revision, position }) => [revision, position])).toEqual([
      [5, 90],
      [6, 91],
      [7, 92],
    ])
    expect(codec.decode(row, { first: 1, end: 2 })).toMatchObject([{ revision: 6, recordedAt: startMs }])
  })

  test('gives its type and reason up to their limits', () => {
    const at = (chars: number) => codec.decode(rowOf(stored({ type: 'x'.repeat(chars) })))[0]?.data
    expect(at(unreadableTypeCharsMax)).toMatchObject({ type: 'x'.repeat(unreadableTypeCharsMax) })
    expect(at(unreadableTypeCharsMax + 1)).toMatchObject({ type: 'x'.repeat(unreadableTypeCharsMax) })
    const newer = codec.decode(rowOf(stored({ data: { ['y'.repeat(unreadableWhyCharsMax + 1)]: 1 } })))
    expect(JSON.stringify(newer[0]?.data).length).toBeLessThan(2 * unreadableWhyCharsMax)
  })

  test('is never stored as RecordUnreadable', () => {
    const data = { type: 'Never', why: '' }
    const event = { ...keySuspended(), type: 'RecordUnreadable', data } as const
    expect(() => assertStorable('signins-node', [event])).toThrow('its type has no schema')
  })
})

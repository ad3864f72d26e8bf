import { describe, expect, test } from 'bun:test'
import { BatchAppendReq } from '@eventstore/db-client/generated/streams_pb'
import { encodedIdempotencyBytes } from '../../../src/actors/key/mailbox.ts'
import type { NewEvent } from '../../../src/domain/events.ts'
import { encodedBytesExceed } from '../../../src/domain/reading/columns.ts'
import { readingId } from '../../../src/domain/uuid.ts'
import { batchEncodedBytesMax } from '../../../src/http/ingest/ingest-batch.ts'
import { createCodec } from '../../../src/log/codec/codec.ts'
import { eventStoreAppendBytesMax } from '../../../src/log/eventstoredb/eventstoredb-bounds.ts'
import { proposedEventOf, recordedEventOf } from '../../../src/log/eventstoredb/stored-events.ts'
import { encodeAppend, encodeRun } from '../../../src/log/eventstoredb/wire.ts'
import { columnsOf } from '../../support/logs/columns-of.ts'
import {
  freshKeyStream,
  freshReadingsStream,
  hostileTexts,
  keySuspended,
  reading,
  startMs,
} from '../../support/logs/sample-events.ts'

const codec = createCodec()
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString()
const encoded = (stream: string, events: readonly NewEvent[]) =>
  encodeRun(events.map((event) => proposedEventOf(stream, event)))

/** Decodes our bytes with EventStoreDB's own library, so that our encoder is tested against it. */
const decoded = (stream: string, events: readonly NewEvent[], expected: 'none' | number = 'none') =>
  BatchAppendReq.deserializeBinary(
    encodeAppend('0f0e0d0c-0b0a-4908-8706-050403020100', { streamName: stream, expected }, encoded(stream, events)),
  )

describe('an append on the wire', () => {
  test.each(['none', 0, 127, 128, 2 ** 31, Number.MAX_SAFE_INTEGER] as const)(
    'has its correlation id, stream and expected revision: %p',
    (expected) => {
      const request = decoded('key-é🍷', [keySuspended()], expected)
      expect(request.getCorrelationId()?.getString()).toBe('0f0e0d0c-0b0a-4908-8706-050403020100')
      expect(text(request.getOptions()?.getStreamIdentifier()?.getStreamName_asU8() ?? new Uint8Array())).toBe(
        'key-é🍷',
      )
      expect(request.getOptions()?.hasNoStream()).toBe(expected === 'none')
      if (expected !== 'none') expect(request.getOptions()?.getStreamPosition()).toBe(String(expected))
      expect(request.getIsFinal()).toBe(true)
    },
  )

  test('keeps every part of every event for the codec', () => {
    const stream = freshReadingsStream()
    const events: NewEvent[] = [
      reading(stream),
      reading(stream, { value: -0 }),
      { ...reading(stream), id: 'not a UUID' },
      ...hostileTexts.map((rack) => reading(stream, { rack, keg: 'x'.repeat(rack.length * 50) })),
    ]
    const messages = decoded(stream, events).getProposedMessagesList()
    const stored = messages.map((message, revision) => ({
      id: message.getId()?.getString() ?? '',
      type: message.getMetadataMap().get('type') ?? '',
      streamName: stream,
      revision,
      position: revision,
      metadata: text(message.getCustomMetadata_asU8()),
      data: text(message.getData_asU8()),
    }))
    const read = stored.map((event) => recordedEventOf(codec, stream, event))
    expect(read.map(({ stream: _, revision: __, position: ___, ...event }) => event)).toEqual(events)
    expect(messages.map((message) => message.getMetadataMap().get('content-type'))).toEqual(
      events.map(() => 'application/json'),
    )
  })
})

describe('an event in EventStoreDB', () => {
  test('of a reading has only time and schema version as metadata', () => {
    const stream = freshReadingsStream()
    expect(proposedEventOf(stream, reading(stream, {}, 7)).metadata).toBe('{"schemaVersion":1,"recordedAt":7}')
  })

  test('of a batch reading has the id of its request', () => {
    const stream = freshReadingsStream()
    const first = reading(stream, {}, 7)
    const second = { ...reading(stream, {}, 7), metadata: first.metadata }
    expect(proposedEventOf(stream, second).metadata).toBe(
      `{"schemaVersion":1,"recordedAt":7,"requestId":"${first.id}"}`,
    )
  })

  test('has a derived UUID when its id is no UUID', () => {
    const message = proposedEventOf(freshKeyStream(), { ...keySuspended(), id: 'one' })
    expect(message.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(proposedEventOf(freshKeyStream(), { ...keySuspended(), id: 'one' }).id).toBe(message.id)
    expect(proposedEventOf(freshKeyStream(), { ...keySuspended(), id: 'two' }).id).not.toBe(message.id)
  })

  test('of a newer schema or another program is refused by name', () => {
    const stored = { id: 'x', type: 'KeySuspended', streamName: 's', revision: 3, position: 9, data: '{"reason":"r"}' }
    const metadata = JSON.stringify({ schemaVersion: 2, recordedAt: 1, ...keySuspended().metadata })
    expect(() => recordedEventOf(codec, 'key-a', { ...stored, metadata })).toThrow(
      'Cannot decode event KeySuspended at revision 3 of "key-a": it has schema version 2',
    )
    for (const broken of ['', 'null', '{}', '{"schemaVersion":1']) {
      expect(() => recordedEventOf(codec, 'key-a', { ...stored, metadata: broken })).toThrow('revision 3 of "key-a"')
    }
  })

  test('needs no more bytes for an idempotency key than limits.ts counts', () => {
    const stream = freshReadingsStream()
    const most = Number.MAX_SAFE_INTEGER
    const bounds = { readingAgeMsMax: most, readingAheadMsMax: most, retentionMs: most }
    const refusals = { rejected: 1_000, rules: 99, atMs: most, bounds }
    const idempotency = { keyHash: '0a'.repeat(32), bodyHash: 'b0'.repeat(32), batch: { accepted: 1_000, refusals } }
    const names = '🍷'.repeat(128)
    const data = { cellar: names, rack: names, keg: names, value: -2.2250738585072014e-308 }
    const readings: NewEvent<'ReadingAccepted'>[] = []
    const requestId = reading(stream).id
    const ids = { requestId, correlationId: requestId, causationId: requestId }
    while (!encodedBytesExceed(columnsOf(readings.map((one) => one.data)), batchEncodedBytesMax)) {
      const event = reading(stream, { ...data, timestamp: '2026-03-01T12:00:00.123456789+00:00' })
      readings.push({ ...event, id: readingId(requestId, readings.length), metadata: { ...event.metadata, ...ids } })
    }
    readings.pop()
    const keyed = readings.map((event, at) =>
      at === 0 ? { ...event, metadata: { ...event.metadata, idempotency } } : event,
    )
    const textOf = (events: readonly NewEvent[]): number =>
      proposedEventOf(stream, events[0] ?? keySuspended()).metadata.length
    const unkeyedInFull = JSON.stringify({ schemaVersion: 1, recordedAt: startMs, ...readings[0]?.metadata }).length
    const more = textOf(keyed) - unkeyedInFull
    expect(more).toBeLessThanOrEqual(encodedIdempotencyBytes)
    expect(more).toBeGreaterThan(encodedIdempotencyBytes - 10)
    expect(encoded(stream, keyed).length).toBeLessThanOrEqual(eventStoreAppendBytesMax)
  })

  test('needs no more bytes for a batch than limits.ts counts', () => {
    const stream = freshReadingsStream()
    for (const rack of ['r', '🍷'.repeat(128), '"\\'.repeat(64)]) {
      const [first, ...later] = Array.from({ length: 100 }, () => reading(stream, { rack, value: -0 }))
      if (first === undefined) throw new Error('there is no first reading')
      const metadata = { ...first.metadata, requestId: first.id, correlationId: first.id, causationId: first.id }
      const batch = [
        first,
        ...later.map((event, index) => ({ ...event, id: readingId(first.id, index + 1), metadata })),
      ]
      const { length } = encoded(stream, batch)
      expect(encodedBytesExceed(columnsOf(batch.map(({ data }) => data)), length - 1)).toBe(true)
    }
  })
})

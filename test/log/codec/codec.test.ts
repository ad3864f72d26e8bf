import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { NewEvent, RecordedEvent } from '../../../src/domain/events.ts'
import { readingId } from '../../../src/domain/uuid.ts'
import { type Codec, createCodec, type StoredRow } from '../../../src/log/codec/codec.ts'
import { UndecodableEvent } from '../../../src/log/event-log.ts'
import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import { caughtUp, collect, dropped } from '../../support/logs/collector.ts'
import { hostileTimestamps, keySuspended, keySuspensions, reading, startMs } from '../../support/logs/sample-events.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const codec = createCodec()
const place = { revision: 5, position: 90 }

const rowsOf = (stream: string, events: readonly NewEvent[], own = codec): readonly StoredRow[] => {
  let done = 0
  return own.encode(stream, events).map((row) => {
    const stored = { ...row, stream, revision: place.revision + done, position: place.position + done }
    done += row.count
    return stored
  })
}
const roundTrip = (stream: string, events: readonly NewEvent[]): readonly RecordedEvent[] =>
  rowsOf(stream, events).flatMap((row) => codec.decode(row))

const decodeFault = (row: StoredRow, own = codec): UndecodableEvent => {
  try {
    own.decode(row)
  } catch (cause) {
    if (cause instanceof UndecodableEvent) return cause
    throw cause
  }
  throw new Error('the row could be decoded')
}

const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), fc.constantFrom('\ud83c', ''))
const anyId = fc.oneof(
  fc.uuid(),
  fc.uuid().map((id) => id.toUpperCase()),
  anyText,
)
const anyMs = fc.oneof(
  fc.integer({ min: startMs, max: startMs + 5_000 }),
  fc.integer({ min: 0, max: 253_402_300_799_999 }),
)
const anyTimestamp = fc.oneof(
  fc
    .date({ min: new Date('0000-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true })
    .map((date) => `${date.toISOString().slice(0, 19)}Z`),
  fc.constantFrom(...hostileTimestamps),
  anyText,
)
const anyBy = fc.oneof(
  fc.record({ kind: fc.constant('key' as const), keyId: fc.constantFrom('one', 'two', '') }),
  fc.record({ kind: fc.constant('operator' as const), email: anyText }),
  fc.record({ kind: fc.constant('system' as const) }),
)
const by = { kind: 'key' as const, keyId: 'one' }
const anyHash = fc.uuid().map((id) => id.replaceAll('-', '').repeat(2))
const anyBound = fc.option(fc.oneof(fc.constantFrom(0, Number.MAX_SAFE_INTEGER - 1), fc.nat()))
const anyJudgement = fc.record({
  rejected: fc.integer({ min: 1, max: 999 }),
  rules: fc.integer({ min: 1 }),
  atMs: fc.integer({ min: 0, max: 253_402_300_799_999 }),
  bounds: fc.record({ readingAgeMsMax: anyBound, readingAheadMsMax: anyBound, retentionMs: anyBound }),
})
const anyIdempotency = fc.record({
  keyHash: anyHash,
  bodyHash: anyHash,
  batch: fc.option(
    fc.record({
      accepted: fc.integer({ min: 1, max: 1_000 }),
      refusals: fc.option(anyJudgement),
    }),
  ),
})
const anyReading = fc
  .record({
    id: anyId,
    recordedAt: anyMs,
    cellar: anyText,
    rack: fc.oneof(anyText, fc.constantFrom('rack-1', 'rack-2')),
    keg: fc.oneof(anyText, fc.constantFrom('rack-1', 'temperature')),
    value: fc.double({ noNaN: true, noDefaultInfinity: true }),
    timestamp: anyTimestamp,
    by: anyBy,
    others: fc.option(fc.record({ requestId: anyText, correlationId: anyText, causationId: anyText })),
    idempotency: fc.option(anyIdempotency),
  })
  .map(({ id, recordedAt, by, others, idempotency, ...data }): NewEvent<'ReadingAccepted'> => {
    const ids = others ?? { requestId: id, correlationId: id, causationId: id }
    const metadata = idempotency === null ? { by, ...ids } : { by, ...ids, idempotency }
    return { id, type: 'ReadingAccepted', recordedAt, data, metadata }
  })

describe('the codec', () => {
  test('returns any readings unchanged', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('readings-one', 'readings-', 'key-one'),
        fc.array(anyReading, { minLength: 1, maxLength: 8 }),
        (stream, readings) => {
          const expected = readings.map((event, index) => ({
            ...event,
            stream,
            revision: place.revision + index,
            position: place.position + index,
          }))
          const decoded = roundTrip(stream, readings)
          expect(decoded).toEqual(expected)
          for (const [index, event] of decoded.entries()) {
            const value = event.type === 'ReadingAccepted' ? event.data.value : Number.NaN
            expect(Object.is(value, readings[index]?.data.value)).toBe(true)
          }
        },
      ),
      { seed: 20_260_301, numRuns: 1_000 },
    )
  })

  test('returns any batches between other readings unchanged, whole and in part', () => {
    const anyStranger = fc.constantFrom('none', 'none', 'id', 'metadata')
    const anyRequest = fc.tuple(anyReading, fc.integer({ min: 1, max: 5 }), anyStranger, fc.uuid())
    fc.assert(
      fc.property(
        fc.array(anyRequest, { minLength: 1, maxLength: 4 }),
        fc.nat(20),
        fc.nat(20),
        (requests, from, to) => {
          const readings = requests.flatMap(([first, count, stranger, requestId]) => {
            const usual = { by, requestId, correlationId: requestId, causationId: requestId }
            return Array.from({ length: count }, (_, index) => ({
              ...first,
              id: readingId(requestId, stranger === 'id' ? index * 2 : index),
              metadata: index === 0 || stranger === 'metadata' ? first.metadata : usual,
            }))
          })
          for (const row of rowsOf('readings-one', readings)) {
            const part = { first: Math.min(from, to, row.count), end: Math.min(Math.max(from, to), row.count) }
            expect(codec.decode(row, part)).toEqual(codec.decode(row).slice(part.first, part.end))
          }
          expect(roundTrip('readings-one', readings)).toEqual(
            readings.map((event, index) => ({
              ...event,
              stream: 'readings-one',
              revision: place.revision + index,
              position: place.position + index,
            })),
          )
        },
      ),
      { seed: 20_260_301, numRuns: 1_000 },
    )
  })

  // Stored bytes are never rewritten, so every later version must read them.
  test('reads and still writes the first stored row of format 1', () => {
    const event: NewEvent<'ReadingAccepted'> = {
      ...reading('readings-8kQ2xY7a'),
      id: '00112233-4455-6677-8899-aabbccddeeff',
      recordedAt: Date.UTC(2026, 2, 1, 12, 0, 0, 250),
      metadata: {
        by: { kind: 'key', keyId: '8kQ2xY7a' },
        requestId: '00112233-4455-6677-8899-aabbccddeeff',
        correlationId: '00112233-4455-6677-8899-aabbccddeeff',
        causationId: '00112233-4455-6677-8899-aabbccddeeff',
      },
    }
    const later = { ...event, recordedAt: event.recordedAt + 3, data: { ...event.data, timestamp: 'noon', value: -0 } }
    const hex = [
      '0100',
      '00 00112233445566778899aabbccddeeff',
      '30 77696e652d6265726c696e31 24 7261636b2d31303432 2c 74656d7065726174757265',
      '0000000000803540 03',
      '05 06 00112233445566778899aabbccddeeff 01 05 09 0000000000000080 10 6e6f6f6e',
    ]
    const body = new Uint8Array(Buffer.from(hex.join('').replaceAll(' ', ''), 'hex'))
    const row = { stream: 'readings-8kQ2xY7a', ...place, count: 2, recordedAt: event.recordedAt, body }

    expect(codec.decode(row)).toEqual([
      { ...event, stream: row.stream, ...place },
      { ...later, stream: row.stream, revision: 6, position: 91 },
    ])
    expect(codec.encode(row.stream, [event, later])).toEqual([
      { count: 2, recordedAt: event.recordedAt, body, bytes: body.length, isInBuffer: false },
    ])
  })

  test('takes 63 bytes for a reading, and 29 for its successor', () => {
    const readings = Array.from({ length: 100 }, () => reading('readings-one'))
    const sizes = [1, 2, 100].map((count) => codec.encode('readings-one', readings.slice(0, count))[0]?.bytes)
    expect(sizes).toEqual([63, 63 + 29, 63 + 99 * 29])
  })

  test('reads and still writes the first stored batch, which has one id', () => {
    const requestId = '00112233-4455-6677-8899-aabbccddefff'
    const usual = { by, requestId, correlationId: requestId, causationId: requestId }
    const [first, ...later] = [0, 1, 2].map((index) => {
      return { ...reading('readings-one'), id: readingId(requestId, index), metadata: usual }
    })
    if (first === undefined) throw new Error('there is no first reading')
    const hex = [
      '0100',
      '00 00112233445566778899aabbccddefff',
      '30 77696e652d6265726c696e31 24 7261636b2d31303432 2c 74656d7065726174757265',
      '0000000000803540 03',
      '10 01 05 09 0000000000803540 03',
      '10 01 05 09 0000000000803540 03',
    ]
    const body = new Uint8Array(Buffer.from(hex.join('').replaceAll(' ', ''), 'hex'))
    const row = { stream: 'readings-one', ...place, count: 3, recordedAt: startMs, body }
    expect(codec.encode(row.stream, [first, ...later])).toEqual([
      { count: 3, recordedAt: startMs, body, bytes: body.length, isInBuffer: false },
    ])
    expect(codec.decode(row)).toEqual(
      [first, ...later].map((event, index) => ({
        ...event,
        stream: row.stream,
        revision: 5 + index,
        position: 90 + index,
      })),
    )
  })

  test('reads and still writes the first stored batch with a judgement', () => {
    const requestId = '00112233-4455-6677-8899-aabbccddefff'
    const bounds = { readingAgeMsMax: null, readingAheadMsMax: 0, retentionMs: 86_400_000 }
    const refusals = { rejected: 999, rules: 1, atMs: startMs, bounds }
    const idempotency = { keyHash: '0a'.repeat(32), bodyHash: 'b0'.repeat(32), batch: { accepted: 1, refusals } }
    const usual = { by, requestId, correlationId: requestId, causationId: requestId }
    const first = { ...reading('readings-one'), id: requestId, metadata: { ...usual, idempotency } }
    const hex = [
      '0100',
      '20 00112233445566778899aabbccddefff',
      '30 77696e652d6265726c696e31 24 7261636b2d31303432 2c 74656d7065726174757265',
      '0000000000803540 03',
      `${'0a'.repeat(32)} ${'b0'.repeat(32)} 01 e707 01 809494caca33 00 01 81b89929`,
    ]
    const body = new Uint8Array(Buffer.from(hex.join('').replaceAll(' ', ''), 'hex'))
    const row = { stream: 'readings-one', ...place, count: 1, recordedAt: startMs, body }
    expect(codec.encode(row.stream, [first])).toEqual([
      { count: 1, recordedAt: startMs, body, bytes: body.length, isInBuffer: false },
    ])
    expect(codec.decode(row)).toEqual([{ ...first, stream: row.stream, revision: 5, position: 90 }])
  })

  test('skips earlier readings of a row and never looks at later ones', () => {
    const strange = { ...reading('readings-one'), metadata: { ...reading('key-two').metadata, requestId: 'strange' } }
    const readings = [strange, reading('readings-one'), reading('readings-one')]
    const [row] = rowsOf('readings-one', readings)
    if (row === undefined || typeof row.body === 'string') throw new Error('readings are not packed')
    const second = { first: 1, end: 2 }
    const expected = codec.decode(row).slice(1, 2)
    const body = Buffer.from(row.body)
    const withoutEnd = { ...row, body: new Uint8Array(body.subarray(0, -5)) }
    expect(codec.decode(withoutEnd, second)).toEqual(expected)
    expect(decodeFault(withoutEnd).message).toContain('it ends too early')
    const withoutJson = Buffer.from(body.toString('latin1').replace('{"by"', '{,by"'), 'latin1')
    expect(codec.decode({ ...row, body: new Uint8Array(withoutJson) }, second)).toEqual(expected)
    expect(decodeFault({ ...row, body: new Uint8Array(withoutJson) }).message).toContain('not JSON')
  })

  test('returns part of a JSON row, each event at its position', () => {
    const [row] = rowsOf('key-one', keySuspensions(4))
    if (row === undefined) throw new Error('there is no row')
    expect(codec.decode(row, { first: 1, end: 3 })).toEqual(codec.decode(row).slice(1, 3))
  })

  test('takes 65 bytes more for a reading with an idempotency key', () => {
    const single = reading('readings-one')
    const idempotency = { keyHash: '0a'.repeat(32), bodyHash: 'b0'.repeat(32), batch: null }
    const withIdempotency = { ...single, metadata: { ...single.metadata, idempotency } }
    expect([single, withIdempotency].map((event) => codec.encode('readings-one', [event])[0]?.bytes)).toEqual([
      63,
      63 + 65,
    ])
  })

  test('refuses every row of readings with a byte too few or too many', () => {
    const plain = reading('readings-one')
    const bounds = { readingAgeMsMax: null, readingAheadMsMax: 7, retentionMs: 86_400_000 }
    const refusals = { rejected: 999, rules: 1, atMs: startMs, bounds }
    const batch = { accepted: 1, refusals }
    const idempotency = { keyHash: '0a'.repeat(32), bodyHash: 'b0'.repeat(32), batch }
    const withIdempotency = { ...plain, metadata: { ...plain.metadata, idempotency } }
    const [row] = rowsOf('readings-one', [withIdempotency, reading('readings-one', { timestamp: 'noon' })])
    if (row === undefined || typeof row.body === 'string') throw new Error('readings were not packed')
    const { body } = row
    for (let length = 0; length < body.length; length++) {
      const fault = decodeFault({ ...row, body: body.slice(0, length) })
      expect(fault).toMatchObject({ stream: 'readings-one', revision: place.revision, type: 'ReadingAccepted' })
    }
    expect(decodeFault({ ...row, body: new Uint8Array([...body, 0]) }).message).toContain('bytes follow')
    expect(decodeFault({ ...row, count: 1 }).message).toContain('bytes follow')
    expect(decodeFault({ ...row, count: 3 }).message).toContain('ends too early')
  })

  const damages = [
    { title: 'a newer packed format', at: 0, byte: 2, why: 'packed in format 2' },
    { title: 'an unknown flag of the row', at: 1, byte: 1, why: 'flags that this version does not know' },
    { title: 'an unknown flag of a reading', at: 2, byte: 128, why: 'flags that this version does not know' },
    { title: 'a later reading of a batch without its first', at: 2, byte: 16, why: 'a batch without a first reading' },
    { title: 'a text of an unknown kind', at: 19, byte: 0x33, why: 'unknown kind' },
    { title: 'a name that refers to no earlier one', at: 19, byte: 0x31, why: 'refers to no earlier name' },
    { title: 'a name that is not UTF-8', at: 20, byte: 0xff, why: 'not UTF-8' },
  ]
  for (const { title, at, byte, why } of damages) {
    test(`refuses ${title}, naming stream, revision and type`, () => {
      const [row] = rowsOf('readings-one', [reading('readings-one')])
      if (row === undefined || typeof row.body === 'string') throw new Error('readings were not packed')
      const fault = decodeFault({ ...row, body: row.body.with(at, byte) })
      expect(fault.message).toContain(`Cannot decode event ReadingAccepted at revision 5 of "readings-one": its row: `)
      expect(fault.message).toContain(why)
    })
  }

  const stored = (change: object): string => {
    const [row] = rowsOf('key-one', keySuspensions(2))
    const events = JSON.parse(String(row?.body))
    return JSON.stringify([events[0], { ...events[1], ...change }])
  }
  const faulty = [
    {
      title: 'an unknown type',
      body: stored({ type: 'KeyPolished' }),
      type: 'KeyPolished',
      why: 'does not know its type',
    },
    {
      title: 'a newer schema version',
      body: stored({ schemaVersion: 2 }),
      type: 'KeySuspended',
      why: 'schema version 2',
    },
    { title: 'an extra field', body: stored({ data: { reason: '', x: 1 } }), type: 'KeySuspended', why: 'data/x' },
    { title: 'data of another shape', body: stored({ data: { reason: 1 } }), type: 'KeySuspended', why: 'data/reason' },
    {
      title: 'metadata of another shape',
      body: stored({ metadata: {} }),
      type: 'KeySuspended',
      why: 'the form of a stored event',
    },
    {
      title: 'half of its idempotency data',
      body: stored({ metadata: { ...keySuspended().metadata, idempotency: { keyHash: '0a'.repeat(32) } } }),
      type: 'KeySuspended',
      why: 'the form of a stored event',
    },
    { title: 'no time', body: stored({ recordedAt: null }), type: 'KeySuspended', why: 'the form of a stored event' },
    { title: 'no type', body: stored({ type: 7 }), type: '(unknown)', why: 'the form of a stored event' },
  ]
  for (const { title, body, type, why } of faulty) {
    test(`refuses an event with ${title}, naming stream, revision and type`, () => {
      const fault = decodeFault({ stream: 'key-one', ...place, count: 2, recordedAt: startMs, body })
      expect(fault).toMatchObject({ stream: 'key-one', revision: place.revision + 1, type })
      expect(fault.message).toContain(why)
    })
  }

  for (const body of ['', 'null', '{}', '[]', '[1', '[{}]']) {
    test(`refuses the row ${JSON.stringify(body)}`, () => {
      const fault = decodeFault({ stream: 'key-one', ...place, count: 2, recordedAt: startMs, body })
      expect(fault).toMatchObject({ stream: 'key-one', revision: place.revision })
    })
  }
})

/** A codec that stores JSON events as a later version would. */
const newerCodec: Codec = {
  ...codec,
  encode: (stream, events) =>
    codec.encode(stream, events).map((row) => ({
      ...row,
      body: typeof row.body === 'string' ? row.body.replaceAll('"schemaVersion":1', '"schemaVersion":2') : row.body,
    })),
}

describe('a log with a newer event', () => {
  test('names it, never delivers past it, serves other streams', async () => {
    const folder = temporaryFolder()
    const before = openSqliteLog({ dataDir: folder.path })
    await before.append('cellar-one', 'none', [{ ...keySuspended(), type: 'CellarRenamed', data: { title: 'one' } }])
    await before.close()
    const newer = openSqliteLog({ dataDir: folder.path, codec: newerCodec })
    const unreadable = keySuspended()
    await newer.append('key-new', 'none', [unreadable])
    await newer.close()

    const log = openSqliteLog({ dataDir: folder.path })
    const named = { name: 'UndecodableEvent', stream: 'key-new', revision: 0, type: 'KeySuspended' }
    await expect(log.read('key-new', { limit: 1 })).rejects.toMatchObject(named)
    await expect(log.readAll({ limit: 10 })).rejects.toMatchObject(named)
    const follower = collect(log, { after: null })
    await follower.until(dropped)
    expect(follower.told).toEqual([{ dropped: expect.objectContaining(named) }])

    // The first append repeats the stored event, which this version cannot decode. So the log cannot compare the two, and the
    // append fails. The other append of the commit group must still be written.
    const [again, other] = await Promise.allSettled([
      log.append('key-new', 'none', [unreadable]),
      log.append('cellar-one', 0, [{ ...keySuspended(), type: 'CellarRenamed', data: { title: 'two' } }]),
    ])
    expect(again).toMatchObject({ status: 'rejected', reason: named })
    expect(other).toMatchObject({ status: 'fulfilled', value: { outcome: 'written' } })

    const elsewhere = collect(log, { after: null, categories: ['cellar'] })
    await elsewhere.until(caughtUp)
    expect(elsewhere.events).toHaveLength(2)
    await log.close()
    folder.remove()
  })
})

import type { EventData, NewEvent } from '../../../src/domain/events.ts'
import { keyStream, readingsStream } from '../../../src/domain/stream-names.ts'

export const startMs = Date.UTC(2026, 2, 1, 12)

// Each test needs new names, because a log on a server keeps the events of earlier tests.
const freshId = (): string => crypto.randomUUID().replaceAll('-', '').slice(0, 12)
export const freshKeyStream = (): string => keyStream(freshId())
export const freshReadingsStream = (): string => readingsStream(freshId())
export const freshRecordStream = (category: string): string => `${category}-${freshId()}`
export const freshCellarStream = (): string => `cellar-${freshId()}`

export const keySuspended = (reason = 'a test', recordedAt = startMs): NewEvent<'KeySuspended'> => ({
  id: crypto.randomUUID(),
  type: 'KeySuspended',
  recordedAt,
  data: { reason },
  metadata: { by: { kind: 'cli' }, requestId: 'request-1', correlationId: 'request-1', causationId: 'request-0' },
})

export const recordsPurged = (recordedAt = startMs): NewEvent<'RecordsPurged'> => ({
  ...keySuspended('', recordedAt),
  type: 'RecordsPurged',
  data: { firstRevision: 0, lastRevision: 0, recordedBefore: 0 },
})

export const readingsRefused = (recordedAt = startMs): NewEvent<'ReadingsRefused'> => ({
  ...keySuspended('', recordedAt),
  type: 'ReadingsRefused',
  data: {
    from: recordedAt,
    to: recordedAt,
    counts: [{ code: 'INVALID_NAME', count: 2 }],
    samples: [
      {
        requestId: 'request-1',
        atMs: recordedAt,
        code: 'INVALID_NAME',
        field: 'rack',
        rule: 'blank',
        rack: null,
        keg: 'Tröpfchen "1"',
      },
    ],
  },
})

/** Makes events that a test can tell apart: each has its number as its reason. */
export const keySuspensions = (count: number): readonly NewEvent<'KeySuspended'>[] =>
  Array.from({ length: count }, (_, index) => keySuspended(String(index), startMs + index))

export const cellarRenamed = (title: string): NewEvent<'CellarRenamed'> => ({
  ...keySuspended(),
  type: 'CellarRenamed',
  data: { title },
})

/** A reading with the metadata that the service writes, so that the log can pack it. */
export const reading = (
  stream: string,
  data: Partial<EventData<'ReadingAccepted'>> = {},
  recordedAt = startMs,
): NewEvent<'ReadingAccepted'> => {
  const id = crypto.randomUUID()
  return {
    id,
    type: 'ReadingAccepted',
    recordedAt,
    data: {
      cellar: 'wine-berlin1',
      rack: 'rack-1042',
      keg: 'temperature',
      value: 21.5,
      timestamp: '2026-03-01T11:59:58Z',
      ...data,
    },
    metadata: {
      by: { kind: 'key', keyId: stream.slice('readings-'.length) },
      requestId: id,
      correlationId: id,
      causationId: id,
    },
  }
}

/** Texts that a log must return unchanged. A wrong encoding would change each of them in a different way. */
export const hostileTexts = [
  '🍷'.repeat(128),
  '\u{feff}begins with a byte order mark',
  'e\u0301 is not \u00e9',
  'half a pair: \ud83c',
  '\udf77 and the other half',
  'a \u0000 in the middle',
  '\u2028\u2029\u202e',
  '"\\\'; DROP TABLE events; --',
  '__proto__',
  '',
]

export const hostileNumbers = [
  -0,
  0,
  5e-324,
  -5e-324,
  1.7976931348623157e308,
  0.1 + 0.2,
  Number.MAX_SAFE_INTEGER,
  2 ** 53 + 2,
  1e21,
  -1e-7,
]

export const hostileTimestamps = [
  '2026-03-01T11:59:58.123456789Z',
  '2026-03-01T11:59:58.000Z',
  '2026-03-01T11:59:58+00:00',
  '2026-03-01T11:59:58.1+00:00',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59Z',
  '2024-02-29T23:59:59Z',
  '1969-12-31T23:59:59Z',
]

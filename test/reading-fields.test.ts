/** Sends readings with every field of the table through each place that knows the fields by itself. The title names the place. */
import { describe, expect, test } from 'bun:test'
import { ColumnsBuilder } from '../src/domain/reading/columns.ts'
import {
  fieldNames,
  isOptional,
  nameFields,
  type Reading,
  type ReadingField,
  readingFields,
} from '../src/domain/reading/fields.ts'
import { BatchItems } from '../src/domain/reading/judge-batch.ts'
import { NameCache } from '../src/domain/reading/name-cache.ts'
import { NamedReading } from '../src/domain/reading/named-reading.ts'
import { parseReading } from '../src/domain/reading/reading.ts'
import { encodedBytes, encodedBytesAtMost } from '../src/domain/reading/reading-size.ts'
import { eventsOfItems, ReadingRun } from '../src/domain/reading/recorded-run.ts'
import { noWork } from '../src/http/ingest/api-call.ts'
import { ReadingParser } from '../src/http/ingest/parse-reading.ts'
import { BatchScanner } from '../src/http/ingest/scan-batch.ts'
import { createCodec, type StoredRow } from '../src/log/codec/codec.ts'
import { RunUnpacker } from '../src/log/codec/unpack-runs.ts'
import { columnsOf } from './support/logs/columns-of.ts'

const cellar = 'cellär'

const sampleOf = (field: ReadingField, number: number): string | number => {
  if (field === 'cellar') return cellar
  const { kind } = readingFields[field]
  if (kind === 'number') return number + 0.5
  return kind === 'timestamp' ? `2026-03-01T12:00:0${number}${number === 1 ? '' : '.25'}Z` : `${field} ${number}ö`
}

/** Reading 3 has no optional fields, and reading 4 has them again. */
const sent = [1, 2, 3, 4].map((number) => {
  const fields = fieldNames.filter((field) => number !== 3 || !isOptional(field))
  return Object.fromEntries(fields.map((field) => [field, sampleOf(field, number)]))
})

const readingOf = (json: unknown): Reading => {
  const parsed = parseReading(json)
  if (!parsed.ok) throw new Error(`The parser refuses a valid reading: ${JSON.stringify(parsed.refusal)}`)
  return parsed.value.reading
}
const readings = (): readonly Reading[] => sent.map(readingOf)

const bytesOf = (json: unknown): Uint8Array => Buffer.from(JSON.stringify(json))
const scannedAlone = (json: unknown): Reading | null => new ReadingParser().scan(bytesOf(json), cellar)?.reading ?? null
const scanner = (): BatchScanner => {
  const names = new NameCache()
  return new BatchScanner(new BatchItems(names), names)
}

const requestId = '0195a1b2-0000-7000-8000-000000000000'
const run = (isBatch: boolean): ReadingRun => {
  const [first, ...others] = isBatch ? [columnsOf(readings())] : readings()
  const requests = [first ?? columnsOf([]), ...others].map((one) => ({ requestId, readings: one, idempotency: null }))
  return new ReadingRun('k1', Date.UTC(2026, 2, 1, 12), requests)
}

const codec = createCodec()
const rowOf = (toAppend: Parameters<typeof codec.encode>[1]): StoredRow => {
  const [row] = codec.encode('readings-k1', toAppend)
  if (row === undefined) throw new Error('There is no row')
  return { ...row, stream: 'readings-k1', revision: 0, position: 0 }
}
const dataOf = (events: readonly { readonly data: unknown }[]): readonly unknown[] => events.map(({ data }) => data)
const runsIn = (row: StoredRow): readonly unknown[] =>
  dataOf(eventsOfItems(codec.decodeItems(row, 0, new RunUnpacker(new NameCache(1)))))

/** What each place makes of the readings. */
const places: Readonly<Record<string, () => readonly unknown[]>> = {
  'parseReading in src/domain/reading/reading.ts': readings,
  'limitStructure in src/http/ingest/json/json-structure.ts': () =>
    sent.map((json) => {
      const parsed = new ReadingParser().parseWhole(bytesOf(json), cellar, noWork())
      return parsed.ok ? parsed.value.reading : parsed
    }),
  'ReadingScanner in src/http/ingest/scan-reading.ts': () => sent.map(scannedAlone),
  'ReadingColumns.readingAt in src/domain/reading/columns.ts': () => {
    const columns = columnsOf(readings())
    return sent.map((_, index) => columns.readingAt(index))
  },
  'ReadingColumns.namedAt in src/domain/reading/columns.ts': () => {
    const columns = columnsOf(readings())
    const copies = new ColumnsBuilder()
    copies.begin(columns.cellar)
    for (const index of sent.keys()) copies.copy(columns, index)
    const copied = copies.finish()
    return sent.map((_, index) => copied.readingAt(index))
  },
  'NamedReading in src/domain/reading/named-reading.ts': () => {
    const columns = columnsOf(readings())
    return sent.map((_, index) => {
      const named = columns.namedAt(index)
      return named === null ? null : new NamedReading(columns.cellar, named).plain()
    })
  },
  'packData and unpackData in src/log/codec/packed-readings.ts': () => dataOf(codec.decode(rowOf(run(false)))),
  'packColumns in src/log/codec/packed-readings.ts': () => dataOf(codec.decode(rowOf(run(true)))),
  'pack in src/log/codec/packed-readings.ts': () => dataOf(codec.decode(rowOf(run(true).events()))),
  'skipReading in src/log/codec/packed-readings.ts': () => {
    const row = rowOf(run(true))
    return sent.flatMap((_, first) => dataOf(codec.decode(row, { first, end: first + 1 })))
  },
  'RunUnpacker in src/log/codec/unpack-runs.ts, for single readings': () => runsIn(rowOf(run(false))),
  'RunUnpacker in src/log/codec/unpack-runs.ts, for batches': () => runsIn(rowOf(run(true))),
}

describe('every field of a reading is known to', () => {
  for (const [place, through] of Object.entries(places)) test(place, () => expect(through()).toEqual(sent))

  test('BatchScanner in src/http/ingest/scan-batch.ts, which reads each item without JSON.parse', () => {
    const scanned = scanner().scan(bytesOf({ readings: sent }), cellar)
    const found = sent.map((_, index) => scanned?.readings.readingAt(index))
    expect<unknown>(found).toEqual(sent)
  })

  test('encodedBytes in src/domain/reading/reading-size.ts', () => {
    const columns = columnsOf(readings())
    for (const reading of readings()) {
      expect(encodedBytes(reading)).toBeGreaterThanOrEqual(JSON.stringify(reading).length)
      expect(encodedBytesAtMost(reading)).toBeGreaterThanOrEqual(encodedBytes(reading))
    }
    const bytes = readings().reduce((sum, reading) => sum + encodedBytes(reading), 0)
    expect(columns.encodedBytesAtMost).toBeGreaterThanOrEqual(bytes)
  })
})

describe('a name that is one character too long is refused by', () => {
  for (const field of nameFields) {
    const long = { ...sent[0], [field]: 'x'.repeat(readingFields[field].codePointsMax + 1) }

    test(`the parser: ${field}`, () => {
      expect(parseReading(long)).toEqual({
        ok: false,
        refusal: { kind: 'invalid_name', field, fault: 'too_long' },
      })
    })

    test(`the scanner, which leaves it to the parser: ${field}`, () => {
      const longest = { ...sent[0], [field]: 'x'.repeat(readingFields[field].codePointsMax) }
      if (field !== 'cellar') expect(scannedAlone(longest)).toEqual(readingOf(longest))
      expect(scannedAlone(long)).toBeNull()
    })
  }
})

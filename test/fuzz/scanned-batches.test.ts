import { expect, test } from 'bun:test'
import type { ReadingColumns } from '../../src/domain/reading/columns.ts'
import { BatchItems, type ParsedBatch } from '../../src/domain/reading/judge-batch.ts'
import { NameCache } from '../../src/domain/reading/name-cache.ts'
import { readingId } from '../../src/domain/uuid.ts'
import { noWork } from '../../src/http/ingest/api-call.ts'
import { BatchParser } from '../../src/http/ingest/parse-batch.ts'
import { BatchScanner } from '../../src/http/ingest/scan-batch.ts'
import { packReadings } from '../../src/log/codec/packed-readings.ts'
import { timesToTry } from '../support/long-trials.ts'
import { batchBodies } from './batch-bodies.ts'

const bodyCount = Number(process.env['FUZZ_BODIES'] ?? timesToTry(20_000, 100_000))
const cellars = ['wine-berlin', 'Fäßer', 'a"b', 'a\\b'] as const

const scannerOf = (names: NameCache) => new BatchScanner(new BatchItems(names), names)

/** In the small cache, names replace each other all the time. */
const scanners = [scannerOf(new NameCache()), scannerOf(new NameCache(1))]
const whole = new BatchParser()
const work = noWork()

test(`of ${bodyCount} bodies the scanner stores, refuses and says what JSON.parse does`, () => {
  const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(performance.timeOrigin) % 2 ** 31)
  console.log(`FUZZ_SEED=${seed} repeats these bodies`)
  const bodyFor = batchBodies(seed)
  const seen = { scanned: 0, refusals: 0, large: 0, otherwiseValid: 0, refusedWhole: 0 }
  for (let count = 0; count < bodyCount; count += 1) {
    const cellar = cellars[(count >> 1) % cellars.length] ?? cellars[0]
    const body = bodyFor(cellar)
    const before = Buffer.from(body)
    const scanned = scanners[count % 2]?.scan(body, cellar) ?? null
    if (!before.equals(body)) throw new Error(`The scan changed ${shown(before)}`)
    const expected = whole.parseWhole(body, cellar, work)
    if (scanned === null) {
      if (expected.ok) seen.otherwiseValid += 1
      else seen.refusedWhole += 1
      continue
    }
    const difference = expected.ok ? differenceOf(scanned, expected.value) : 'its refusal as a whole'
    if (difference !== null) throw new Error(`The scanner and JSON.parse differ in ${difference}: ${shown(before)}`)
    seen.scanned += 1
    if (scanned.rejected.length > 0) seen.refusals += 1
    if (body.length > 50_000) seen.large += 1
  }
  console.log(seen)
  // Each kind must be frequent. Otherwise the bodies no longer test all code.
  for (const [kind, share] of Object.entries({
    scanned: 0.4,
    refusals: 0.1,
    otherwiseValid: 0.01,
    refusedWhole: 0.1,
  })) {
    expect(Reflect.get(seen, kind), kind).toBeGreaterThan(bodyCount * share)
  }
  expect(seen.large).toBeGreaterThan(bodyCount / 20_000)
}, 3_600_000)

const shown = (body: Uint8Array): string => JSON.stringify(Buffer.from(body).toString('latin1'))

/** Returns the first thing that differs, or `null`. */
const differenceOf = (scanned: ParsedBatch, expected: ParsedBatch): string | null => {
  const [one, other] = [scanned.readings, expected.readings]
  if (JSON.stringify(scanned.rejected) !== JSON.stringify(expected.rejected)) return 'refusals'
  if (one.cellar.text !== other.cellar.text) return 'cellar'
  if (one.count !== other.count) return 'count'
  for (const field of ['values', 'timesMs'] as const) {
    if (!areEqual(one[field].subarray(0, one.count), other[field].subarray(0, one.count))) return field
  }
  if (JSON.stringify(one.texts) !== JSON.stringify(other.texts)) return 'texts of timestamps'
  if (one.encodedBytesAtMost !== other.encodedBytesAtMost) return 'size'
  for (const field of ['racks', 'kegs'] as const) {
    for (const [index, name] of one[field].slice(0, one.count).entries()) {
      if (name.text !== other[field][index]?.text || !Buffer.from(name.text).equals(name.utf8)) return field
    }
  }
  return Buffer.from(packed(one)).equals(packed(other)) ? null : 'packed rows'
}

const areEqual = (one: Float64Array, other: Float64Array): boolean => bytesOf(one).equals(bytesOf(other))

const bytesOf = ({ buffer, byteOffset, byteLength }: Float64Array): Buffer =>
  Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength)

const requestId = '0b0b0b0b-0b0b-4b0b-8b0b-0b0b0b0b0b0b'

/** At most ten readings, because packing a large batch takes longer than both ways to parse it. */
const packed = (readings: ReadingColumns): Uint8Array =>
  packReadings(
    'readings-abcdefgh',
    Array.from({ length: Math.min(readings.count, 10) }, (_, index) => ({
      id: readingId(requestId, index),
      recordedAt: 1_772_366_400_000,
      data: readings.readingAt(index),
      metadata: { by: { kind: 'key', keyId: 'abcdefgh' }, requestId, correlationId: requestId, causationId: requestId },
    })),
  )

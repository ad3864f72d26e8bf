import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { ReadingRun, type RunRequest } from '../../../src/domain/reading/recorded-run.ts'
import { readingsStream } from '../../../src/domain/stream-names.ts'
import { encodeReadings } from '../../../src/log/eventstoredb/run-wire.ts'
import { proposedEventOf } from '../../../src/log/eventstoredb/stored-events.ts'
import { encodeRun } from '../../../src/log/eventstoredb/wire.ts'
import { columnsOf } from '../../support/logs/columns-of.ts'
import { hostileTexts } from '../../support/logs/sample-events.ts'
import { anyRun, runKeyId, runStartMs } from '../../support/random-runs.ts'

const stream = readingsStream(runKeyId)
const requestId = '0f0e0d0c-0b0a-4908-8706-050403020ffe'

const encodedAsEvents = (run: ReadingRun, of = stream): Buffer =>
  encodeRun(run.events().map((event) => proposedEventOf(of, event, 1)))

const runOf = (texts: readonly string[], id = requestId): ReadingRun => {
  const [cellar, timestamp] = [texts[0] ?? 'c', '2026-03-01T12:00:00Z']
  const readings = columnsOf(texts.map((keg, value) => ({ cellar, rack: keg, keg, value, timestamp })))
  return new ReadingRun(runKeyId, runStartMs, [{ requestId: id, readings, idempotency: null }])
}

describe('a run in EventStoreDB', () => {
  test('has the same bytes as its events', () => {
    fc.assert(
      fc.property(anyRun, fc.integer({ min: 1, max: 99 }), (run, schemaVersion) => {
        const events = run.events().map((event) => proposedEventOf(stream, event, schemaVersion))
        expect(encodeReadings(stream, run, schemaVersion).equals(encodeRun(events))).toBe(true)
      }),
      { numRuns: 2_000 },
    )
  })

  test('has the same bytes if its requests are objects of a class', () => {
    // Requests of the service compute the fields of a run when they are asked, so a copy of a request has no such fields.
    class Request implements RunRequest {
      get requestId() {
        return requestId
      }
      get readings() {
        return runOf(['a', 'b']).requests[0]?.readings ?? columnsOf([])
      }
      get idempotency() {
        return { keyHash: '0a'.repeat(32), bodyHash: 'b0'.repeat(32), batch: { accepted: 2, refusals: null } }
      }
    }
    const run = new ReadingRun(runKeyId, runStartMs, [new Request()])
    expect(encodeReadings(stream, run, 1).equals(encodedAsEvents(run))).toBe(true)
    expect(encodeReadings(stream, run, 1).includes('"keyHash"')).toBe(true)
  })

  test('has the same bytes for texts that JSON escapes', () => {
    const run = runOf(['"\\', ...hostileTexts, '🍷'.repeat(128), '\\'.repeat(256)])
    expect(encodeReadings(stream, run, 1).equals(encodedAsEvents(run))).toBe(true)
  })

  test('counts its ids past the last digits', () => {
    const run = runOf(['a', 'b', 'c', 'd'])
    expect(run.events().map(({ id }) => id.slice(-3))).toEqual(['ffe', 'fff', '000', '001'])
    expect(encodeReadings(stream, run, 1).equals(encodedAsEvents(run))).toBe(true)
  })

  test.each([4_095, 64 * 1024])('has the same bytes with %p bytes for each reading', (bytes) => {
    const run = runOf(Array.from({ length: 40 }, (_, index) => `${index}${'x'.repeat(bytes)}`))
    expect(encodeReadings(stream, run, 1).equals(encodedAsEvents(run))).toBe(true)
  })

  test('can have ids that are no UUIDs, and another stream', () => {
    const other = runOf(['a', 'b'], 'request-000')
    expect(encodeReadings(stream, other, 1).equals(encodedAsEvents(other))).toBe(true)
    const usual = runOf(['a', 'b'])
    expect(encodeReadings('readings-k2', usual, 1).equals(encodedAsEvents(usual, 'readings-k2'))).toBe(true)
  })

  test('is not changed by the next run', () => {
    const run = runOf(['a', 'b'])
    const encoded = encodeReadings(stream, run, 1)
    encodeReadings(stream, runOf(['c', 'd', 'e']), 1)
    expect(encoded.equals(encodedAsEvents(run))).toBe(true)
  })
})

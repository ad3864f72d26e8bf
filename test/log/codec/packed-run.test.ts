import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { ReadingRun } from '../../../src/domain/reading/recorded-run.ts'
import { readingsStream } from '../../../src/domain/stream-names.ts'
import { packReadings, packRun } from '../../../src/log/codec/packed-readings.ts'
import { columnsOf } from '../../support/logs/columns-of.ts'
import { anyRun, runKeyId, runStartMs } from '../../support/random-runs.ts'
import { validReading } from '../../support/test-service.ts'

const packedEvents = (run: ReadingRun): Uint8Array => packReadings(readingsStream(run.keyId), run.events())

describe('a packed run', () => {
  test('has the same bytes as its events', () => {
    fc.assert(
      fc.property(anyRun, (run) => {
        expect(packRun(run)).toEqual(packedEvents(run))
      }),
      { seed: 20_260_301, numRuns: 500 },
    )
  })

  test('has the same bytes when it is packed again', () => {
    fc.assert(
      fc.property(anyRun, (run) => {
        const first = packRun(run)
        expect(packRun(run)).toEqual(first)
      }),
      { seed: 20_260_301 },
    )
  })

  test('has the same bytes for an id that is no UUID', () => {
    const single = new ReadingRun(runKeyId, runStartMs, [
      { requestId: 'short', readings: validReading, idempotency: null },
    ])
    expect(packRun(single)).toEqual(packedEvents(single))
  })

  test('is refused if its batch has an id that cannot be counted up', () => {
    const batch = columnsOf([validReading, validReading])
    const run = new ReadingRun(runKeyId, runStartMs, [{ requestId: 'not a UUID', readings: batch, idempotency: null }])
    expect(() => packRun(run)).toThrow('Cannot number the readings of a request')
  })
})

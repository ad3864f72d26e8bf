import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { ReadingRun } from '../../../src/domain/reading/recorded-run.ts'
import { readingsStream } from '../../../src/domain/stream-names.ts'
import { batchReadingsMax } from '../../../src/limits.ts'
import { packReadings, packRun } from '../../../src/log/codec/packed-readings.ts'
import { RowBuffers, rowBuffersMax } from '../../../src/log/codec/row-buffers.ts'
import { columnsOf } from '../../support/logs/columns-of.ts'
import { anyRun, runKeyId, runStartMs } from '../../support/random-runs.ts'
import { validReading } from '../../support/test-service.ts'

const packed = (run: ReadingRun): Uint8Array => packRun(run, new RowBuffers()).row

const packedEvents = (run: ReadingRun): Uint8Array => packReadings(readingsStream(run.keyId), run.events())

describe('a packed run', () => {
  test('has the same bytes as its events', () => {
    fc.assert(
      fc.property(anyRun, (run) => {
        expect(packed(run)).toEqual(packedEvents(run))
      }),
      { seed: 20_260_301, numRuns: 500 },
    )
  })

  test('has the same bytes when it is packed again', () => {
    fc.assert(
      fc.property(anyRun, (run) => {
        const first = packed(run)
        expect(packed(run)).toEqual(first)
      }),
      { seed: 20_260_301 },
    )
  })

  test('has the same bytes for an id that is no UUID', () => {
    const single = new ReadingRun(runKeyId, runStartMs, [
      { requestId: 'short', readings: validReading, idempotency: null },
    ])
    expect(packed(single)).toEqual(packedEvents(single))
  })

  test('is refused if its batch has an id that cannot be counted up', () => {
    const batch = columnsOf([validReading, validReading])
    const run = new ReadingRun(runKeyId, runStartMs, [{ requestId: 'not a UUID', readings: batch, idempotency: null }])
    expect(() => packed(run)).toThrow('Cannot number the readings of a request')
  })
})

/** A batch whose row needs a buffer. */
const largeRun = (value: number): ReadingRun => {
  const readings = Array.from({ length: batchReadingsMax }, (_, index) => ({
    ...validReading,
    rack: `rack-${value}-${index}`,
    value,
  }))
  return new ReadingRun(runKeyId, runStartMs, [
    { requestId: crypto.randomUUID(), readings: columnsOf(readings), idempotency: null },
  ])
}

describe('the buffer of a large row', () => {
  test('serves a later row only after it was given back', () => {
    const buffers = new RowBuffers()
    const runs = Array.from({ length: 3 * rowBuffersMax }, (_, value) => largeRun(value))
    const kept: { readonly run: ReadingRun; readonly row: Uint8Array; readonly isInBuffer: boolean }[] = []
    for (const [index, run] of runs.entries()) {
      kept.push({ run, ...packRun(run, buffers) })
      if (index % 3 > 0) continue
      const oldest = kept.shift()
      expect(oldest?.row).toEqual(packedEvents(oldest?.run as ReadingRun))
      if (oldest?.isInBuffer) buffers.giveBack(oldest.row)
    }
    for (const { run, row } of kept) expect(row).toEqual(packedEvents(run))
  })

  test('is used again', () => {
    const buffers = new RowBuffers()
    const memory = new Set<ArrayBufferLike>()
    for (let value = 0; value < 3 * rowBuffersMax; value += 1) {
      const { row, isInBuffer } = packRun(largeRun(value), buffers)
      expect(isInBuffer).toBe(true)
      memory.add(row.buffer)
      buffers.giveBack(row)
    }
    // The writer holds one buffer, and began with one of its own.
    expect(memory.size).toBeLessThanOrEqual(3)
  })

  test('is not there for more rows than the bound', () => {
    const buffers = new RowBuffers()
    const rows = Array.from({ length: rowBuffersMax + 1 }, (_, value) => packRun(largeRun(value), buffers))
    expect(rows.map(({ isInBuffer }) => isInBuffer)).toEqual([...new Array(rowBuffersMax).fill(true), false])
    expect(new Set(rows.map(({ row }) => row.buffer)).size).toBe(rows.length)
  })

  test('cannot be given back twice', () => {
    const buffers = new RowBuffers()
    const { row } = packRun(largeRun(1), buffers)
    buffers.giveBack(row)
    expect(() => buffers.giveBack(row)).toThrow('Cannot give back a buffer twice')
  })
})

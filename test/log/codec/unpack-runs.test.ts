import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { isBatch } from '../../../src/domain/reading/columns.ts'
import { NameCache } from '../../../src/domain/reading/name-cache.ts'
import { NamedReading } from '../../../src/domain/reading/named-reading.ts'
import { eventsOfItems, isRun, type LogItem, type ReadingRun } from '../../../src/domain/reading/recorded-run.ts'
import { readingsStream } from '../../../src/domain/stream-names.ts'
import { createCodec, type StoredRow } from '../../../src/log/codec/codec.ts'
import { RunUnpacker } from '../../../src/log/codec/unpack-runs.ts'
import type { ToAppend } from '../../../src/log/event-log.ts'
import { anyRun, runKeyId } from '../../support/random-runs.ts'

const codec = createCodec()
const stream = readingsStream(runKeyId)

const rowOf = (toAppend: ToAppend): StoredRow => {
  const [row, ...others] = codec.encode(stream, toAppend)
  if (row === undefined || others.length > 0) throw new Error('Not one row')
  return { ...row, stream, revision: 7, position: 70 }
}

const itemsOf = (row: StoredRow, first: number): readonly LogItem[] =>
  codec.decodeItems(row, first, new RunUnpacker(new NameCache(1)))

const runAndFirst = anyRun.chain((run) => fc.tuple(fc.constant(run), fc.nat({ max: run.count - 1 })))

/** What a copy of the log or an earlier version can put into one row: runs of different times, and one of their readings twice. */
const mixed = fc.tuple(anyRun, anyRun, fc.nat(2)).map(([one, other, what]) => {
  const events = [...one.events(), ...other.events()]
  if (what === 0) return events
  return events.map((event, index) => {
    if (index !== one.count) return event
    if (what === 1) return { ...event, id: 'short' }
    return { ...event, metadata: { ...event.metadata, causationId: 'another' } }
  })
})

test('items of a packed run have the events of the row, from any reading on', () => {
  fc.assert(
    fc.property(runAndFirst, ([run, first]) => {
      const row = rowOf(run)
      expect(eventsOfItems(itemsOf(row, first))).toEqual([...codec.decode(row, { first, end: row.count })])
    }),
    { seed: 20_260_301, numRuns: 500 },
  )
})

test('items of a row of several times, ids or metadata have its events', () => {
  fc.assert(
    fc.property(mixed, fc.nat(30), (events, from) => {
      const row = rowOf(events)
      const first = Math.min(from, row.count - 1)
      expect(eventsOfItems(itemsOf(row, first))).toEqual([...codec.decode(row, { first, end: row.count })])
    }),
    { seed: 20_260_301, numRuns: 500 },
  )
})

test('a run of one time comes as one run with shared names', () => {
  const names = new RunUnpacker(new NameCache())
  fc.assert(
    fc.property(anyRun, (run: ReadingRun) => {
      const row = rowOf(run)
      const [item, ...others] = codec.decodeItems(row, 0, names)
      if (item === undefined || !isRun(item)) throw new Error('Not a run')
      expect(others).toEqual([])
      for (const { readings } of item.run.requests) {
        expect(isBatch(readings) || readings instanceof NamedReading).toBe(true)
      }
    }),
    { seed: 20_260_301 },
  )
})

test('a row that is no packed run is refused like by a read of events', () => {
  fc.assert(
    fc.property(anyRun, fc.nat(), fc.nat(255), (run, at, byte) => {
      const row = rowOf(run)
      const body = Uint8Array.from(typeof row.body === 'string' ? [] : row.body)
      body[at % body.length] = byte
      const harmed = { ...row, body }
      expect(outcome(() => eventsOfItems(itemsOf(harmed, 0)))).toEqual(outcome(() => codec.decode(harmed)))
    }),
    { seed: 20_260_301, numRuns: 500 },
  )
})

const outcome = (decode: () => unknown): unknown => {
  try {
    return decode()
  } catch (cause) {
    return String(cause)
  }
}

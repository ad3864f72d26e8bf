import type { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { idempotencyForgottenAtOnceMax, repeatsModel } from '../../../src/derived/repeats/repeats-model.ts'
import { emptyTotal, totalWith, totalWithout } from '../../../src/derived/repeats/rows-total.ts'
import type { RecordedEvent } from '../../../src/domain/events.ts'
import { type IdempotentAppend, idempotentAppendAt } from '../../../src/domain/reading/idempotency-key.ts'
import { idempotencyMarginMs, idempotencyMs } from '../../../src/limits.ts'
import { modelHere } from '../../support/derived/model-here.ts'
import { sampleIdempotency, sampleRun } from '../../support/sample-run.ts'
import { reading } from '../../support/two-nodes.ts'

const keptMs = idempotencyMs + idempotencyMarginMs
const startMs = Date.UTC(2026, 2, 1, 12)

const hashOf = (number: number): string => number.toString(16).padStart(64, '0')

type Use = { readonly key: number; readonly stream?: string; readonly at?: number }

/** Readings of one request each. Each has the idempotency key with this number. */
const eventsOf = (uses: readonly Use[]): readonly RecordedEvent[] => {
  const revisions = new Map<string, number>()
  return uses.map(({ key, stream = 'readings-one', at = startMs }, index) => {
    const revision = (revisions.get(stream) ?? -1) + 1
    revisions.set(stream, revision)
    const id = `event-${index}`
    const ids = { requestId: id, correlationId: id, causationId: id }
    const idempotency = { keyHash: hashOf(key), bodyHash: hashOf(index), batch: null }
    const metadata = { by: { kind: 'cli' } as const, ...ids, idempotency }
    return {
      id,
      type: 'ReadingAccepted',
      stream,
      revision,
      position: index + 1,
      recordedAt: at,
      data: reading,
      metadata,
    }
  })
}

type Row = {
  readonly key_hash: Uint8Array
  readonly stream: string
  readonly revision: number
  readonly recorded_at: number
}

const rowsIn = (database: Database): readonly string[] =>
  database
    .query<Row, []>('SELECT key_hash, stream, revision, recorded_at FROM appends ORDER BY key_hash, stream')
    .all()
    .map((row) => `${row.key_hash.toHex()} ${row.stream} ${row.revision} ${row.recorded_at}`)

/** The newest use of each idempotency key. */
const rowsOf = (events: readonly RecordedEvent[], fromMs = 0): readonly string[] => {
  const newest = new Map<string, IdempotentAppend>()
  for (const event of events) {
    const append = idempotentAppendAt(event)
    if (append !== null) newest.set(`${append.idempotency.keyHash} ${append.stream}`, append)
  }
  return [...newest]
    .filter(([, { recordedAt }]) => recordedAt >= fromMs)
    .map(([name, { revision, recordedAt }]) => `${name} ${revision} ${recordedAt}`)
    .sort()
}

const damageIn = (database: Database): string | null => {
  const steps = repeatsModel.check?.(database)
  for (;;) {
    const step = steps?.next()
    if (step?.done === true) return step.value
  }
}

describe('repeatsModel', () => {
  const use = fc.record({ key: fc.nat(12), stream: fc.constantFrom('readings-one', 'readings-two') })

  test('has the newest use of each idempotency key, over flushes, crashes and restarts', () => {
    fc.assert(
      fc.property(fc.array(use, { maxLength: 60 }), fc.nat(60), fc.nat(60), (uses, flushedAt, crashedAt) => {
        const events = eventsOf(uses)
        const model = modelHere(repeatsModel)
        model.fold(events.slice(0, flushedAt))
        model.flush(startMs)
        model.fold(events.slice(flushedAt, flushedAt + crashedAt))
        model.reopen()
        model.fold(events.slice(flushedAt))
        model.flush(startMs)
        expect(rowsIn(model.database)).toEqual(rowsOf(events))
        expect(damageIn(model.database)).toBeNull()
      }),
    )
  })

  test('learns each request of a run at its revision', () => {
    const model = modelHere(repeatsModel)
    const run = sampleRun('k1', { revision: 5, position: 11 })
    model.fold([run])
    model.flush(startMs)
    expect(rowsIn(model.database)).toEqual([`${sampleIdempotency.keyHash} ${run.stream} 8 ${run.recordedAt}`])
  })

  test('deletes expired rows, so that a model that grew equals one that was built again', () => {
    const hours = fc.integer({ min: 0, max: 60 })
    fc.assert(
      fc.property(fc.array(fc.tuple(use, hours), { maxLength: 40 }), (uses) => {
        const times = uses.map(([, hour]) => startMs + hour * 3_600_000).sort((a, b) => a - b)
        const events = eventsOf(uses.map(([one], index) => ({ ...one, at: times[index] ?? startMs })))
        const nowMs = times.at(-1) ?? startMs
        const grown = modelHere(repeatsModel)
        for (const event of events) {
          grown.fold([event])
          grown.flush(event.recordedAt)
        }
        const built = modelHere(repeatsModel)
        built.fold(events)
        built.flush(nowMs)
        for (const model of [grown, built]) {
          expect(rowsIn(model.database)).toEqual(rowsOf(events, nowMs - keptMs))
          expect(damageIn(model.database)).toBeNull()
        }
      }),
    )
  })

  test.each([
    ['this clock is ahead', 0, 2 * keptMs],
    ['another clock is ahead', 2 * keptMs, 0],
  ])('deletes nothing while only %s', (_, eventMs, nowMs) => {
    const model = modelHere(repeatsModel)
    const events = eventsOf([{ key: 1 }, { key: 2, at: startMs + eventMs }])
    for (const event of events) {
      model.fold([event])
      model.flush(startMs + nowMs)
    }
    expect(rowsIn(model.database)).toHaveLength(2)
  })

  test('deletes an expired row one millisecond after its time', () => {
    for (const [lateMs, rows] of [
      [0, 2],
      [1, 1],
    ] as const) {
      const model = modelHere(repeatsModel)
      const atMs = startMs + keptMs + lateMs
      for (const event of eventsOf([{ key: 1 }, { key: 2, at: atMs }])) {
        model.fold([event])
        model.flush(event.recordedAt)
      }
      expect(rowsIn(model.database)).toHaveLength(rows)
    }
  })

  test('deletes more rows than it adds, but not all at once', () => {
    const model = modelHere(repeatsModel)
    const events = eventsOf([
      ...Array.from({ length: 2 * idempotencyForgottenAtOnceMax + 500 }, (_, key) => ({ key })),
      ...[1, 2, 3].map((key) => ({ key: 100_000 + key, at: startMs + keptMs + 1 })),
    ])
    model.fold(events.slice(0, -3))
    model.flush(startMs)
    const left = events.slice(-3).map((event) => {
      model.fold([event])
      model.flush(event.recordedAt)
      return rowsIn(model.database).length
    })
    expect(left[0]).toBeGreaterThan(2_000)
    expect(left[0]).toBeLessThan(events.length - idempotencyForgottenAtOnceMax)
    expect(left[2]).toBe(3)
  })
})

describe('the sum of the rows', () => {
  test('is exact at its bounds, and without a row again as before', () => {
    const most = 2 ** 53 - 1
    for (const [before, added, after] of [
      [0, most, most],
      [1, most, 0],
      [most, most, most - 1],
      [most, 1, 0],
      [most - 1, 1, most],
      [5, 0, 5],
    ] as const) {
      const grown = totalWith({ count: 3, sum: before }, added)
      expect(grown).toEqual({ count: 4, sum: after })
      expect(totalWithout(grown, added)).toEqual({ count: 3, sum: before })
    }
    expect(totalWithout(totalWith(emptyTotal, most), most)).toEqual(emptyTotal)
  })
})

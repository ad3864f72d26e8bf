import fc from 'fast-check'
import type { Reading } from '../../src/domain/reading/fields.ts'
import type { Idempotency } from '../../src/domain/reading/idempotency-key.ts'
import { NameCache } from '../../src/domain/reading/name-cache.ts'
import { ReadingRun, type RunRequest } from '../../src/domain/reading/recorded-run.ts'
import { columnsOf } from './logs/columns-of.ts'

export const runKeyId = 'k1'
export const runStartMs = Date.UTC(2026, 2, 1, 12)

const name = fc.oneof(fc.constantFrom('rack-1', 'rack-2', 'a', 'ß', '🍷'.repeat(20)), fc.string({ minLength: 1 }))
const instantMs = fc.integer({ min: runStartMs - 100_000, max: runStartMs + 2_000_000 })
const timestamp = fc
  .tuple(instantMs, fc.constantFrom('Z', '+00:00', '.5Z', '.123456789Z', '.000000001+00:00'))
  .map(([ms, end]) => `${new Date(ms).toISOString().slice(0, 19)}${end}`)

const readingOf = (cellar: string): fc.Arbitrary<Reading> =>
  fc.record({
    cellar: fc.constant(cellar),
    rack: name,
    keg: name,
    value: fc.oneof(fc.constantFrom(0, -0, 1), fc.double({ noNaN: true, noDefaultInfinity: true })),
    timestamp,
  })

const hash = fc.constantFrom('0a'.repeat(32), 'b0'.repeat(32))
const idempotencyOf = (accepted: number | null): fc.Arbitrary<Idempotency | null> =>
  fc.option(
    fc.record({
      keyHash: hash,
      bodyHash: hash,
      batch: fc.constant(accepted === null ? null : { accepted, refusals: null }),
    }),
  )

const requestId = fc.uuid({ version: 4 })

type AnyRequest = Omit<RunRequest, 'readings'> & { readonly readings: Reading | readonly Reading[] }

const requestOf = (cellar: string): fc.Arbitrary<AnyRequest> =>
  fc.oneof(
    fc.record({ requestId, readings: readingOf(cellar), idempotency: idempotencyOf(null) }),
    fc.array(readingOf(cellar), { minLength: 1, maxLength: 30 }).chain((readings) =>
      fc.record({
        requestId,
        readings: fc.constant(readings),
        idempotency: idempotencyOf(readings.length),
      }),
    ),
  )

/**
 * Where the names of a run come from. `none`: equal names are different objects. `large`: they are one object. `small`: a cache that
 * forgets most names, so equal names can be one object or several. `two`: batches take their names from two caches in turn.
 */
const cacheBits = { none: [], small: [1], large: [6], two: [6, 6] } as const
const cache = fc.constantFrom<(keyof typeof cacheBits)[]>('none', 'small', 'large', 'two')

/** Runs of one key of the cellar `c`: single readings and batches, with usual and unusual names, values and timestamps. */
export const anyRun: fc.Arbitrary<ReadingRun> = fc
  .tuple(
    fc.integer({ min: runStartMs, max: runStartMs + 1_000 }),
    fc.array(requestOf('c'), { minLength: 1, maxLength: 6 }),
    cache,
  )
  .map(([recordedAt, requests, size]) => {
    const caches = cacheBits[size].map((bits) => new NameCache(bits))
    const columns = (readings: readonly Reading[], request: number) => {
      const names = caches[request % caches.length]
      return columnsOf(readings, names === undefined ? undefined : (text) => names.named(text))
    }
    return new ReadingRun(
      runKeyId,
      recordedAt,
      requests.map(({ readings, ...rest }, request) => ({
        ...rest,
        readings: 'value' in readings ? readings : columns(readings, request),
      })),
    )
  })

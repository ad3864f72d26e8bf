import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createProjections } from '../../projections/projections.ts'
import { dayMs, instantText } from '../../src/domain/calendar.ts'
import type { RecordedEvent } from '../../src/domain/events.ts'
import { foldedToOf } from '../../src/domain/log-reference.ts'
import type { Readings } from '../../src/domain/reading/columns.ts'
import type { Reading } from '../../src/domain/reading/fields.ts'
import { eventsOfItems, type LogItem, ReadingRun, RecordedRun } from '../../src/domain/reading/recorded-run.ts'
import { cellarStream, readingsStream } from '../../src/domain/stream-names.ts'
import { futureSkewMsMax } from '../../src/limits.ts'
import { columnsOf } from '../support/logs/columns-of.ts'
import { type Draft, Recorder } from '../support/recorder.ts'
import { snapshotOf } from '../support/snapshot.ts'

const noon = Date.UTC(2026, 2, 1, 12)
const keys = [
  { keyId: 'k1', cellar: 'c' },
  { keyId: 'k2', cellar: 'c' },
  { keyId: 'k3', cellar: 'Ü\u{1F377}' },
] as const

type Point = { readonly rack: number; readonly keg: number; readonly value: number; readonly timestamp: string }

/** Either a batch of these points, or each point in a request of its own. */
type Request = { readonly points: readonly Point[]; readonly isBatch: boolean }

type Step =
  | {
      readonly kind: 'run'
      readonly key: number
      readonly requests: readonly Request[]
      readonly passedMs: number
      /** This number of readings is also delivered before the run, as events. */
      readonly eventsFirst: number
      readonly isLost: boolean
    }
  | { readonly kind: 'fence'; readonly key: number }
  | { readonly kind: 'purge'; readonly key: number; readonly share: number }

/** Delivers the same log twice: to `byRun` as runs, to `byEvent` as the events of these runs. */
class TwoWays {
  readonly byRun = createProjections()
  readonly byEvent = createProjections()
  readonly #recorder = new Recorder(noon)
  readonly #folded: RecordedEvent[] = []
  #nowMs = noon
  #requests = 0

  constructor() {
    for (const cellar of new Set(keys.map((key) => key.cellar))) {
      this.#record(cellarStream(cellar), { type: 'CellarCreated', data: { cellar, title: cellar } })
    }
    for (const { keyId, cellar } of keys) {
      const rest = { label: keyId, note: '', secretHash: 'h', limit: null, expiresAt: null, predecessorId: null }
      this.#record(`key-${keyId}`, { type: 'KeyCreated', data: { keyId, cellar, ...rest } })
    }
  }

  take(step: Step): void {
    if (step.kind === 'run') this.#takeRun(step)
    else if (step.kind === 'purge') this.#purge(step)
    else {
      const stream = readingsStream(keyOf(step.key).keyId)
      this.#record(stream, { type: 'ReadingsFenced', data: { keyRevision: 0 } })
    }
  }

  expectSame(): void {
    expect(snapshotOf(this.byRun, this.#folded, noon)).toEqual(snapshotOf(this.byEvent, this.#folded, noon))
  }

  #takeRun({ key, requests, passedMs, eventsFirst, isLost }: Omit<Extract<Step, { kind: 'run' }>, 'kind'>): void {
    const { keyId, cellar } = keyOf(key)
    const stream = readingsStream(keyId)
    const before = this.#recorder.events.findLast((event) => event.stream === stream)?.recordedAt ?? 0
    this.#nowMs += passedMs
    // Time never decreases within a stream.
    const at = Math.max(before, this.#nowMs)
    const data = requests.flatMap(({ points }) => points.map((point) => readingOf(cellar, point)))
    const stored = data.map((reading) => {
      return this.#recorder.record(stream, { type: 'ReadingAccepted', data: reading }, { at })
    })
    const [first] = stored
    if (first === undefined || isLost) return
    const inRequests = requests.flatMap(({ points, isBatch }): Readings[] => {
      const readings = points.map((point) => readingOf(cellar, point))
      return isBatch ? [columnsOf(readings)] : readings
    })
    const run = new ReadingRun(
      keyId,
      at,
      inRequests.map((readings) => ({ requestId: this.#nextId(), readings, idempotency: null })),
    )
    const recorded = new RecordedRun(run, first)
    this.#fold([...recorded.events().slice(0, eventsFirst), recorded])
  }

  #purge({ key, share }: { readonly key: number; readonly share: number }): void {
    const { keyId, cellar } = keyOf(key)
    const stream = readingsStream(keyId)
    const events = this.#recorder.events.filter((event) => event.stream === stream)
    const lastRevision = Math.floor(share * events.length) - 1
    if (lastRevision < 0) return
    const acceptedBefore = Math.floor((events[lastRevision]?.recordedAt ?? 0) / dayMs) * dayMs
    const range = { firstRevision: 0, lastRevision, readings: lastRevision + 1, acceptedBefore, lastAcceptedAt: noon }
    this.#record(cellarStream(cellar), { type: 'ReadingsPurged', data: { cellar, keyId, ...range } })
  }

  #record(stream: string, draft: Draft): void {
    this.#fold([this.#recorder.record(stream, draft, { at: this.#nowMs })])
  }

  #fold(items: readonly LogItem[]): void {
    this.byRun.fold(items)
    const events = eventsOfItems(items)
    for (const event of events) this.byEvent.fold([event])
    for (const event of events) this.#folded.push(event)
  }

  #nextId(): string {
    this.#requests += 1
    return `00000000-0000-4000-8000-${String(this.#requests).padStart(9, '0')}000`
  }
}

const keyOf = (key: number): (typeof keys)[number] => keys[key] ?? keys[0]

const readingOf = (cellar: string, { rack, keg, value, timestamp }: Point): Reading => ({
  cellar,
  rack: `rack ${rack}`,
  keg: `keg ${keg}`,
  value,
  timestamp,
})

/** There are few names, values and times, so that many readings repeat an earlier point. */
const point: fc.Arbitrary<Point> = fc.record({
  rack: fc.nat(2),
  keg: fc.nat(20),
  value: fc.constantFrom(0, -0, 21.5, 1e-7),
  timestamp: fc.constantFrom(
    '2026-03-01T11:59:58Z',
    '2026-03-01T11:59:59Z',
    '2026-03-01T12:00:00Z',
    '2026-03-01T12:00:00.0+00:00',
    '2026-03-01T12:00:00.000000001Z',
    '2026-03-01T12:00:00.000000002Z',
    '2026-03-01T12:00:00.123456789Z',
    '2026-03-02T12:00:00Z',
    '1726-03-01T12:00:00Z',
    `${instantText(noon + futureSkewMsMax).slice(0, -5)}Z`,
    instantText(noon + futureSkewMsMax + 1),
  ),
})
const pointsMax = 60
const request = fc.record({
  points: fc.oneof(
    { weight: 3, arbitrary: fc.array(point, { minLength: 1, maxLength: 4 }) },
    { weight: 1, arbitrary: fc.array(point, { minLength: 1, maxLength: pointsMax, size: 'max' }) },
  ),
  isBatch: fc.boolean(),
})
const run = fc.record({
  kind: fc.constant('run' as const),
  key: fc.nat(2),
  requests: fc.array(request, { minLength: 1, maxLength: 4 }),
  passedMs: fc.oneof({ weight: 6, arbitrary: fc.nat(3) }, { weight: 1, arbitrary: fc.constantFrom(dayMs, -dayMs, -1) }),
  eventsFirst: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(pointsMax) }),
  isLost: fc.nat(19).map((number) => number === 0),
})
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 20, arbitrary: run },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fence' as const), key: fc.nat(2) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('purge' as const),
      key: fc.nat(2),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  },
)

describe('a folded run', () => {
  test('gives the same state as its events', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 25, size: 'max' }), (steps) => {
        const ways = new TwoWays()
        for (const one of steps) ways.take(one)
        ways.expectSame()
      }),
      { numRuns: 100 },
    )
  }, 600_000)

  test('moves the position to the last reading of the run', () => {
    const data = { cellar: 'c', rack: 'r', keg: 'k', value: 1, timestamp: '2026-03-01T12:00:00Z' }
    const projections = createProjections()
    const requests = [{ requestId: '00000000-0000-4000-8000-000000000000', readings: columnsOf([data, data]) }]
    const two = new ReadingRun(
      'k1',
      noon,
      requests.map((one) => ({ ...one, idempotency: null })),
    )
    projections.fold([new RecordedRun(two, { stream: 'readings-k1', revision: 0, position: 7 })])
    expect(projections.position).toBe(8)
    const later = new RecordedRun(two, { stream: 'readings-k1', revision: 2, position: 20 })
    projections.fold([later])
    expect(projections.position).toBe(21)
    const id = '00000000-0000-4000-8000-000000000001'
    expect(foldedToOf(later)).toEqual({ position: 21, stream: 'readings-k1', revision: 3, id })
  })
})

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createProjections } from '../../projections/projections.ts'
import type { Projections } from '../../projections/queries.ts'
import { dayMs, dayOf, instantText } from '../../src/domain/calendar.ts'
import type { RecordedEvent } from '../../src/domain/events.ts'
import { cellarStream, readingsStream } from '../../src/domain/stream-names.ts'
import { futureSkewMsMax } from '../../src/limits.ts'
import { Recorder } from '../support/recorder.ts'
import { snapshotOf } from '../support/snapshot.ts'

const noon = Date.UTC(2026, 2, 1, 12)
const hourMs = 3_600_000
const keyIds = ['k1', 'k2', 'k3'] as const

type Step =
  | {
      readonly kind: 'reading'
      readonly key: number
      readonly keg: number
      readonly value: number
      readonly skewMs: number
      readonly behindMs: number
    }
  | { readonly kind: 'fence'; readonly key: number }
  | { readonly kind: 'purge'; readonly keys: readonly boolean[]; readonly ageMs: number }

/** A log with purges, and projections that folded all of it. */
class Cellar {
  readonly recorder = new Recorder(noon)
  readonly live = createProjections()
  readonly #gone = new Map<string, number>()
  #nowMs = noon

  constructor() {
    this.#record(cellarStream('c'), { type: 'CellarCreated', data: { cellar: 'c', title: 'c' } })
    for (const keyId of keyIds) {
      const rest = {
        cellar: 'c',
        label: keyId,
        note: '',
        secretHash: 'h',
        limit: null,
        expiresAt: null,
        predecessorId: null,
      }
      this.#record(`key-${keyId}`, { type: 'KeyCreated', data: { keyId, ...rest } })
    }
  }

  get surviving(): readonly RecordedEvent[] {
    return this.recorder.events.filter(({ stream, revision }) => revision >= (this.#gone.get(stream) ?? 0))
  }

  do(step: Step): void {
    this.#nowMs += hourMs
    if (step.kind === 'purge') this.purge(step, dayOf(this.#nowMs - step.ageMs) * dayMs)
    else if (step.kind === 'fence') {
      this.#record(this.#streamOf(step.key), { type: 'ReadingsFenced', data: { keyRevision: 0 } }, this.#nowMs)
    } else this.read(step, this.#nowMs + step.skewMs)
  }

  read({ key, keg, value, behindMs }: Omit<Extract<Step, { kind: 'reading' }>, 'kind' | 'skewMs'>, at: number): void {
    const timestamp = instantText(at - behindMs)
    const data = { cellar: 'c', rack: 'r', keg: `keg ${keg}`, value, timestamp }
    this.#record(this.#streamOf(key), { type: 'ReadingAccepted', data }, at)
  }

  purge({ keys }: { readonly keys: readonly boolean[] }, acceptedBefore: number): void {
    for (const [index, keyId] of keyIds.entries()) {
      if (keys[index] !== true) continue
      const stream = readingsStream(keyId)
      const firstRevision = this.#gone.get(stream) ?? 0
      const left = this.recorder.events.filter((event) => event.stream === stream && event.revision >= firstRevision)
      const lastReading = left.findLastIndex(({ type }) => type === 'ReadingAccepted')
      const end = left.findIndex(({ recordedAt }) => recordedAt >= acceptedBefore)
      const purged = left.slice(0, Math.min(end < 0 ? left.length : end, Math.max(0, lastReading)))
      const readings = purged.filter(({ type }) => type === 'ReadingAccepted')
      if (purged.length === 0) continue
      const range = { firstRevision, lastRevision: firstRevision + purged.length - 1, readings: readings.length }
      const times = { acceptedBefore, lastAcceptedAt: readings.at(-1)?.recordedAt ?? 0 }
      const data = { cellar: 'c', keyId, ...range, ...times }
      this.#record(cellarStream('c'), { type: 'ReadingsPurged', data }, this.#nowMs)
      this.#gone.set(stream, firstRevision + purged.length)
    }
  }

  #streamOf(key: number): string {
    return readingsStream(keyIds[key] ?? keyIds[0])
  }

  /** Time never decreases within a stream. So an event gets at least the time of the event before it. */
  #record(stream: string, draft: Parameters<Recorder['record']>[1], at = noon): void {
    const before = this.recorder.events.findLast((event) => event.stream === stream)?.recordedAt ?? 0
    this.live.fold([this.recorder.record(stream, draft, { at: Math.max(at, before) })])
  }
}

const replayOf = (events: readonly RecordedEvent[]): Projections => {
  const projections = createProjections()
  projections.fold(events)
  return projections
}

/** As a start begins: without the readings, but with the end of each stream of them. */
const begunWith = (events: readonly RecordedEvent[]): Projections => {
  const projections = replayOf(events.filter(({ type }) => type !== 'ReadingAccepted'))
  const ofKeys = keyIds.map((keyId) => events.filter(({ stream }) => stream === readingsStream(keyId)))
  projections.reach(
    ofKeys.flatMap((ofKey) => {
      const [first, last] = [ofKey[0], ofKey.at(-1)]
      if (first === undefined || last === undefined) return []
      const lastReading = ofKey.findLast(({ type }) => type === 'ReadingAccepted') ?? null
      return [{ stream: last.stream, revision: last.revision, keptFrom: first.revision, last: lastReading }]
    }),
  )
  return projections
}

const reading = fc.record({
  kind: fc.constant('reading' as const),
  key: fc.nat(2),
  keg: fc.nat(1),
  value: fc.nat(1),
  skewMs: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.integer({ min: -3 * hourMs, max: 3 * hourMs })),
  behindMs: fc.oneof(
    { weight: 6, arbitrary: fc.constant(0) },
    fc.integer({ min: 0, max: 5 }).map((days) => days * dayMs),
    fc.constant(-futureSkewMsMax - 1),
  ),
})
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 60, arbitrary: reading },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fence' as const), key: fc.nat(2) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('purge' as const),
      keys: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
      ageMs: fc.integer({ min: 0, max: 4 * dayMs }),
    }),
  },
)
const stepsOf = <T>(max: number, one: fc.Arbitrary<T>) => fc.array(one, { minLength: 5, maxLength: max, size: 'max' })
const history = stepsOf(400, step)

describe('after a purge the projections', () => {
  test('equal a replay of the surviving events, and a start without the readings', () => {
    fc.assert(
      fc.property(history, (steps) => {
        const cellar = new Cellar()
        for (const one of steps) {
          cellar.do(one)
          if (one.kind !== 'purge') continue
          const events = cellar.surviving
          expect(snapshotOf(replayOf(events), events, noon)).toEqual(snapshotOf(cellar.live, events, noon))
          expect(snapshotOf(begunWith(events), events, noon)).toEqual(snapshotOf(cellar.live, events, noon))
          expect(cellar.live.readings.gaps()).toEqual([])
        }
      }),
      { numRuns: 30 },
    )
  })

  test('are the same on a node that was behind', () => {
    fc.assert(
      fc.property(history, fc.nat(400), (steps, folded) => {
        const cellar = new Cellar()
        for (const one of steps) cellar.do(one)
        const survivors = cellar.surviving
        const behind = createProjections()
        behind.fold(cellar.recorder.events.filter(({ position }) => position <= folded))
        behind.fold(survivors.filter(({ position }) => position > folded))
        expect(snapshotOf(behind, survivors, noon)).toEqual(snapshotOf(cellar.live, survivors, noon))
      }),
      { numRuns: 30 },
    )
  })

  test('are the same if the purge is folded before the surviving readings', () => {
    const cellar = new Cellar()
    for (let number = 0; number < 30; number += 1)
      cellar.do({ kind: 'reading', key: 0, keg: 0, value: number, skewMs: 0, behindMs: 0 })
    cellar.do({ kind: 'purge', keys: [true, false, false], ageMs: 0 })
    const events = cellar.surviving
    const [readings, others] = [events.filter(isOfReadings), events.filter((event) => !isOfReadings(event))]
    expect(snapshotOf(replayOf([...others, ...readings]), events, noon)).toEqual(snapshotOf(cellar.live, events, noon))
  })

  test('count every accepted reading, and keep the last one', () => {
    const cellar = new Cellar()
    for (let number = 0; number < 30; number += 1)
      cellar.do({ kind: 'reading', key: 0, keg: 0, value: number, skewMs: 0, behindMs: 0 })
    cellar.do({ kind: 'fence', key: 0 })
    cellar.purge({ keys: [true, false, false] }, dayOf(noon + 9 * dayMs) * dayMs)
    const replayed = replayOf(cellar.surviving)
    expect(cellar.surviving.filter(isOfReadings)).toHaveLength(2)
    for (const { readings } of [cellar.live, replayed]) {
      expect(readings.usage('k1')).toMatchObject({
        accepted: 30,
        lastUsedAt: noon + 30 * hourMs,
        last: { revision: 30 - 1 },
      })
      expect(readings.purged('k1')).toMatchObject({ keptFrom: 29, readings: 29 })
    }
  })
})

describe('a missing revision of readings', () => {
  const events = (): readonly RecordedEvent[] => {
    const cellar = new Cellar()
    for (let number = 0; number < 30; number += 1)
      cellar.do({ kind: 'reading', key: 0, keg: 0, value: number, skewMs: 0, behindMs: 0 })
    cellar.do({ kind: 'purge', keys: [true, false, false], ageMs: 0 })
    return cellar.surviving
  }

  test('is a gap until a purge explains it', () => {
    const survivors = events()
    const projections = createProjections()
    projections.fold(survivors.filter(({ type }) => type !== 'ReadingsPurged'))
    expect(projections.readings.gaps()).toEqual(['k1'])
    projections.fold(survivors)
    expect(projections.readings.gaps()).toEqual([])
  })

  test('stays a gap if a purge explains less', () => {
    const survivors = events()
    const [first, ...rest] = survivors.filter(isOfReadings)
    const projections = createProjections()
    projections.fold(survivors.filter((event) => event !== first))
    expect(rest.length).toBeGreaterThan(0)
    expect(projections.readings.gaps()).toEqual(['k1'])
  })
})

const isOfReadings = ({ stream }: RecordedEvent): boolean => stream.startsWith('readings-')

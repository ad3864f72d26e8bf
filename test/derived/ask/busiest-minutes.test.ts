import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { eachLoad, type KeyLoad } from '../../../src/actors/search/find-keys.ts'
import { askModel } from '../../../src/derived/ask/ask-model.ts'
import type { RecordedEvent } from '../../../src/domain/events.ts'
import { cellarStream, keyStream, readingsStream } from '../../../src/domain/stream-names.ts'
import { askPeakHoursMax } from '../../../src/limits.ts'
import { prepareAskStatements } from '../../../src/log/ask-index/queries/ask-statements.ts'
import { keyDaysOf } from '../../../src/log/ask-index/queries/key-days.ts'
import { keyLoadsOf } from '../../../src/log/ask-index/queries/key-loads.ts'
import { racksOfKeys } from '../../../src/log/ask-index/queries/racks-of-keys.ts'
import type { KeyLoads } from '../../../src/log/ask-index.ts'
import { askFromLog } from '../../support/ask/ask-from-log.ts'
import { contentsOf, withoutIds } from '../../support/ask/file-contents.ts'
import { MemoryAskIndex } from '../../support/ask/memory-ask-index.ts'
import { modelHere } from '../../support/derived/model-here.ts'
import { Recorder } from '../../support/recorder.ts'

const hourMs = 3_600_000
const midnight = Date.UTC(2026, 2, 2)
const keyIds = ['k0', 'k1', 'k2'] as const
const cellarOf = (key: number): string => (key === 1 ? 'south' : 'north')

type Step = {
  readonly key: number
  readonly what: 'readings' | 'refusals' | 'purge'
  readonly count: number
  readonly rack: number
  readonly passedMs: number
  readonly ending: 'go on' | 'flush' | 'restart'
}

const step: fc.Arbitrary<Step> = fc.record({
  key: fc.nat(keyIds.length - 1),
  what: fc.constantFrom('readings', 'readings', 'readings', 'readings', 'readings', 'readings', 'refusals', 'purge'),
  count: fc.integer({ min: 1, max: 9 }),
  rack: fc.nat(4),
  passedMs: fc.constantFrom(0, 1_000, 7_000, 25_000, 25_000, 70_000, 1_500_000),
  ending: fc.constantFrom('go on', 'go on', 'flush', 'restart'),
})

const keyCreated = (keyId: string, cellar: string) => {
  const rest = { label: '', note: '', secretHash: 'h', limit: null, expiresAt: null, predecessorId: null }
  return { type: 'KeyCreated' as const, data: { keyId, cellar, ...rest } }
}

/** The events of each step. A history begins in the evening, and most histories pass midnight. */
const historyOf = (steps: readonly Step[]): readonly (readonly RecordedEvent[])[] => {
  const recorder = new Recorder()
  let at = midnight - 2 * hourMs
  const begun = keyIds.flatMap((keyId, key) => {
    const cellar = cellarOf(key)
    return [
      recorder.record(cellarStream(cellar), { type: 'CellarCreated', data: { cellar, title: '' } }, { at }),
      recorder.record(keyStream(keyId), keyCreated(keyId, cellar), { at }),
    ]
  })
  const revisions = new Map<string, number>()
  const purged = new Set<string>()
  const ofStep = ({ key, what, count, rack, passedMs }: Step): readonly RecordedEvent[] => {
    at += passedMs
    const cellar = cellarOf(key)
    const keyId = keyIds[key] ?? 'k0'
    const readings = readingsStream(keyId)
    if (what === 'refusals') {
      const data = { from: at, to: at, counts: [{ code: 'rate_limited', count }], samples: [] }
      return [recorder.record(`refusals-${keyId}`, { type: 'ReadingsRefused', data }, { at })]
    }
    if (what === 'readings') {
      const data = { cellar, rack: `rack-${rack}`, keg: 'k', value: 1, timestamp: '2026-03-01T12:00:00Z' }
      return Array.from({ length: count }, () => {
        if (at < midnight) revisions.set(readings, (revisions.get(readings) ?? -1) + 1)
        return recorder.record(readings, { type: 'ReadingAccepted', data }, { at })
      })
    }
    // The readings of the evening are purged, but for the last one of the key.
    const lastRevision = (revisions.get(readings) ?? -1) - 1
    if (at < midnight || lastRevision < 0 || purged.has(keyId)) return []
    purged.add(keyId)
    const range = { cellar, keyId, firstRevision: 0, lastRevision, readings: lastRevision + 1 }
    const dates = { acceptedBefore: midnight, lastAcceptedAt: midnight - 1 }
    return [recorder.record(cellarStream(cellar), { type: 'ReadingsPurged', data: { ...range, ...dates } }, { at })]
  }
  return [begun, ...steps.map(ofStep)]
}

const nowMs = midnight + 12 * hourMs

/** As the steps say, with flushes and restarts. */
const grown = (steps: readonly Step[], history: readonly (readonly RecordedEvent[])[]) => {
  const model = modelHere(askModel)
  for (const [number, events] of history.entries()) {
    model.fold(events)
    const ending = steps[number - 1]?.ending ?? 'go on'
    if (ending !== 'go on') model.flush(nowMs)
    if (ending === 'restart') model.reopen()
  }
  model.flush(nowMs)
  return model.database
}

/** All at once, from what a purge has left. */
const rebuilt = (events: readonly RecordedEvent[]) => {
  const isPurged = ({ stream, revision }: RecordedEvent): boolean =>
    events.some(
      ({ type, data }) =>
        type === 'ReadingsPurged' && stream === readingsStream(data.keyId) && revision <= data.lastRevision,
    )
  const model = modelHere(askModel)
  model.fold(events.filter((event) => !isPurged(event)))
  model.flush(nowMs)
  return model.database
}

const whole = <T>(steps: Generator<unknown, T>): T => {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

const listOf = (loads: KeyLoads): readonly KeyLoad[] =>
  [...eachLoad(loads)].sort((a, b) => (a.keyId < b.keyId ? -1 : 1))

test('the questions about keys tell the busiest minute, for any history, flushes, restarts and purges', () => {
  const fromHour = midnight / hourMs - 2
  const anyHour = fc.integer({ min: fromHour, max: fromHour + 10 })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), anyHour, anyHour, (steps, hour, todayHour) => {
      const history = historyOf(steps)
      const contents = askFromLog(history.flat())
      const naive = MemoryAskIndex.holding(contents)
      const wantedDays = { keyIds: ['nobody', ...keyIds], fromHour, toHour: hour }
      for (const database of [grown(steps, history), rebuilt(history.flat())]) {
        expect(contentsOf(database).hourCounts).toEqual(withoutIds(contents).hourCounts)
        const statements = prepareAskStatements(database)
        for (const cellar of [null, 'north', 'south', 'nowhere']) {
          const wanted = { fromHour: hour, todayHour, cellar }
          expect(listOf(whole(keyLoadsOf(statements, wanted)))).toEqual(listOf(whole(naive.keyLoads(wanted))))
        }
        expect(whole(keyDaysOf(statements, wantedDays))).toEqual(whole(naive.keyDays(wantedDays)))
        expect(whole(racksOfKeys(statements, keyIds))).toEqual(whole(naive.racksOfKeys(keyIds)))
      }
    }),
    { numRuns: 150 },
  )
})

test('the busiest minutes of a key are kept for two days, however they fall', () => {
  const recorder = new Recorder()
  const data = { cellar: 'north', rack: 'r', keg: 'k', value: 1, timestamp: '2026-03-01T12:00:00Z' }
  const model = modelHere(askModel)
  model.fold([recorder.record(keyStream('k0'), keyCreated('k0', 'north'), { at: midnight })])
  const hours = 70
  for (let hour = 0; hour < hours; hour += 1) {
    const at = midnight + hour * hourMs
    model.fold(
      Array.from({ length: hours - hour }, () =>
        recorder.record(readingsStream('k0'), { type: 'ReadingAccepted', data }, { at }),
      ),
    )
    model.flush(at)
  }
  const rows = model.database.query<{ rows: number }, []>('SELECT count(*) AS rows FROM peaks').get()?.rows
  expect(rows).toBe(askPeakHoursMax + 1)
  const wanted = { fromHour: midnight / hourMs + hours - 24, todayHour: null, cellar: null }
  expect(listOf(whole(keyLoadsOf(prepareAskStatements(model.database), wanted)))).toEqual([
    { keyId: 'k0', busiest: 24, refusedToday: 0 },
  ])
})

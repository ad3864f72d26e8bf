import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { askHoursKeptMs, askKeysKeptMax, askMinutesKeptMs } from '../../../src/derived/ask/ask-fold.ts'
import { askModel } from '../../../src/derived/ask/ask-model.ts'
import { askSeenRacksMax } from '../../../src/derived/ask/seen-rows.ts'
import type { RecordedEvent } from '../../../src/domain/events.ts'
import { cellarStream } from '../../../src/domain/stream-names.ts'
import { askFromLog } from '../../support/ask/ask-from-log.ts'
import { contentsOf, withoutIds } from '../../support/ask/file-contents.ts'
import { modelHere } from '../../support/derived/model-here.ts'
import { randomHistory } from '../../support/random-history.ts'
import { Recorder } from '../../support/recorder.ts'

const lastMs = (events: readonly RecordedEvent[]): number => events.at(-1)?.recordedAt ?? 0

/** Flushes after each `size` events. After each flush, `reopened` says whether the model is opened again. */
const folded = (events: readonly RecordedEvent[], size: number, reopened: (at: number) => boolean = () => false) => {
  const model = modelHere(askModel)
  for (let at = 0; at < events.length; at += size) {
    model.fold(events.slice(at, at + size))
    model.flush(lastMs(events))
    if (reopened(at)) model.reopen()
  }
  return contentsOf(model.database)
}

const countRows = (model: ReturnType<typeof modelHere>, table: string): number =>
  model.database.query<{ count: number }, []>(`SELECT count(*) AS count FROM ${table}`).get()?.count ?? 0

describe('askModel', () => {
  test('says what a simple computation says, for any history, flushes and restarts', () => {
    const size = fc.integer({ min: 1, max: 50 })
    fc.assert(
      fc.property(randomHistory(), size, fc.boolean(), (events, eventsEach, isReopened) => {
        const contents = folded(events, eventsEach, () => isReopened)
        expect(contents).toEqual(withoutIds(askFromLog(events)))
      }),
      { numRuns: 60 },
    )
  })

  test('loses what was not flushed, and folds it again after a restart', () => {
    fc.assert(
      fc.property(randomHistory(), fc.nat(200), fc.nat(200), (events, flushedAt, crashedAt) => {
        const model = modelHere(askModel)
        model.fold(events.slice(0, flushedAt))
        model.flush(lastMs(events))
        model.fold(events.slice(flushedAt, flushedAt + crashedAt))
        model.reopen()
        model.fold(events.slice(flushedAt))
        model.flush(lastMs(events))
        expect(contentsOf(model.database)).toEqual(withoutIds(askFromLog(events)))
      }),
      { numRuns: 40 },
    )
  })

  test('says the same if it was built before a purge or after it', () => {
    const { events, kept } = purgedHistory()
    const before = folded(events, 3)
    const after = folded(kept, 4)
    expect(after).toEqual(withoutIds(askFromLog(kept)))
    // The first event of a minute can be purged. Its position is still a good place to begin a search.
    expect(before).toEqual({ ...after, minutes: withoutIds(askFromLog(events)).minutes })
    const codes = before.minuteCounts.map(({ code, count }) => `${code} ${count}`)
    // Each count is one of the cellar and one of all cellars. Only the node's own refusals have no cellar.
    expect(codes.sort()).toEqual([
      'accepted 1',
      'accepted 1',
      'key_is_suspended 5',
      'key_is_suspended 5',
      'unknown_key 7',
    ])
  })

  test('counts each hour of a key once, with more keys than it keeps', () => {
    const model = modelHere(askModel)
    const recorder = new Recorder()
    const data = { cellar: 'c', rack: 'r', keg: 'k', value: 1, timestamp: '2026-03-01T12:00:00Z' }
    const key = { cellar: 'c', label: '', note: '', secretHash: 'h', limit: null, expiresAt: null, predecessorId: null }
    for (let number = 0; number <= askKeysKeptMax; number += 1) {
      const keyId = `k${number}`
      recorder.record(`key-${keyId}`, { type: 'KeyCreated', data: { ...key, keyId } }, { at: midnight })
    }
    const accept = (keyId: string, hour: number): void => {
      const at = midnight + hour * 3_600_000
      recorder.record(`readings-${keyId}`, { type: 'ReadingAccepted', data }, { at })
    }
    let at = 0
    for (const keys of [askKeysKeptMax + 1, 1]) {
      for (let number = 0; number < keys; number += 1) accept(`k${number}`, 1)
      accept('k0', 1)
      accept('k0', 2)
      model.fold(recorder.events.slice(at))
      at = recorder.events.length
      model.flush(midnight)
    }
    const ofFirst = contentsOf(model.database).hourCounts.filter((one) => one['key'] === 'k0')
    expect(ofFirst.map((one) => one['count'])).toEqual([4, 2])
    expect(countRows(model, 'hour_counts')).toBe(askKeysKeptMax + 2)
  })

  test('counts nothing that is too old, and deletes what becomes too old', () => {
    const { events } = purgedHistory()
    const model = modelHere(askModel)
    model.fold(events)
    model.flush(lastMs(events) + askHoursKeptMs + 3_600_000)
    expect(countRows(model, 'minute_counts') + countRows(model, 'hour_counts')).toBe(0)
    expect(countRows(model, 'seen')).toBeGreaterThan(0)

    const grown = modelHere(askModel)
    grown.fold(events)
    grown.flush(lastMs(events))
    expect(countRows(grown, 'minute_counts')).toBeGreaterThan(0)
    grown.flush(lastMs(events) + askMinutesKeptMs + 60_000)
    expect(countRows(grown, 'minute_counts')).toBe(0)
    expect(countRows(grown, 'hour_counts')).toBeGreaterThan(0)
    grown.flush(lastMs(events) + askHoursKeptMs + 3_600_000)
    expect(countRows(grown, 'hour_counts')).toBe(0)
  })

  test('forgets the racks that were seen longest ago, and says since when it knows all', () => {
    const model = modelHere(askModel)
    const recorder = new Recorder(midnight)
    const data = { cellar: 'c', keg: 'k', value: 1, timestamp: '2026-03-01T12:00:00Z' }
    const firstMinute = midnight / 60_000
    let racks = 0
    const known = () => {
      const from = model.database.query<{ minute: number }, []>('SELECT minute FROM seen_from').get()?.minute ?? null
      return { from, racks: model.database.query<{ minute: number }, []>('SELECT minute FROM seen').all() }
    }
    const seeUntil = (total: number): void => {
      const before = recorder.events.length
      for (; racks < total; racks += 1) {
        const at = midnight + 60_000 * Math.floor(racks / 7_000)
        recorder.record('readings-k1', { type: 'ReadingAccepted', data: { ...data, rack: `r${racks}` } }, { at })
      }
      model.fold(recorder.events.slice(before))
      model.flush(midnight)
      model.reopen()
    }
    seeUntil(askSeenRacksMax)
    expect([known().from, known().racks.length]).toEqual([null, askSeenRacksMax])
    for (const [total, minute] of [
      [askSeenRacksMax + 1, 1],
      [askSeenRacksMax + 9_000, 2],
    ] as const) {
      seeUntil(total)
      const { from, racks: left } = known()
      expect([from, left.length <= askSeenRacksMax]).toEqual([firstMinute + minute, true])
      const since = left.filter((one) => one.minute >= firstMinute + minute).length
      expect(since).toBe(total - 7_000 * minute)
    }
  })
})

const midnight = Date.UTC(2026, 2, 2)

/** Readings and refusals of two days. The first day is purged. `kept` is what the log shows after that. */
const purgedHistory = () => {
  const recorder = new Recorder()
  const evening = midnight - 60_000
  const morning = midnight + 60_000
  const refused = (stream: string, code: string, at: number, count: number): void => {
    const data = { from: at, to: at, counts: [{ code, count }], samples: [] }
    recorder.record(stream, { type: 'ReadingsRefused', data }, { at })
  }
  const accepted = (rack: string, at: number): void => {
    const data = { cellar: 'c', rack, keg: 'k', value: 1, timestamp: '2026-03-01T12:00:00Z' }
    recorder.record('readings-k1', { type: 'ReadingAccepted', data }, { at })
  }
  recorder.record('cellarbook-log', { type: 'LogCreated', data: { logId: 'log-1' } })
  recorder.record(cellarStream('c'), { type: 'CellarCreated', data: { cellar: 'c', title: 'C' } })
  const key = { keyId: 'k1', cellar: 'c', label: '', note: '', secretHash: 'h', limit: null, expiresAt: null }
  recorder.record('key-k1', { type: 'KeyCreated', data: { ...key, predecessorId: null } })
  accepted('rack-1', evening)
  accepted('rack-2', evening)
  refused('refusals-k1', 'rate_limited', evening, 3)
  refused('refusals-node', 'unknown_key', evening, 7)
  recorder.record('readings-k1', { type: 'ReadingsFenced', data: { keyRevision: 0 } }, { at: evening })
  accepted('rack-3', morning)
  refused('refusals-k1', 'key_is_suspended', morning, 5)
  const dates = { acceptedBefore: midnight, lastAcceptedAt: evening }
  const range = { cellar: 'c', keyId: 'k1', firstRevision: 0, lastRevision: 2, readings: 2 }
  recorder.record(cellarStream('c'), { type: 'ReadingsPurged', data: { ...range, ...dates } }, { at: morning })
  const records = { firstRevision: 0, lastRevision: 0, recordedBefore: midnight }
  recorder.record('refusals-k1', { type: 'RecordsPurged', data: records }, { at: morning })
  const { events } = recorder
  const isKept = ({ stream, revision }: RecordedEvent): boolean =>
    !(stream === 'readings-k1' && revision <= 2) && !(stream === 'refusals-k1' && revision === 0)
  return { events, kept: events.filter(isKept) }
}

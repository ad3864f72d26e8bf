import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createProjections } from '../../../projections/projections.ts'
import { AskFold } from '../../../src/actors/ask/ask-fold.ts'
import type { RecordedEvent } from '../../../src/domain/events.ts'
import { cellarStream } from '../../../src/domain/stream-names.ts'
import { askHoursKeptMs, askKeysKeptMax } from '../../../src/limits.ts'
import { askFromLog } from '../../support/ask/ask-from-log.ts'
import { MemoryAskIndex } from '../../support/ask/memory-ask-index.ts'
import { randomHistory } from '../../support/random-history.ts'
import { Recorder } from '../../support/recorder.ts'

/** Folds the events in changes of `size` events. */
const indexOf = async (events: readonly RecordedEvent[], size: number): Promise<MemoryAskIndex> => {
  const projections = createProjections()
  const index = new MemoryAskIndex()
  const fold = new AskFold({
    ofKey: (keyId) => projections.keys.get(keyId)?.cellar ?? null,
    ofStream: (stream) => projections.cellars.ofStream(stream)?.cellar ?? null,
  })
  const nowMs = events.at(-1)?.recordedAt ?? 0
  fold.begin(null, -1, nowMs)
  for (let at = 0; at < events.length; at += size) {
    const part = events.slice(at, at + size)
    projections.fold(part)
    fold.fold(part)
    const change = fold.take(nowMs)
    if (change !== null) await index.write(change)
  }
  return index
}

describe('AskFold', () => {
  test('says what a simple computation says, for any history and any size of changes', async () => {
    await fc.assert(
      fc.asyncProperty(randomHistory(), fc.integer({ min: 1, max: 50 }), async (events, size) => {
        const index = await indexOf(events, size)
        expect(index.contents()).toEqual(askFromLog(events))
        expect(index.foldedTo?.position).toBe(events.at(-1)?.position)
      }),
      { numRuns: 60 },
    )
  })

  test('says the same if it was built before a purge or after it', async () => {
    const { events, kept } = purgedHistory()
    const before = await indexOf(events, 3)
    const after = await indexOf(kept, 4)
    expect(after.contents()).toEqual(askFromLog(kept))
    // The first event of a minute can be purged. Its position is still a good place to begin a search.
    expect(before.contents()).toEqual({ ...askFromLog(kept), minutes: askFromLog(events).minutes })
    const codes = before.contents().minuteCounts.map(({ code, count }) => `${code} ${count}`)
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
    const fold = new AskFold({ ofKey: () => 'c', ofStream: () => null })
    fold.begin(null, -1, midnight)
    const recorder = new Recorder()
    const data = { cellar: 'c', rack: 'r', keg: 'k', value: 1, timestamp: '2026-03-01T12:00:00Z' }
    const accept = (keyId: string, hour: number): void => {
      const at = midnight + hour * 3_600_000
      recorder.record(`readings-${keyId}`, { type: 'ReadingAccepted', data }, { at })
    }
    let folded = 0
    for (const keys of [askKeysKeptMax, askKeysKeptMax + 1, 1]) {
      for (let key = 0; key < keys; key += 1) accept(`k${key}`, 1)
      accept('k0', 1)
      accept('k0', 2)
      fold.fold(recorder.events.slice(folded))
      folded = recorder.events.length
      const counted = [...(fold.take(midnight)?.hourCounts ?? [])]
      expect(counted.length).toBe(keys + 1)
      const ofFirst = counted.filter(({ key }) => key === 'k0')
      expect(ofFirst.map(({ hour, count }) => [hour - midnight / 3_600_000, count])).toEqual([
        [1, 2],
        [2, 1],
      ])
    }
  })

  test('counts nothing that is too old', async () => {
    const { events } = purgedHistory()
    const fold = new AskFold({ ofKey: () => 'c', ofStream: () => 'c' })
    const last = events.at(-1)?.recordedAt ?? 0
    fold.begin(null, -1, last + askHoursKeptMs + 1)
    fold.fold(events)
    const change = fold.take(last)
    expect(change?.minuteCounts).toEqual([])
    expect(change?.hourCounts).toEqual([])
    expect([...(change?.seen ?? [])].length).toBeGreaterThan(0)
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

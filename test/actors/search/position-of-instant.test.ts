import { afterEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { firstEventSince, positionBefore, someEventSince } from '../../../src/actors/search/position-of-instant.ts'
import type { NewEvent, RecordedEvent } from '../../../src/domain/events.ts'
import { keyStream, readingsStream } from '../../../src/domain/stream-names.ts'
import { logReadPageEvents, readPageEventsMax, recordedSkewMsMax } from '../../../src/limits.ts'
import { AskBusy, AskUnusable } from '../../../src/log/ask-index.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { allEvents, askFromLog } from '../../support/ask/ask-from-log.ts'
import { openFreshLog, storeUrl } from '../../support/logs/engine.ts'
import { openAt } from '../../support/logs/event-store-log.ts'
import { createMemoryLog } from '../../support/logs/memory-log.ts'
import { freshRecordStream, keySuspended, reading, recordsPurged, startMs } from '../../support/logs/sample-events.ts'

/**
 * One event: the number of its stream, and its time after `startMs`. A negative number names a stream of records. From `keysFrom`
 * on, a number names the stream of a key; without it, that of the key's readings.
 */
type Entry = readonly [stream: number, atMs: number]

const keysFrom = 10_000

const nameOf = (stream: number): string => {
  if (stream < 0) return freshRecordStream('signins')
  return stream < keysFrom ? readingsStream(`key${stream}`) : keyStream(`key${stream - keysFrom}`)
}

const eventOf = (stream: string, atMs: number): NewEvent => {
  if (stream.startsWith('readings-')) return reading(stream, {}, atMs)
  return stream.startsWith('key-') ? keySuspended('', atMs) : recordsPurged(atMs)
}

const opened: EventLog[] = []
afterEach(async () => {
  for (const log of opened.splice(0)) await log.close()
})

/** Appends the entries in this order. Consecutive entries of a stream become one append. */
const fill = async (log: EventLog, entries: readonly Entry[]): Promise<EventLog> => {
  opened.push(log)
  const names = new Map<number, string>()
  const revisions = new Map<number, number>()
  for (let index = 0; index < entries.length; ) {
    const stream = entries[index]?.[0] ?? 0
    const end = entries.findIndex(([other], at) => at > index && (other !== stream || at - index >= 500))
    const run = entries.slice(index, end < 0 ? entries.length : end)
    const name = names.get(stream) ?? nameOf(stream)
    names.set(stream, name)
    const events = run.map(([, atMs]) => eventOf(name, startMs + atMs))
    const revision = revisions.get(stream)
    const result = await log.append(name, revision ?? 'none', events)
    expect(result.outcome).toBe('written')
    revisions.set(stream, (revision ?? -1) + run.length)
    index += run.length
  }
  return log
}

/** Counts the events that are read. `lags` chooses the search for EventStoreDB. */
const counted = (log: EventLog, lags: boolean) => {
  const counts = { events: 0, readsOfStreams: 0 }
  const count = (events: readonly RecordedEvent[]) => {
    counts.events += events.length
    return events
  }
  const watched: EventLog = {
    ...log,
    lags,
    read: async (stream, options) => {
      counts.readsOfStreams += 1
      return count(await log.read(stream, options))
    },
    readAll: async (options) => count(await log.readAll(options)),
  }
  return { counts, log: watched }
}

const eventsAfter = async (log: EventLog, position: number | null) =>
  log.readAll({ ...(position === null ? {} : { from: position }), limit: readPageEventsMax })

/** Entries at `stepMs` from each other, each in the next one of `streams` streams. */
const inTurns = (count: number, streams: number, stepMs: number): readonly Entry[] =>
  Array.from({ length: count }, (_, index) => [index % streams, index * stepMs] as const)

describe('positionBefore()', () => {
  test.each([
    ['the embedded log or the chosen engine', openFreshLog],
    ['a separate store', async () => openAt(await storeUrl())],
  ])('finds each instant in %s', async (_, open) => {
    const entries = inTurns(3 * logReadPageEvents, 4, 5_000)
    const log = await fill(await open(), entries)
    const all = await log.readAll({ limit: readPageEventsMax })
    for (const index of [0, 1, 4, 199, 200, 201, 350, entries.length - 1]) {
      const event = all[index]
      const position = await positionBefore(log, event?.recordedAt ?? 0)
      // Of the events before, those of the last 10 s lie after the position too.
      expect([index, position]).toEqual([index, all[index - 3]?.position ?? null])
      expect(await firstEventSince(log, event?.recordedAt ?? 0)).toEqual(event ?? null)
    }
    expect(await positionBefore(log, startMs + 10 * 5_000 * entries.length)).toBe(all.at(-1)?.position ?? null)
    expect(await firstEventSince(log, startMs + 10 * 5_000 * entries.length)).toBeNull()
  })
})

test('streams that lead no further are seldom searched', async () => {
  // All events of a stream lie side by side, so no stream of a page leads beyond it.
  const pages = 15
  const perStream = 20
  const entries = Array.from(
    { length: pages * logReadPageEvents },
    (_, index) => [Math.floor(index / perStream), 0] as const,
  )
  const { log, counts } = counted(await fill(createMemoryLog(), [...entries, [entries.length, 3_600_000]]), true)
  const all = await allEvents(log)
  counts.readsOfStreams = 0
  expect(await positionBefore(log, startMs + 3_600_000)).toBe(all.at(-2)?.position ?? null)
  const readsOfPage = (logReadPageEvents / perStream) * Math.ceil(2 + Math.log2(perStream) + 1)
  expect(counts.readsOfStreams).toBeWithin(1, 3 * readsOfPage)
})

describe.each([
  ['by positions', false],
  ['along streams', true],
])('positionBefore() %s', (_, lags) => {
  const filled = async (entries: readonly Entry[]) => counted(await fill(createMemoryLog(), entries), lags)

  test('leaves no event since the instant behind, and few before it ahead', async () => {
    const anyEntries = fc.array(
      fc.tuple(fc.integer({ min: -1, max: 5 }), fc.nat({ max: 4_000 }), fc.nat({ max: recordedSkewMsMax })),
      { maxLength: 120 },
    )
    await fc.assert(
      fc.asyncProperty(anyEntries, fc.nat({ max: 200_000 }), async (drawn, at) => {
        const { log } = await filled(skewed(drawn))
        const position = await positionBefore(log, startMs + at)
        for (const event of await eventsAfter(log, null)) {
          if (event.recordedAt >= startMs + at) expect(event.position).toBeGreaterThan(position ?? 0)
          if (event.position > (position ?? 0))
            expect(event.recordedAt).toBeGreaterThanOrEqual(startMs + at - 2 * recordedSkewMsMax)
        }
      }),
      { numRuns: 150 },
    )
  })

  test('begins at a minute of ask.db, and leaves no event since the instant behind', async () => {
    const entries = fc.array(
      fc.tuple(fc.integer({ min: -1, max: 5 }), fc.nat({ max: 40_000 }), fc.nat({ max: 2 * recordedSkewMsMax })),
      { maxLength: 120 },
    )
    await fc.assert(
      fc.asyncProperty(entries, fc.nat({ max: 3_000_000 }), fc.nat({ max: 120 }), async (drawn, at, folded) => {
        const { log } = await filled(skewed(drawn))
        const all = await eventsAfter(log, null)
        // The index can be behind, so it has only the first events.
        const position = await positionBefore(log, startMs + at, minutesOf(all.slice(0, folded)))
        for (const event of all) {
          if (event.recordedAt >= startMs + at) expect(event.position).toBeGreaterThan(position ?? 0)
        }
      }),
      { numRuns: 150 },
    )
  })

  test('reads few events of streams with many events if ask.db knows the minute', async () => {
    const { log, counts } = await filled(inTurns(2_000, 20, 1_000))
    const minutes = minutesOf(await allEvents(log))
    counts.events = 0
    const sinceMs = startMs + 1_660_000
    expect((await firstEventSince(log, sinceMs, minutes))?.recordedAt).toBe(sinceMs)
    expect(counts.events).toBeLessThan(4 * logReadPageEvents)
  })

  test.each([
    ['damaged', new AskUnusable('a row does not match its checksum')],
    ['locked', new AskBusy('another program has locked the file')],
  ])('searches the log alone if ask.db is %s', async (_, fault) => {
    const { log } = await filled(inTurns(300, 3, 1_000))
    const failing = {
      positionOfMinute: () => {
        throw fault
      },
    }
    const sinceMs = startMs + 250_000
    expect((await firstEventSince(log, sinceMs, failing))?.recordedAt).toBe(sinceMs)
  })

  test('finds the beginning of an empty log', async () => {
    const { log } = await filled([])
    expect([await positionBefore(log, startMs), await firstEventSince(log, startMs)]).toEqual([null, null])
  })

  test('reads few events, also when the streams of a page soon end', async () => {
    // Every 2,000 events, other keys come into use.
    const entries = Array.from({ length: 20_000 }, (_, index) => {
      const generation = Math.floor(index / 2_000)
      return [generation * 10 + (index % 10), index * 60_000] as const
    })
    const watched = await filled(entries)
    const event = await firstEventSince(watched.log, startMs + 15_000 * 60_000)
    expect(event?.recordedAt).toBe(startMs + 15_000 * 60_000)
    expect(watched.counts.events).toBeLessThan(5_000)
  })

  test('reads few events, also behind many changes of keys', async () => {
    const changes = inTurns(4_000, 4_000, 1_000).map(([key, atMs]) => [keysFrom + key, atMs] as const)
    const readings = inTurns(8_000, 4_000, 1_000).map(([key, atMs]) => [key, 4_000_000 + atMs] as const)
    const watched = await filled([...changes, ...readings])
    expect((await firstEventSince(watched.log, startMs + 9_000_000))?.recordedAt).toBe(startMs + 9_000_000)
    expect(watched.counts.events).toBeLessThan(2_500)
  })

  test('looks back over an append that came an hour late', async () => {
    const stepMs = 10_000
    const hourOfSteps = 360
    const usual = inTurns(900, 3, stepMs)
    // The late event was recorded before the instant, and lies far behind it.
    const [lateAt, foundAt] = [290, 290 + hourOfSteps]
    const late: Entry = [9, lateAt * stepMs]
    const { log } = await filled([[9, 0], ...usual.slice(0, foundAt), late, ...usual.slice(foundAt)])
    const sinceMs = startMs + (lateAt + 1) * stepMs + recordedSkewMsMax
    const after = await eventsAfter(log, await positionBefore(log, sinceMs))
    const since = usual.filter(([, atMs]) => startMs + atMs >= sinceMs)
    expect(after.filter(({ recordedAt }) => recordedAt >= sinceMs)).toHaveLength(since.length)
  })

  test('finds all events in a copy that moved two streams within a page', async () => {
    const half = readPageEventsMax / 2
    const run = (stream: number): readonly Entry[] =>
      Array.from({ length: half }, (_, index) => [stream, index * 60_000])
    const { log } = await filled([[1, 0], ...run(0), ...run(1)])
    for (const index of [1, 10, half / 2, half - 1]) {
      const sinceMs = startMs + index * 60_000
      const after = await eventsAfter(log, await positionBefore(log, sinceMs))
      expect(after.filter(({ recordedAt }) => recordedAt >= sinceMs)).toHaveLength(2 * (half - index))
    }
  })
})

/** The minutes that `ask.db` has of these events. */
const minutesOf = (events: readonly RecordedEvent[]) => {
  const { minutes } = askFromLog(events)
  return { positionOfMinute: async (minute: number) => minutes.findLast((row) => row.minute <= minute) ?? null }
}

/**
 * Times go on from entry to entry, less a delay of up to `recordedSkewMsMax`. Within a stream they never decrease, but in a stream
 * of records they can.
 */
const skewed = (drawn: readonly (readonly [stream: number, stepMs: number, delayMs: number])[]): readonly Entry[] => {
  const last = new Map<number, number>()
  let nowMs = recordedSkewMsMax
  return drawn.map(([stream, stepMs, delayMs]) => {
    nowMs += stepMs
    const atMs = stream < 0 ? nowMs - delayMs : Math.max(nowMs - delayMs, last.get(stream) ?? 0)
    last.set(stream, atMs)
    return [stream, atMs]
  })
}

describe('someEventSince()', () => {
  test.each([false, true])('reads few events of a busy time (lags: %p)', async (lags) => {
    const { log, counts } = counted(await fill(createMemoryLog(), inTurns(20_000, 4, 1)), lags)
    const event = await someEventSince(log, startMs + 15_000)
    expect(event?.recordedAt).toBe(startMs + 15_000)
    expect(await someEventSince(log, startMs + 20_000)).toBeNull()
    expect(counts.events).toBeLessThan(2_000)
  })

  test.each([false, true])('begins at a minute of ask.db (lags: %p)', async (lags) => {
    const { log, counts } = counted(await fill(createMemoryLog(), inTurns(2_000, 20, 1_000)), lags)
    const minutes = minutesOf(await allEvents(log))
    counts.events = 0
    const sinceMs = startMs + 1_660_000
    expect((await someEventSince(log, sinceMs, minutes))?.recordedAt).toBe(sinceMs)
    expect(counts.events).toBeLessThan(3 * logReadPageEvents)
  })

  test.each([false, true])('goes on behind a clock that was ten minutes ahead (lags: %p)', async (lags) => {
    const usual = inTurns(1_200, 4, 1_000)
    const ahead: Entry = [9, 900_000]
    const { log } = counted(await fill(createMemoryLog(), [...usual.slice(0, 300), ahead, ...usual.slice(300)]), lags)
    const sinceMs = startMs + 900_000
    const minutes = minutesOf(await allEvents(log))
    const found = await someEventSince(log, sinceMs, minutes)
    const behind = await eventsAfter(log, found?.position ?? null)
    expect(behind.filter(({ recordedAt }) => recordedAt < sinceMs - recordedSkewMsMax)).toEqual([])
    expect(found?.recordedAt).toBe(sinceMs)
  })
})

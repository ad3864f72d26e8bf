/**
 * Every log must pass these tests. They allow gaps between positions, events of other tests in the log, and deliveries that
 * come after answers.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { NewEvent, RecordedEvent } from '../../src/domain/events.ts'
import { columnSlabReadingsMin } from '../../src/domain/reading/columns.ts'
import { ReadingRun } from '../../src/domain/reading/recorded-run.ts'
import { foldedCategories, recordCategories } from '../../src/domain/stream-names.ts'
import { readPageEventsMax } from '../../src/limits.ts'
import { type AppendResult, type EventLog, type ExpectedRevision, Outage } from '../../src/log/event-log.ts'
import { trimEventsMax } from '../../src/log/sqlite/sqlite-commits.ts'
import { caughtUp, collect, dropped, hasEvents } from '../support/logs/collector.ts'
import { columnsOf } from '../support/logs/columns-of.ts'
import {
  cellarRenamed,
  freshCellarStream,
  freshKeyStream,
  freshReadingsStream,
  freshRecordStream,
  hostileNumbers,
  hostileTexts,
  hostileTimestamps,
  keySuspended,
  keySuspensions,
  reading,
  readingsRefused,
  recordsPurged,
  startMs,
} from '../support/logs/sample-events.ts'

export type OpenedLog = { readonly log: EventLog; dispose(): Promise<void> }

const slowMs = 600_000

/** A single reading, a batch of three and another single reading, as a key's actor appends them together. */
const freshRun = (stream = freshReadingsStream()): { readonly stream: string; readonly run: ReadingRun } => {
  const keyId = stream.slice(stream.indexOf('-') + 1)
  const { data } = reading(stream)
  const batch = columnsOf([data, { ...data, rack: 'ß', timestamp: '2026-03-01T12:00:00.5Z' }, { ...data, value: -0 }])
  const requests = [data, batch, data].map((readings) => ({
    requestId: crypto.randomUUID(),
    readings,
    idempotency: null,
  }))
  return { stream, run: new ReadingRun(keyId, startMs, requests) }
}

export const describeEventLog = (name: string, open: () => Promise<OpenedLog>): void => {
  describe(`${name} log`, () => {
    let opened: OpenedLog
    let log: EventLog
    beforeAll(async () => {
      opened = await open()
      log = opened.log
    })
    afterAll(() => opened.dispose())

    const appended = async (stream: string, expected: ExpectedRevision, events: readonly NewEvent[]) => {
      const result = eventsOf(await log.append(stream, expected, events))
      // If an append has several readings, an engine need not return their positions. Then the events are read back.
      return result.length > 0 ? result : readEach(stream, expected === 'none' ? 0 : expected + 1, events.length)
    }
    const written = (stream: string, events: readonly NewEvent[]) => appended(stream, 'none', events)
    const readEach = async (stream: string, first: number, count: number): Promise<readonly RecordedEvent[]> => {
      const events: RecordedEvent[] = []
      while (events.length < count) {
        const limit = Math.min(readPageEventsMax, count - events.length)
        const page = await log.read(stream, { from: first + events.length, limit })
        if (page.length === 0) throw new Error(`"${stream}" shows ${events.length} of ${count} events`)
        events.push(...page)
      }
      return events
    }
    const readWhole = (stream: string) => log.read(stream, { limit: readPageEventsMax })
    const idsOf = (events: readonly { readonly id: string }[]) => events.map((event) => event.id)
    const end = async (): Promise<number | null> => {
      const [last] = await log.readAll({ direction: 'backwards', limit: 1 })
      return last?.position ?? null
    }
    const readAllAfter = async (after: number | null, limit = readPageEventsMax) => {
      const all: RecordedEvent[] = []
      for (let from = after; ; ) {
        const page = await log.readAll(from === null ? { limit } : { from, limit })
        all.push(...page)
        const last = page.at(-1)
        if (last === undefined) return all
        from = last.position
      }
    }

    describe('append()', () => {
      test('numbers the events of a stream from revision 0', async () => {
        const stream = freshKeyStream()
        const events = keySuspensions(3)
        const recorded = await written(stream, events)
        expect(recorded.map((event) => event.revision)).toEqual([0, 1, 2])
        expect(recorded.map((event) => event.stream)).toEqual([stream, stream, stream])
        expect(await readWhole(stream)).toEqual([...recorded])
        expect(idsOf(recorded)).toEqual(idsOf(events))
      })

      test('continues at the exact revision', async () => {
        const stream = freshKeyStream()
        await written(stream, keySuspensions(2))
        const result = await log.append(stream, 1, [keySuspended('third')])
        expect(result).toMatchObject({ outcome: 'written', events: [{ revision: 2, data: { reason: 'third' } }] })
      })

      test('gives positions that grow within and between appends', async () => {
        const stream = freshKeyStream()
        const first = await written(stream, keySuspensions(2))
        const other = await written(freshCellarStream(), [cellarRenamed('between')])
        const second = await log.append(stream, 1, [keySuspended()])
        const positions = [...first, ...other, ...eventsOf(second)].map((event) => event.position)
        expect(positions).toEqual(positions.toSorted((a, b) => a - b))
        expect(new Set(positions).size).toBe(4)
      })

      const wrong = [
        { title: 'none, though the stream exists', expected: 'none' as const },
        { title: 'a revision behind', expected: 0 },
        { title: 'a revision ahead', expected: 2 },
        { title: 'a revision far ahead', expected: 1_000_000 },
      ]
      for (const { title, expected } of wrong) {
        test(`conflicts with the current revision and writes nothing: ${title}`, async () => {
          const stream = freshKeyStream()
          await written(stream, keySuspensions(2))
          const before = await end()
          expect(await log.append(stream, expected, keySuspensions(2))).toEqual({
            outcome: 'conflict',
            currentRevision: 1,
          })
          expect(await readWhole(stream)).toHaveLength(2)
          expect(await readAllAfter(before)).toEqual([])
        })
      }

      test('conflicts without a current revision when the stream does not exist', async () => {
        const stream = freshKeyStream()
        expect(await log.append(stream, 0, [keySuspended()])).toEqual({ outcome: 'conflict', currentRevision: null })
        expect(await readWhole(stream)).toEqual([])
      })

      test('answers already_written for the same ids at that revision', async () => {
        const stream = freshKeyStream()
        const [first, second, third] = [keySuspensions(1), keySuspensions(3), keySuspensions(1)]
        const firstRecorded = await written(stream, first)
        const secondRecorded = await appended(stream, 0, second)
        await log.append(stream, 3, third)
        const before = await end()

        expect(await log.append(stream, 'none', first)).toEqual({ outcome: 'already_written', events: firstRecorded })
        expect(await log.append(stream, 0, second)).toEqual({ outcome: 'already_written', events: secondRecorded })
        expect(await log.append(stream, 3, third)).toMatchObject({ outcome: 'already_written' })
        expect(await readAllAfter(before)).toEqual([])
      })

      test('answers already_written for readings too', async () => {
        const stream = freshReadingsStream()
        const readings = [reading(stream), reading(stream, { value: 2 })]
        const recorded = await written(stream, readings)
        expect(await log.append(stream, 'none', readings)).toEqual({ outcome: 'already_written', events: recorded })
      })

      test('stores a run of readings like its events', async () => {
        const { stream, run } = freshRun()
        await written(stream, [reading(stream)])
        expect(await log.append(stream, 0, run)).toEqual({ outcome: 'written', events: [] })
        const [, ...stored] = await readWhole(stream)
        expect(stored.map(newEventOf)).toEqual([...run.events()])
        expect(stored.map(({ revision }) => revision)).toEqual(stored.map((_, index) => index + 1))
      })

      test('answers already_written and conflict for a run, as for its events', async () => {
        const { stream, run } = freshRun()
        await log.append(stream, 'none', run)
        const ids = run.events().map(({ id }) => expect.objectContaining({ id }))
        expect(await log.append(stream, 'none', run)).toEqual({ outcome: 'already_written', events: ids })
        const other = freshRun(stream).run
        expect(await log.append(stream, 'none', other)).toEqual({
          outcome: 'conflict',
          currentRevision: run.count - 1,
        })
      })

      test('refuses a run of another key, as a bug', async () => {
        const stream = freshReadingsStream()
        const error = await log.append(stream, 'none', freshRun().run).catch((cause: unknown) => cause)
        expect(error).toMatchObject({ message: expect.stringContaining('they belong to another key') })
        expect(await readWhole(stream)).toEqual([])
      })

      test('conflicts when only some ids are at that revision', async () => {
        const stream = freshKeyStream()
        const [first, second] = keySuspensions(2)
        if (first === undefined || second === undefined) throw new Error('no events')
        await written(stream, [first, second])
        const conflict = { outcome: 'conflict' as const, currentRevision: 1 }
        const others: [string, readonly NewEvent[]][] = [
          ['a superset', [first, second, keySuspended()]],
          ['another id at the end', [first, keySuspended()]],
          ['another id at the beginning', [keySuspended(), second]],
          ['another order', [second, first]],
        ]
        for (const [title, events] of others) {
          expect([title, await log.append(stream, 'none', events)]).toEqual([title, conflict])
        }
        expect(await log.append(stream, 0, [first])).toEqual(conflict)
        expect(await readWhole(stream)).toHaveLength(2)
      })

      test('writes two equal concurrent appends once, and says so', async () => {
        const stream = freshKeyStream()
        const events = keySuspensions(2)
        const results = await Promise.all([log.append(stream, 'none', events), log.append(stream, 'none', events)])
        expect(results.map(({ outcome }) => outcome).toSorted()).toEqual(['already_written', 'written'])
        expect(idsOf(await readWhole(stream))).toEqual(idsOf(events))
      })

      test('accepts one of two different appends at one revision', async () => {
        const stream = freshKeyStream()
        const results = await Promise.all([
          log.append(stream, 'none', [keySuspended('one')]),
          log.append(stream, 'none', [keySuspended('two')]),
        ])
        expect(results.map(({ outcome }) => outcome).toSorted()).toEqual(['conflict', 'written'])
        expect(results).toContainEqual({ outcome: 'conflict', currentRevision: 0 })
        expect(await readWhole(stream)).toHaveLength(1)
      })

      test('refuses an empty append as a bug', async () => {
        const stream = freshKeyStream()
        const failure = await log.append(stream, 'none', []).catch((cause: unknown) => cause)
        expect(failure).toBeInstanceOf(Error)
        expect(failure).not.toBeInstanceOf(Outage)
      })

      test('refuses a whole append with an unreadable event, as a bug', async () => {
        const stream = freshKeyStream()
        const good = keySuspended()
        const faulty: NewEvent[] = [
          Object.assign(keySuspended(), { data: { reason: 7 } }),
          Object.assign(keySuspended(), { data: { reason: 'r', more: 1 } }),
          Object.assign(keySuspended(), { metadata: {} }),
          Object.assign(keySuspended(), { type: 'NeverHeardOf' }),
          { ...keySuspended(), id: '' },
          { ...keySuspended(), recordedAt: 1.5 },
          { ...keySuspended(), recordedAt: -1 },
        ]
        for (const event of faulty) {
          const failure = await log.append(stream, 'none', [good, event]).catch((cause: unknown) => cause)
          expect(failure).toBeInstanceOf(Error)
          expect(failure).not.toBeInstanceOf(Outage)
        }
        expect(await readWhole(stream)).toEqual([])
      })

      test('keeps every part of every event exactly', async () => {
        const stream = freshReadingsStream()
        const plain = reading(stream)
        const key = freshKeyStream()
        const readings = [
          ...hostileTexts.map((text) => reading(stream, { cellar: text, rack: text, keg: text })),
          ...hostileNumbers.map((value) => reading(stream, { value })),
          ...hostileTimestamps.map((timestamp) => reading(stream, { timestamp })),
          { ...plain, id: 'not a UUID' },
          { ...plain, id: '0F0E0D0C-0B0A-0908-0706-050403020100' },
          { ...plain, recordedAt: 0 },
          { ...plain, recordedAt: startMs + 3 * 86_400_000 },
          { ...plain, metadata: keySuspended().metadata },
          { ...plain, metadata: { ...plain.metadata, requestId: hostileTexts.join('') } },
          { ...plain, metadata: { ...plain.metadata, by: { kind: 'key' as const, keyId: 'another' } } },
          { ...plain, metadata: { ...plain.metadata, by: { kind: 'operator' as const, email: 'anna@example.org' } } },
        ]
        const others = hostileTexts.map((text) => ({
          ...keySuspended(text),
          id: `id-${text}`,
          recordedAt: startMs + 1,
        }))
        for (const [revision, event] of readings.entries()) {
          await log.append(stream, revision === 0 ? 'none' : revision - 1, [event])
        }
        await log.append(stream, readings.length - 1, readings)
        await written(key, others)

        assertSame(await readWhole(stream), [...readings, ...readings])
        assertSame(await readWhole(key), others)
      })

      test('keeps an append of readings and other events together', async () => {
        const stream = freshReadingsStream()
        const sealed: NewEvent = { ...keySuspended(), type: 'ReadingsSealed', data: { reason: 'revoked' } }
        const events = [reading(stream), reading(stream), sealed, reading(stream)]
        const recorded = await written(stream, events)
        expect(recorded.map((event) => event.revision)).toEqual([0, 1, 2, 3])
        assertSame(await readWhole(stream), events)
        expect(await log.append(stream, 'none', events)).toMatchObject({ outcome: 'already_written' })
      })
    })

    describe('read()', () => {
      test('finds nothing in a stream that does not exist', async () => {
        expect(await log.read(freshKeyStream(), { limit: 1 })).toEqual([])
        expect(await log.read(freshKeyStream(), { limit: 1, direction: 'backwards' })).toEqual([])
      })

      // A page may begin or end between two appends or inside one, so appends of several sizes are read.
      const shapes = [
        { title: 'one append', sizes: [25] },
        { title: 'many appends', sizes: Array.from({ length: 25 }, () => 1) },
        { title: 'appends of all sizes', sizes: [1, 7, 2, 10, 5] },
      ]
      const kinds = [
        { kind: 'readings', fresh: freshReadingsStream, event: (stream: string) => reading(stream) },
        { kind: 'other events', fresh: freshKeyStream, event: () => keySuspended() },
      ]
      for (const { title, sizes } of shapes) {
        for (const { kind, fresh, event } of kinds) {
          test(`pages through ${kind} of ${title} in both directions`, async () => {
            const stream = fresh()
            const ids: string[] = []
            for (const size of sizes) {
              const events = Array.from({ length: size }, () => event(stream))
              await log.append(stream, ids.length === 0 ? 'none' : ids.length - 1, events)
              ids.push(...idsOf(events))
            }
            for (let from = 0; from < 25; from++) {
              for (const limit of [1, 3, 25, 26]) {
                const forwards = await log.read(stream, { from, limit })
                expect(idsOf(forwards)).toEqual(ids.slice(from, from + limit))
                const backwards = await log.read(stream, { from, limit, direction: 'backwards' })
                expect(idsOf(backwards)).toEqual(
                  ids
                    .slice(Math.max(0, from - limit + 1), from + 1)
                    .toReversed()
                    .slice(-limit),
                )
              }
            }
            expect(idsOf(await log.read(stream, { limit: 2 }))).toEqual(ids.slice(0, 2))
            expect(idsOf(await log.read(stream, { limit: 2, direction: 'backwards' }))).toEqual(
              ids.slice(-2).toReversed(),
            )
          })
        }
      }

      test('refuses a page of zero or too many events', async () => {
        const stream = freshKeyStream()
        for (const limit of [0, -1, 1.5, readPageEventsMax + 1]) {
          await expect(log.read(stream, { limit })).rejects.toBeInstanceOf(RangeError)
          await expect(log.readAll({ limit })).rejects.toBeInstanceOf(RangeError)
        }
        expect(await log.read(stream, { limit: readPageEventsMax })).toEqual([])
      })
    })

    describe('readAll()', () => {
      test('returns all streams in order, in pages and both directions', async () => {
        const before = await end()
        const streams = [freshKeyStream(), freshReadingsStream(), freshCellarStream()]
        const nextRevisions = new Map<string, number>()
        for (let turn = 0; turn < 30; turn++) {
          const stream = streams[(turn * 7) % 3] ?? ''
          const events = stream.startsWith('readings-')
            ? Array.from({ length: 1 + (turn % 4) }, () => reading(stream))
            : keySuspensions(1 + (turn % 3))
          const next = nextRevisions.get(stream) ?? 0
          await log.append(stream, next === 0 ? 'none' : next - 1, events)
          nextRevisions.set(stream, next + events.length)
        }

        const all = await readAllAfter(before)
        for (const stream of streams) {
          expect(all.filter((event) => event.stream === stream)).toEqual([...(await readWhole(stream))])
        }
        expect(all).toHaveLength([...nextRevisions.values()].reduce((sum, count) => sum + count, 0))
        expect(all.map(({ position }) => position)).toEqual(
          all.map(({ position }) => position).toSorted((a, b) => a - b),
        )

        for (const limit of [1, 3, 7]) expect(await readAllAfter(before, limit)).toEqual(all)
        for (const [index, event] of all.entries()) {
          const back = await log.readAll({ from: event.position, limit: 5, direction: 'backwards' })
          expect(idsOf(back).slice(0, index)).toEqual(idsOf(all.slice(Math.max(0, index - 5), index).toReversed()))
        }
        expect(await log.readAll({ limit: 4, direction: 'backwards' })).toEqual(all.slice(-4).toReversed())
      })
    })

    // An append can have as many events as a page, or more. Readers and subscribers must still get all events, page by page.
    describe.each([readPageEventsMax, readPageEventsMax + 1, 3 * readPageEventsMax])(
      'an append of %i events',
      (count) => {
        const kinds = [
          { kind: 'readings', fresh: freshReadingsStream, event: (stream: string) => reading(stream) },
          { kind: 'other events', fresh: freshKeyStream, event: () => keySuspended() },
        ]
        const appendLarge = async ({ fresh, event }: (typeof kinds)[number]) => {
          const stream = fresh()
          const large = Array.from({ length: count }, () => event(stream))
          const recorded = await written(stream, large)
          const [behind] = await appended(stream, count - 1, [event(stream)])
          if (behind === undefined) throw new Error('nothing was written behind it')
          return { stream, large, ids: [...idsOf(recorded), behind.id] }
        }

        test.each(kinds)('of $kind fills pages of its stream', async (kind) => {
          const { stream, ids } = await appendLarge(kind)
          const forwards: RecordedEvent[] = []
          while (forwards.length < ids.length) {
            const page = await log.read(stream, { from: forwards.length, limit: readPageEventsMax })
            expect(page.length).toBe(Math.min(readPageEventsMax, ids.length - forwards.length))
            forwards.push(...page)
          }
          expect(idsOf(forwards)).toEqual(ids)
          const backwards: RecordedEvent[] = []
          while (backwards.length < ids.length) {
            const from = ids.length - 1 - backwards.length
            const page = await log.read(stream, { from, limit: readPageEventsMax, direction: 'backwards' })
            expect(page.length).toBe(Math.min(readPageEventsMax, ids.length - backwards.length))
            backwards.push(...page)
          }
          expect(idsOf(backwards)).toEqual(ids.toReversed())
        })

        test.each(kinds)('of $kind fills pages of the log', async (kind) => {
          const after = await end()
          const { ids } = await appendLarge(kind)
          expect(idsOf(await readAllAfter(after))).toEqual(ids)
          const backwards: RecordedEvent[] = []
          while (backwards.length < ids.length) {
            const from = backwards.at(-1)?.position
            const limit = Math.min(readPageEventsMax, ids.length - backwards.length)
            const page = await log.readAll({ ...(from === undefined ? {} : { from }), limit, direction: 'backwards' })
            expect(page.length).toBe(limit)
            backwards.push(...page)
          }
          expect(idsOf(backwards)).toEqual(ids.toReversed())
        })

        test.each(kinds)('of $kind is delivered once, from any position', async (kind) => {
          const after = await end()
          const live = collect(log, { after })
          await live.until(caughtUp)
          const { ids } = await appendLarge(kind)
          await live.until(hasEvents(ids.length))
          live.subscription.unsubscribe()
          expect(idsOf(live.events)).toEqual(ids)

          for (const taken of [0, 1, count - 1, count]) {
            const collector = collect(log, {
              after: taken === 0 ? after : (live.events[taken - 1]?.position ?? null),
            })
            await collector.until(caughtUp)
            collector.subscription.unsubscribe()
            expect(idsOf(collector.events)).toEqual(ids.slice(taken))
          }
        })

        test.each(kinds)('of $kind is already_written when it is repeated', async (kind) => {
          const { stream, large } = await appendLarge(kind)
          expect(await log.append(stream, 'none', large)).toMatchObject({ outcome: 'already_written' })
        })
      },
    )

    describe('10,000 concurrent appends', () => {
      test(
        'on different streams all succeed, and are stored once',
        async () => {
          const before = await end()
          const streams = Array.from({ length: 10_000 }, freshReadingsStream)
          const results = await Promise.all(streams.map((stream) => log.append(stream, 'none', [reading(stream)])))
          expect(results.filter(({ outcome }) => outcome === 'written')).toHaveLength(10_000)
          const all = await readAllAfter(before)
          expect(new Set(all.map(({ stream }) => stream))).toEqual(new Set(streams))
          expect(all).toHaveLength(10_000)
        },
        slowMs,
      )

      test(
        'on one stream leave no gap when writers retry conflicts',
        async () => {
          const stream = freshReadingsStream()
          const acknowledged: string[] = []
          const write = async (): Promise<void> => {
            let revision = -1
            for (let turn = 0; turn < 1_250; turn++) {
              const event = reading(stream)
              for (;;) {
                const result = await log.append(stream, revision < 0 ? 'none' : revision, [event])
                if (result.outcome !== 'conflict') {
                  revision = result.events[0]?.revision ?? revision
                  break
                }
                revision = result.currentRevision ?? -1
              }
              acknowledged.push(event.id)
            }
          }
          await Promise.all(Array.from({ length: 8 }, write))

          const stored: RecordedEvent[] = []
          while (stored.length < 10_000) {
            const page = await log.read(stream, { from: stored.length, limit: readPageEventsMax })
            if (page.length === 0) break
            stored.push(...page)
          }
          expect(stored.map((event) => event.revision)).toEqual(Array.from({ length: 10_000 }, (_, index) => index))
          expect(new Set(idsOf(stored))).toEqual(new Set(acknowledged))
        },
        slowMs,
      )
    })

    describe('subscribe()', () => {
      test('delivers old events, says that it has caught up, then new events', async () => {
        const after = await end()
        const stream = freshKeyStream()
        const there = await written(stream, keySuspensions(3))
        const collector = collect(log, { after })
        await collector.until(caughtUp)
        const live = [
          ...(await appended(stream, 2, [keySuspended('live')])),
          ...(await appended(stream, 3, keySuspensions(2))),
        ]
        await collector.until(hasEvents(6))
        collector.subscription.unsubscribe()

        expect(collector.told).toEqual([
          ...there.map((event) => ({ event })),
          'caught_up',
          ...live.map((event) => ({ event })),
        ])
      })

      test('says that it has caught up in an empty log', async () => {
        const collector = collect(log, { after: await end() })
        await collector.until(caughtUp)
        collector.subscription.unsubscribe()
        expect(collector.told).toEqual(['caught_up'])
      })

      test(
        'from the beginning delivers the whole log',
        async () => {
          await written(freshKeyStream(), keySuspensions(2))
          const collector = collect(log, { after: null })
          await collector.until(caughtUp)
          collector.subscription.unsubscribe()
          expect(idsOf(collector.events)).toEqual(idsOf(await readAllAfter(null)))
        },
        slowMs,
      )

      test('delivers each event once while appends go on during the catch-up', async () => {
        const after = await end()
        const stream = freshReadingsStream()
        let count = 0
        const appendMore = async (more: number): Promise<void> => {
          const events = Array.from({ length: more }, () => reading(stream))
          count += (await appended(stream, count === 0 ? 'none' : count - 1, events)).length
        }
        for (let turn = 0; turn < 5; turn++) await appendMore(readPageEventsMax - 1)
        const collector = collect(log, { after })
        for (let turn = 0; turn < 50; turn++) await appendMore(1 + turn)
        await collector.until(hasEvents(count))
        await collector.until(caughtUp)
        collector.subscription.unsubscribe()

        expect(collector.events.map((event) => event.revision)).toEqual(Array.from({ length: count }, (_, at) => at))
        expect(collector.told.filter((what) => what === 'caught_up')).toHaveLength(1)
      })

      test('delivers the readings of a run once each, from the past and live', async () => {
        const { stream, run } = freshRun()
        const after = await end()
        await log.append(stream, 'none', run)
        const past = collect(log, { after, categories: ['readings'] })
        await past.until(caughtUp)
        const more = freshRun()
        await log.append(more.stream, 'none', more.run)
        const all = [...run.events(), ...more.run.events()]
        const ofBoth = () => past.events.filter((event) => event.stream === stream || event.stream === more.stream)
        await past.until(() => ofBoth().length >= all.length)
        expect(ofBoth().map(newEventOf)).toEqual(all)
        expect(ofBoth().map(({ revision }) => revision)).toEqual(
          [run, more.run].flatMap(({ count }) => Array.from({ length: count }, (_, index) => index)),
        )
        const positions = ofBoth().map(({ position }) => position)
        expect(positions).toEqual(positions.toSorted((a, b) => a - b))
        past.subscription.unsubscribe()
      })

      test('delivers a run live before a later batch can use its lists', async () => {
        const live = collect(log, { after: await end(), categories: ['readings'] })
        await live.until(caughtUp)
        const stream = freshReadingsStream()
        const { data } = reading(stream)
        const readings = Array.from({ length: columnSlabReadingsMin }, (_, value) => ({
          ...data,
          rack: `r${value}`,
          value,
        }))
        const request = { requestId: crypto.randomUUID(), readings: columnsOf(readings), idempotency: null }
        await log.append(stream, 'none', new ReadingRun(stream.slice(stream.indexOf('-') + 1), startMs, [request]))
        const ofRun = () => live.events.filter((event) => event.stream === stream)
        await live.until(() => ofRun().length >= readings.length)
        expect(ofRun().map((event) => event.data)).toEqual(readings)
        live.subscription.unsubscribe()
      })

      test('with categories delivers their streams only, from the past and live', async () => {
        const after = await end()
        const [cellar, key, readings] = [freshCellarStream(), freshKeyStream(), freshReadingsStream()]
        await written(readings, [reading(readings)])
        await written(cellar, [cellarRenamed('past')])
        await written(key, [keySuspended('past')])
        const collector = collect(log, { after, categories: ['cellar', 'key'] })
        await collector.until(caughtUp)
        await log.append(readings, 0, [reading(readings)])
        await log.append(key, 0, [keySuspended('live')])
        await log.append(cellar, 0, [cellarRenamed('live')])
        await collector.until(hasEvents(4))
        collector.subscription.unsubscribe()

        expect(collector.events.map(({ stream, revision }) => [stream, revision])).toEqual([
          [cellar, 0],
          [key, 0],
          [key, 1],
          [cellar, 1],
        ])
      })

      test('with the folded categories delivers no records, from the past and live', async () => {
        const after = await end()
        const [key, signIns, readings] = [freshKeyStream(), freshRecordStream('signins'), freshReadingsStream()]
        await written(signIns, [recordsPurged()])
        await written(key, [keySuspended()])
        const collector = collect(log, { after, categories: foldedCategories })
        await collector.until(caughtUp)
        await Promise.all([
          log.append(readings, 'none', [reading(readings)]),
          log.append(signIns, 0, [recordsPurged()]),
          log.append(key, 0, [keySuspended()]),
        ])
        await log.append(freshRecordStream('refusals'), 'none', [readingsRefused()])
        await log.append(readings, 0, [reading(readings)])
        await collector.until(hasEvents(4))
        collector.subscription.unsubscribe()
        expect(collector.events.map(({ stream }) => stream).toSorted()).toEqual([key, key, readings, readings])
      })

      test(
        'with categories catches up past many other events',
        async () => {
          const after = await end()
          const [key, readings] = [freshKeyStream(), freshReadingsStream()]
          const many = Array.from({ length: 2 * readPageEventsMax + 1 }, () => reading(readings))
          for (const [index, event] of many.entries())
            await log.append(readings, index === 0 ? 'none' : index - 1, [event])
          const recorded = await written(key, [keySuspended('behind them')])
          const collector = collect(log, { after, categories: ['key'] })
          await collector.until(caughtUp)
          collector.subscription.unsubscribe()
          expect(collector.events).toEqual([...recorded])
        },
        slowMs,
      )

      test('resumes from any position, also inside an append', async () => {
        const after = await end()
        const stream = freshReadingsStream()
        const recorded = [
          ...(await written(
            stream,
            Array.from({ length: 4 }, () => reading(stream)),
          )),
          ...(await appended(stream, 3, [reading(stream)])),
        ]
        for (const [index, event] of recorded.entries()) {
          const collector = collect(log, { after: event.position })
          await collector.until(caughtUp)
          collector.subscription.unsubscribe()
          expect(idsOf(collector.events)).toEqual(idsOf(recorded.slice(index + 1)))
        }
        expect(idsOf(await readAllAfter(after))).toEqual(idsOf(recorded))
      })

      test('delivers nothing after unsubscribe, also inside a delivery', async () => {
        const after = await end()
        const stream = freshKeyStream()
        await written(stream, keySuspensions(1))
        const inside = collect(log, { after }, (_, { subscription }) => subscription.unsubscribe())
        const never = collect(log, { after })
        never.subscription.unsubscribe()
        const witness = collect(log, { after })
        const between = collect(log, { after })
        await witness.until(caughtUp)
        await between.until(caughtUp)
        between.subscription.unsubscribe()
        between.subscription.unsubscribe()
        await log.append(stream, 0, keySuspensions(2))
        await witness.until(hasEvents(3))
        witness.subscription.unsubscribe()

        expect(inside.told).toEqual([{ event: expect.objectContaining({ stream, revision: 0 }) }])
        expect(never.told).toEqual([])
        expect(between.events).toHaveLength(1)
      })

      test('drops a subscriber that throws, and no other', async () => {
        const after = await end()
        const stream = freshKeyStream()
        await written(stream, keySuspensions(1))
        const bug = new Error('a bug of the subscriber')
        const atOnce = collect(log, { after }, () => {
          throw bug
        })
        const later = collect(log, { after }, ({ revision }) => {
          if (revision > 0) throw bug
        })
        const neighbour = collect(log, { after })
        await Promise.all([atOnce.until(dropped), later.until(caughtUp), neighbour.until(caughtUp)])
        expect(await log.append(stream, 0, [keySuspended()])).toMatchObject({ outcome: 'written' })
        expect(await log.append(stream, 1, [keySuspended()])).toMatchObject({ outcome: 'written' })
        await Promise.all([later.until(dropped), neighbour.until(hasEvents(3))])
        neighbour.subscription.unsubscribe()

        expect(atOnce.told).toEqual([{ event: expect.objectContaining({ revision: 0 }) }, { dropped: bug }])
        expect(later.events).toHaveLength(2)
        expect(later.told.at(-1)).toEqual({ dropped: bug })
        expect(log.health()).toEqual({ ok: true })
      })

      test('lets a subscriber append from inside a delivery', async () => {
        const after = await end()
        const stream = freshKeyStream()
        const answers: Promise<AppendResult>[] = []
        const collector = collect(log, { after }, ({ revision }) => {
          if (revision < 5) answers.push(log.append(stream, revision, [keySuspended(`after ${revision}`)]))
        })
        await collector.until(caughtUp)
        await written(stream, [keySuspended('first')])
        await collector.until(hasEvents(6))
        collector.subscription.unsubscribe()
        expect(collector.events.map((event) => event.revision)).toEqual([0, 1, 2, 3, 4, 5])
        expect((await Promise.all(answers)).map(({ outcome }) => outcome)).toEqual(Array(5).fill('written'))
      })
    })

    describe('truncate()', () => {
      /** The appends have several sizes, so that a truncation may fall between two appends or inside one. */
      const filled = async (): Promise<{ readonly stream: string; readonly events: readonly RecordedEvent[] }> => {
        const stream = freshReadingsStream()
        const events: RecordedEvent[] = []
        for (const size of [1, 4, 1, 3, 1]) {
          const readings = Array.from({ length: size }, () => reading(stream))
          const expected = events.length === 0 ? 'none' : events.length - 1
          events.push(...(await appended(stream, expected, readings)))
        }
        return { stream, events }
      }
      const lastRevision = 9

      test.each(Array.from({ length: lastRevision + 1 }, (_, before) => before))(
        'before %i keeps all later events at their positions',
        async (before) => {
          const { stream, events } = await filled()
          await log.truncate(stream, before)
          const left = events.slice(before)
          expect(await readWhole(stream)).toEqual(left)
          for (let from = 0; from <= lastRevision + 1; from++) {
            for (const limit of [1, 3, 20]) {
              const forwards = left.filter(({ revision }) => revision >= from).slice(0, limit)
              expect(await log.read(stream, { from, limit })).toEqual(forwards)
              const backwards = left
                .filter(({ revision }) => revision <= from)
                .toReversed()
                .slice(0, limit)
              expect(await log.read(stream, { from, limit, direction: 'backwards' })).toEqual(backwards)
            }
          }
          expect(await log.read(stream, { limit: 20, direction: 'backwards' })).toEqual(left.toReversed())
        },
      )

      test('keeps the last revision for appends and conflicts', async () => {
        const { stream } = await filled()
        await log.truncate(stream, lastRevision)
        for (const expected of ['none', 0, lastRevision - 1, lastRevision + 1] as const) {
          expect([expected, await log.append(stream, expected, [reading(stream)])]).toEqual([
            expected,
            { outcome: 'conflict', currentRevision: lastRevision },
          ])
        }
        const next = reading(stream)
        const result = await log.append(stream, lastRevision, [next])
        expect(result).toMatchObject({ outcome: 'written', events: [{ revision: lastRevision + 1 }] })
        expect(await log.append(stream, lastRevision, [next])).toMatchObject({ outcome: 'already_written' })
        expect((await readWhole(stream)).map(({ revision }) => revision)).toEqual([lastRevision, lastRevision + 1])
      })

      test('never writes an append twice at a truncated revision', async () => {
        const { stream, events } = await filled()
        await log.truncate(stream, 3)
        const before = await readWhole(stream)
        for (const [expected, first, end] of [
          ['none', 0, 1],
          [0, 1, 5],
          [1, 2, 3],
        ] as const) {
          const result = await log.append(stream, expected, events.slice(first, end).map(newEventOf))
          expect(result.outcome).not.toBe('written')
        }
        // An append that expects revision 0 asks for revision 1, which is truncated. The same event is stored at revision 3.
        // That is another place, so the answer is a conflict and not "already written".
        const conflict = { outcome: 'conflict' as const, currentRevision: lastRevision }
        expect(await log.append(stream, 0, events.slice(3, 4).map(newEventOf))).toEqual(conflict)
        expect(await readWhole(stream)).toEqual(before)
      })

      test('changes nothing when repeated, and deletes more when extended', async () => {
        const { stream, events } = await filled()
        for (const [before, left] of [
          [4, 4],
          [4, 4],
          [1, 4],
          [0, 4],
          [7, 7],
        ] as const) {
          await log.truncate(stream, before)
          expect(await readWhole(stream)).toEqual(events.slice(left))
        }
      })

      test('leaves other streams unchanged', async () => {
        const [first, second] = [await filled(), await filled()]
        await log.truncate(first.stream, lastRevision)
        expect(await readWhole(second.stream)).toEqual([...second.events])
      })

      test('refuses to delete the last event, as a bug', async () => {
        const { stream, events } = await filled()
        const wrong = [
          [stream, lastRevision + 1],
          [stream, 1_000_000],
          [stream, -1],
          [stream, 1.5],
          [freshReadingsStream(), 0],
        ] as const
        for (const [name, before] of wrong) await expectBug(log.truncate(name, before))
        expect(await readWhole(stream)).toEqual([...events])
      })

      test.each([...recordCategories])('truncates %s like readings', async (category) => {
        const stream = freshRecordStream(category)
        const events = await written(stream, [recordsPurged(), recordsPurged(), recordsPurged()])
        await log.truncate(stream, 2)
        expect(await readWhole(stream)).toEqual(events.slice(2))
        await expectBug(log.truncate(stream, 3))
        const next = await appended(stream, 2, [recordsPurged()])
        expect(await readWhole(stream)).toEqual([...events.slice(2), ...next])
      })

      test('refuses all but readings and records, as a bug', async () => {
        for (const stream of [freshKeyStream(), freshCellarStream()]) {
          await written(stream, keySuspensions(3))
          await expectBug(log.truncate(stream, 1))
          expect(await readWhole(stream)).toHaveLength(3)
        }
      })

      test('lets readers of the log continue from any position', async () => {
        const start = await end()
        const { stream, events } = await filled()
        const behind = await written(freshKeyStream(), [keySuspended()])
        await log.truncate(stream, 6)
        const left = idsOf([...events.slice(6), ...behind])
        for (const from of [start, ...events.slice(0, 6).map(({ position }) => position)]) {
          for (const limit of [1, 3, 20]) expect(idsOf(await readAllAfter(from, limit))).toEqual(left)
        }
        const back = idsOf(await log.readAll({ limit: left.length, direction: 'backwards' }))
        expect(back).toEqual(left.toReversed())
      })

      test('hides events that readAll() has shown, in each page size and direction', async () => {
        const start = await end()
        const [first, second] = [await filled(), await filled()]
        const all = idsOf([...first.events, ...second.events])
        expect(idsOf(await readAllAfter(start))).toEqual(all)
        await log.truncate(first.stream, lastRevision)
        await log.truncate(second.stream, 4)
        await log.truncate(second.stream, 7)
        const left = idsOf([...first.events.slice(lastRevision), ...second.events.slice(7)])
        for (let limit = 1; limit <= 2 * (lastRevision + 1); limit += 1) {
          expect([limit, idsOf(await readAllAfter(start, limit))]).toEqual([limit, left])
          const options = { limit, direction: 'backwards' } as const
          const back = (await log.readAll(options)).filter(({ position }) => position > (start ?? -1))
          expect([limit, idsOf(back)]).toEqual([limit, left.toReversed().slice(0, limit)])
        }
      })

      test('lets lagging and live subscriptions continue', async () => {
        const after = await end()
        const live = collect(log, { after })
        await live.until(caughtUp)
        const { stream, events } = await filled()
        await live.until(hasEvents(events.length))
        await log.truncate(stream, 6)
        const next = await appended(stream, lastRevision, [reading(stream)])
        await live.until(hasEvents(events.length + 1))
        live.subscription.unsubscribe()
        const left = [...events.slice(6), ...next]
        expect(live.told).toEqual(['caught_up', ...[...events, ...next].map((event) => ({ event }))])

        for (const position of [after, events[2]?.position ?? null, events[5]?.position ?? null]) {
          const behind = collect(log, { after: position })
          await behind.until(caughtUp)
          behind.subscription.unsubscribe()
          expect(idsOf(behind.events.slice(-left.length))).toEqual(idsOf(left))
          expect(behind.told.at(-1)).toBe('caught_up')
        }
      })

      test('deletes many readings while others are written', async () => {
        const stream = freshReadingsStream()
        let last = -1
        while (last < 3 * trimEventsMax) {
          const readings = Array.from({ length: 16 }, () => reading(stream))
          last += (await appended(stream, last < 0 ? 'none' : last, readings)).length
        }
        const truncation = log.truncate(stream, last)
        const other = freshReadingsStream()
        expect(await log.append(other, 'none', [reading(other)])).toMatchObject({ outcome: 'written' })
        await truncation
        expect((await readWhole(stream)).map(({ revision }) => revision)).toEqual([last])
      })
    })

    describe('close()', () => {
      test('waits for appends, ends subscriptions, and refuses later calls', async () => {
        const { log: closing, dispose } = await open()
        const stream = freshKeyStream()
        const follower = collect(closing, { after: null })
        await follower.until(caughtUp)
        const underWay = closing.append(stream, 'none', [keySuspended()])
        const closed = closing.close()
        const late = await closing.append(stream, 0, [keySuspended()]).catch((cause: unknown) => cause)
        await closed
        await closing.close()

        expect(await underWay).toMatchObject({ outcome: 'written' })
        expect(late).toBeInstanceOf(Outage)
        expect(late).toMatchObject({ outcome: 'not_written', reason: 'closed' })
        expect(closing.health()).toMatchObject({ ok: false })
        await expect(closing.read(stream, { limit: 1 })).rejects.toMatchObject({ reason: 'closed' })
        expect(follower.told.at(-1)).toEqual({ dropped: expect.objectContaining({ reason: 'closed' }) })
        await dispose()
      })
    })
  })
}

const eventsOf = (result: AppendResult): readonly RecordedEvent[] => {
  if (result.outcome === 'written') return result.events
  throw new Error(`an append answered ${result.outcome}`)
}

const newEventOf = ({ stream: _, revision: __, position: ___, ...event }: RecordedEvent): NewEvent => event

const expectBug = async (answer: Promise<unknown>): Promise<void> => {
  const failure = await answer.catch((cause: unknown) => cause)
  expect(failure).toBeInstanceOf(Error)
  expect(failure).not.toBeInstanceOf(Outage)
}

/** Compares the values again with `Object.is`, because `toEqual` ignores the sign of zero. */
const assertSame = (stored: readonly RecordedEvent[], given: readonly NewEvent[]): void => {
  expect(stored.map(({ stream: _, revision: __, position: ___, ...event }) => event)).toEqual([...given])
  for (const [index, event] of stored.entries()) {
    const other = given[index]
    if (event.type !== 'ReadingAccepted' || other?.type !== 'ReadingAccepted') continue
    expect(Object.is(event.data.value, other.data.value)).toBe(true)
  }
}

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { searchLog } from '../../../src/actors/search/search-log.ts'
import type { RecordedEvent } from '../../../src/domain/events.ts'
import { actorText, keyOfEvent, kindOf, type LogPart, wholeLog } from '../../../src/domain/search/event-filter.ts'
import { cellarStream } from '../../../src/domain/stream-names.ts'
import { logReadPageEvents, recordedSkewMsMax, refusalSummaryMsMax } from '../../../src/limits.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { readsOf } from '../../support/ask/reads-of.ts'
import { isEmbedded, openFreshLog, storeUrl } from '../../support/logs/engine.ts'
import { openAt } from '../../support/logs/event-store-log.ts'
import { createMemoryLog } from '../../support/logs/memory-log.ts'
import { freshRecordStream, reading, recordsPurged, startMs } from '../../support/logs/sample-events.ts'
import { type FilledLog, fillLog } from './searched-log.ts'

const readAll = async (log: EventLog, filter: Partial<LogPart>): Promise<readonly RecordedEvent[]> => {
  const { from, to, ...wanted } = { ...wholeLog, ...filter }
  const page = { direction: 'forwards', from, to, pageEvents: logReadPageEvents } as const
  return (await Array.fromAsync(searchLog(readsOf({ log, ask: null }), wanted, page))).flatMap(({ events }) => events)
}

describe.each([
  ['the embedded log or the chosen engine', openFreshLog, isEmbedded],
  ['a separate store', async () => openAt(await storeUrl()), false],
])('searchLog() in %s', (_, open, takesAnyPosition) => {
  let filled: FilledLog
  beforeAll(async () => {
    filled = await fillLog(await open(), logReadPageEvents * 2)
  }, 600_000)
  afterAll(() => filled.log.close())

  const cellarOf = (event: RecordedEvent): string | null => {
    for (const cellar of ['wine', 'beer']) if (event.stream === cellarStream(cellar)) return cellar
    const keyId = keyOfEvent(event)
    if (keyId === null) return null
    return keyId === filled.keyIds[2] ? 'beer' : 'wine'
  }

  /** A plain filter over the whole log, to compare with. */
  const expected = (filter: Partial<LogPart>): readonly RecordedEvent[] => {
    const { stream, type, kind, actor, cellar, key, from, to, since, until } = { ...wholeLog, ...filter }
    return filled.all.filter(
      (event) =>
        [stream ?? event.stream, type ?? event.type, kind ?? kindOf(event)].join() ===
          [event.stream, event.type, kindOf(event)].join() &&
        (actor === null || actorText(event.metadata.by) === actor) &&
        (cellar === null || cellarOf(event) === cellar) &&
        (key === null || keyOfEvent(event) === key) &&
        event.position > (from ?? -1) &&
        event.position <= (to ?? Number.POSITIVE_INFINITY) &&
        (event.type === 'ReadingsRefused' ? event.data.to : event.recordedAt) >= (since ?? 0) &&
        (event.type === 'ReadingsRefused' ? event.data.from : event.recordedAt) < (until ?? Number.POSITIVE_INFINITY),
    )
  }

  const same = async (filter: Partial<LogPart>): Promise<number> => {
    const events = await readAll(filled.log, filter)
    expect([filter, events]).toEqual([filter, expected(filter)])
    return events.length
  }

  test('gives the same events as a plain filter, by stream, type and position', async () => {
    const { all, keyIds } = filled
    const streams = [null, `readings-${keyIds[0]}`, `readings-${keyIds[1]}`, `key-${keyIds[0]}`, 'key-none']
    const places = [0, 1, 7, logReadPageEvents, logReadPageEvents + 1, all.length - 2, all.length - 1]
    const elsewhere = takesAnyPosition ? [0, all.length + 9] : []
    const positions = [null, ...places.map((index) => all[index]?.position ?? 0), ...elsewhere]
    for (const stream of streams) {
      for (const type of [null, 'ReadingAccepted', 'KeyCreated'] as const) {
        for (const position of positions) {
          await same({ stream, type, from: position })
          await same({ stream, type, to: position })
        }
      }
    }
  })

  test('gives the same events as a plain filter, by kind, actor, cellar and key', async () => {
    const [first, second, third] = filled.keyIds
    const filters: readonly Partial<LogPart>[] = [
      ...(['readings', 'keys', 'cellars'] as const).map((kind) => ({ kind })),
      { actor: 'ada@example.org' },
      { actor: 'cli' },
      { actor: `clr_${second}` },
      ...['wine', 'beer'].map((cellar) => ({ cellar })),
      ...[first, second, third].map((key) => ({ key })),
      { cellar: 'beer', kind: 'keys' },
      { key: first, kind: 'refusals' },
      { cellar: 'wine', kind: 'refusals' },
      { actor: 'system' },
      { key: first, kind: 'readings', type: 'ReadingAccepted' },
      { key: third, cellar: 'beer', actor: 'ada@example.org' },
    ]
    for (const filter of filters) expect(await same(filter)).toBeGreaterThan(0)
    const nothing: readonly Partial<LogPart>[] = [
      { key: third, cellar: 'wine' },
      { key: 'none' },
      { cellar: 'none' },
      { key: second, kind: 'refusals' },
      { stream: `key-${first}`, key: second },
    ]
    for (const filter of nothing) expect(await same(filter)).toBe(0)
  })

  test('gives the same events as a plain filter, by time', async () => {
    const { all, keyIds } = filled
    const times = [0, 1, 30, 199, 200, 333, all.length - 1].map((index) => all[index]?.recordedAt ?? 0)
    for (const at of [...times, (times.at(-1) ?? 0) + 1, 0]) {
      for (const narrow of [{}, { key: keyIds[1] }, { stream: `readings-${keyIds[0]}` }, { cellar: 'beer' }]) {
        await same({ since: at, ...narrow })
        await same({ until: at, ...narrow })
        await same({ since: at - 20_000, until: at + 20_000, from: all[40]?.position ?? null, ...narrow })
      }
    }
  })

  test('reads only the streams of a key, and only the time that is asked for', async () => {
    let reads = 0
    const watched: EventLog = {
      ...filled.log,
      read: (stream, options) => {
        reads += 1
        return filled.log.read(stream, options)
      },
      readAll: () => Promise.reject(new Error('reads the whole log')),
    }
    const at = filled.all.at(-20)?.recordedAt ?? 0
    expect(await readAll(watched, { key: filled.keyIds[0], since: at })).toEqual(
      expected({ key: filled.keyIds[0], since: at }),
    )
    expect(reads).toBeLessThan(40)
  })

  test('reads ever more of a stream of which few events are wanted', async () => {
    const limits: number[] = []
    const read: EventLog['read'] = (stream, options) => {
      limits.push(options?.limit ?? 0)
      return filled.log.read(stream, options)
    }
    const filter = { ...wholeLog, kind: 'readings', rack: { name: 'none', keys: [filled.keyIds[0]] } } as const
    const page = { direction: 'backwards', from: null, pageEvents: 10 } as const
    const search = searchLog(readsOf({ log: { ...filled.log, read }, ask: null }), filter, page)
    expect((await Array.fromAsync(search)).flatMap(({ events }) => events)).toEqual([])
    expect(limits).toEqual([1, 10, 20, 40, 80])
  })
})

describe('searchLog() with an end', () => {
  test('ends soon after the instant, but takes an event that comes a little later', async () => {
    const log = createMemoryLog()
    const late = { ...reading('readings-late'), recordedAt: startMs + 10_000 }
    const usual = (count: number, fromMs: number) =>
      Array.from({ length: count }, (_, index) => reading('readings-a', {}, startMs + fromMs + index * 1_000))
    await log.append('readings-a', 'none', usual(990, 0))
    await log.append('readings-late', 'none', [late])
    await log.append('readings-a', 989, usual(4_000, 990_000))
    let read = 0
    const watched: EventLog = {
      ...log,
      read: (stream, options) => log.read(stream, options),
      readAll: async (options) => {
        const events = await log.readAll(options)
        read += events.length
        return events
      },
    }
    const untilMs = startMs + 20_000
    const events = await readAll(watched, { until: untilMs })
    expect(events).toHaveLength(21)
    expect(events.at(-1)?.id).toBe(late.id)
    expect(read).toBeLessThan(2_500)
    expect(untilMs + recordedSkewMsMax).toBeLessThan(startMs + 990_000)
    await log.close()
  })

  test.each(['forwards', 'backwards'] as const)('finds a summary far behind what it counts, %s', async (direction) => {
    const log = createMemoryLog()
    const others = (from: number) =>
      Array.from({ length: 900 }, (_, at) => reading('readings-a', {}, startMs + from + at))
    await log.append('readings-a', 'none', others(0))
    const data = { from: startMs + 100, to: startMs + 200, counts: [], samples: [] }
    const summary = { ...recordsPurged(startMs + refusalSummaryMsMax), type: 'ReadingsRefused' as const, data }
    await log.append(freshRecordStream('refusals'), 'none', [summary])
    await log.append('readings-a', 899, others(2 * refusalSummaryMsMax))
    const kinds = async (since: number, until: number) => {
      const filter = { ...wholeLog, kind: 'refusals', since: startMs + since, until: startMs + until } as const
      const page = { direction, from: null, pageEvents: 50 } as const
      return (await Array.fromAsync(searchLog(readsOf({ log, ask: null }), filter, page))).flatMap(
        ({ events }) => events,
      ).length
    }
    expect([await kinds(200, 201), await kinds(0, 101), await kinds(0, 100), await kinds(201, 9_999_999)]).toEqual([
      1, 1, 0, 0,
    ])
    await log.close()
  })

  test('reads a stream of records whole, because its times can decrease', async () => {
    const log = createMemoryLog()
    const stream = freshRecordStream('signins')
    const times = [30, 10, 50, 40, 10, 35].map((atMs) => startMs + atMs)
    await log.append(stream, 'none', times.map(recordsPurged))
    const found = await readAll(log, { stream, since: startMs + 20, until: startMs + 41 })
    expect(found.map(({ recordedAt }) => recordedAt - startMs)).toEqual([30, 40, 35])
    await log.close()
  })
})

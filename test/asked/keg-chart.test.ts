import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import type { Core } from '../../src/actors/core-interface.ts'
import { singleReadingsReadMax, streamsReadMax } from '../../src/asked/keg-chart.ts'
import { modelPath } from '../../src/derived/model-file.ts'
import { kegsReadMax, singleReadingsMax } from '../../src/derived/readings/keg-charts.ts'
import type { ChartsWanted, KegChart, SingleReading } from '../../src/derived/readings/shown-kegs.ts'
import type { RecordedEvent } from '../../src/domain/events.ts'
import { batchReadingsMax } from '../../src/limits.ts'
import { copyLog } from '../../src/log/copy-log.ts'
import { ensureLogCreated } from '../../src/log/log-identity.ts'
import { type DerivedHere, derivedHere } from '../support/derived/derived-here.ts'
import { openFreshLog } from '../support/logs/engine.ts'
import { type FaultyLog, faultyLog } from '../support/logs/faulty-log.ts'
import { passingLog } from '../support/logs/passing-log.ts'
import { seededEntropy, seededNumbers } from '../support/seeded-entropy.ts'
import { type Service, startService, testCellar, validReading } from '../support/test-service.ts'
import { manualClock } from '../support/time/manual-clock.ts'
import { until } from '../support/time/until.ts'

const minuteMs = 60_000
const hourMs = 3_600_000

let log: FaultyLog
let service: Service
let derived: DerivedHere
let startMs: number
/** Runs before each read of the chart. */
let beforeRead: () => Promise<void>
/** Readings of each key. */
let posted: Map<string, number>

beforeEach(async () => {
  log = faultyLog(await openFreshLog())
  const clock = manualClock()
  await ensureLogCreated(log, clock, seededEntropy())
  beforeRead = async () => {}
  const { read, lags = false } = log
  const watched = {
    ...passingLog(log),
    lags,
    read: async (...args: Parameters<typeof read>) => {
      await beforeRead()
      return log.read(...args)
    },
  }
  derived = derivedHere(watched, { clock })
  service = await startService({ log, clock, derived })
  startMs = service.clock.now()
  posted = new Map()
})
afterEach(async () => {
  await service.stop()
  derived.remove()
  await log.close()
})

const readingAt = (ms: number, value: number, keg = 'temperature') => ({
  ...validReading,
  keg,
  value,
  timestamp: `${new Date(ms).toISOString().slice(0, 19)}Z`,
})

type Key = { readonly key: string; readonly keyId: string }

const post = async (readings: readonly unknown[], { key, keyId }: Key): Promise<void> => {
  for (let from = 0; from < readings.length; from += batchReadingsMax) {
    const answer = await service.postBatch(readings.slice(from, from + batchReadingsMax), key)
    if (answer.status !== 200) throw new Error(await answer.text())
  }
  posted.set(keyId, (posted.get(keyId) ?? 0) + readings.length)
  await service.untilFolded(keyId, posted.get(keyId) ?? 0)
}

const limit = { readings: 1_000_000, windowMs: minuteMs }

const chartOf = async (wanted: Partial<ChartsWanted> = {}, { questions }: Pick<Core, 'questions'> = service.core) => {
  const range = { fromMs: startMs - hourMs, toMs: service.clock.now(), stepsMax: 400 }
  const kegs = [{ rack: validReading.rack, keg: 'temperature' }]
  const told = await questions.ask('kegChart', { cellar: testCellar, kegs, ...range, ...wanted }, { owner: 'anna' })
  if (told.kind !== 'answered') throw new Error(told.kind)
  const [chart] = told.answer.kegs
  if (chart === undefined || chart === null) throw new Error('there is no chart')
  return chart
}

const allEvents = async (): Promise<readonly RecordedEvent[]> => {
  const events: RecordedEvent[] = []
  for (let page = await service.log.readAll({ limit: 1_000 }); page.length > 0; ) {
    events.push(...page)
    page = await service.log.readAll({ from: events.at(-1)?.position ?? 0, limit: 1_000 })
  }
  return events
}

/** From the events of the log, by time. */
const singlesOf = async (keg: string): Promise<readonly SingleReading[]> => {
  const events = await allEvents()
  return events
    .filter((event): event is RecordedEvent<'ReadingAccepted'> => event.type === 'ReadingAccepted')
    .filter(({ data, recordedAt }) => data.keg === keg && Date.parse(data.timestamp) <= recordedAt + 10 * minuteMs)
    .map(({ stream, revision, position, data }) => ({
      timeMs: Date.parse(data.timestamp),
      value: data.value,
      stream,
      revision,
      position,
    }))
    .toSorted((a, b) => a.timeMs - b.timeMs || a.position - b.position)
}

/** The first of the lowest readings in the log, of the first minute that has one. */
const lowestOf = (singles: readonly SingleReading[], sign = 1): SingleReading | null => {
  const minuteOf = ({ timeMs }: SingleReading): number => Math.floor(timeMs / minuteMs)
  return (
    singles.toSorted((a, b) => sign * (a.value - b.value) || minuteOf(a) - minuteOf(b) || a.position - b.position)[0] ??
    null
  )
}

describe('a chart of the log', () => {
  test('has the single readings of several keys, and leads to its extremes', async () => {
    const keys = [await service.createKey({ limit }), await service.createKey({ limit })] as const
    for (const seed of [1, 2]) {
      const next = seededNumbers(seed)
      for (let request = 0; request < 40; request += 1) {
        service.clock.advance(next() % (2 * minuteMs))
        const nowMs = service.clock.now()
        const offsets = Array.from({ length: 1 + (next() % 4) }, () => [
          0,
          -hourMs / 2,
          -90_000,
          9 * minuteMs,
          11 * minuteMs,
        ])
        const readings = offsets.map((each) => readingAt(nowMs + (each[next() % 5] ?? 0), next() % 10))
        await post([...readings, readingAt(nowMs, 1, 'other')], keys[next() % 2 === 0 ? 0 : 1])
      }
      const chart = await chartOf({ toMs: service.clock.now() + 10 * minuteMs })
      const singles = await singlesOf('temperature')
      expect(chart.readings).toEqual(singles)
      expect(chart.summary.count).toBe(singles.length)
      expect(chart.summary.lowest).toEqual(lowestOf(singles))
      expect(chart.summary.highest).toEqual(lowestOf(singles, -1))
      expect(chart.summary.ahead).toBeGreaterThan(0)
    }
  })

  test('has no single readings beyond their number', async () => {
    const key = await service.createKey({ limit })
    service.clock.advance(hourMs)
    const many = Array.from({ length: singleReadingsMax }, (_, second) => readingAt(startMs + second * 1_000, second))
    await post(many, key)
    expect((await chartOf()).readings).toEqual(await singlesOf('temperature'))
    await post([readingAt(startMs, -1)], key)
    const chart = await chartOf()
    expect([chart.readings, chart.summary.count]).toEqual([null, singleReadingsMax + 1])
    expect(chart.summary.lowest).toEqual(lowestOf(await singlesOf('temperature')))
  })

  test('reads a bounded part of the log for single readings', async () => {
    const key = await service.createKey({ limit })
    const others = (count: number) => Array.from({ length: count }, (_, index) => readingAt(startMs, index, 'other'))
    await post([...others(singleReadingsReadMax - 1), readingAt(startMs, 5)], key)
    service.clock.advance(hourMs)
    let reads = 0
    beforeRead = async () => {
      reads += 1
    }
    expect((await chartOf()).readings).toEqual(await singlesOf('temperature'))
    await post([...others(1), readingAt(startMs, 6)], key)
    service.clock.advance(minuteMs)
    const readsOfAll = reads
    reads = 0
    expect((await chartOf()).readings).toBeNull()
    expect(reads).toBeLessThan(readsOfAll)
  })

  test('reads the streams of a few keys for single readings', async () => {
    const sent: number[] = []
    for (let key = 0; key < streamsReadMax; key += 1) {
      await post([readingAt(startMs - key * minuteMs, key)], await service.createKey({ limit }))
      sent.unshift(key)
    }
    service.clock.advance(hourMs)
    expect((await chartOf()).readings?.map(({ value }) => value)).toEqual(sent)
    await post([readingAt(startMs, streamsReadMax)], await service.createKey({ limit }))
    expect((await chartOf()).readings).toBeNull()
  })

  test('has no single reading that its model does not count yet', async () => {
    const key = await service.createKey({ limit })
    await post(
      [1, 2, 3].map((minute) => readingAt(startMs - minute * minuteMs, minute)),
      key,
    )
    const before = await singlesOf('temperature')
    beforeRead = async () => {
      beforeRead = async () => {}
      await post([readingAt(startMs - 4 * minuteMs, 4)], key)
    }
    const { readings, summary } = await chartOf({ toMs: startMs + hourMs })
    expect([readings, summary.count, summary.highest]).toEqual([before, 3, lowestOf(before, -1)])
    expect((await chartOf({ toMs: startMs + hourMs })).readings).toHaveLength(4)
  })

  test('of many kegs reads nothing from the log', async () => {
    const key = await service.createKey({ limit })
    await post([readingAt(startMs, 1), readingAt(startMs, 2, 'other')], key)
    service.clock.advance(hourMs)
    const kegs = Array.from({ length: kegsReadMax + 1 }, (_, number) => ({
      rack: validReading.rack,
      keg: number === 0 ? 'temperature' : `missing ${number}`,
    }))
    const { readings, summary, points } = await chartOf({ kegs })
    expect([readings, summary.lowest, summary.count, points.length]).toEqual([null, null, 1, 1])
    expect((await chartOf({ kegs: kegs.slice(0, kegsReadMax) })).readings).toHaveLength(1)
  })

  test('is shown without events while the log is away', async () => {
    const key = await service.createKey({ limit })
    await post([readingAt(startMs, 1)], key)
    service.clock.advance(hourMs)
    expect((await chartOf()).summary.lowest?.value).toBe(1)
    log.goAway()
    const { readings, summary, points } = await chartOf()
    log.comeBack()
    expect([readings, summary.lowest, summary.count, points.length]).toEqual([null, null, 1, 1])
  })

  test('is the same after its model was lost, and in a copy of the log', async () => {
    const key = await service.createKey({ limit })
    service.clock.advance(hourMs)
    await post(
      [1, 2, 2, 5].map((minute) => readingAt(startMs + minute * minuteMs, minute)),
      key,
    )
    const before = await chartOf()
    rmSync(modelPath(derived.folder.path, 'readings'))
    await post([readingAt(startMs, 9, 'other')], key)
    await until(() => derived.told.some(({ kind }) => kind === 'replaced'))
    await untilBuilt(derived)
    expect(before.readings).toHaveLength(4)
    expect(await chartOf()).toEqual(before)

    const copy = await openFreshLog()
    const { clock } = service
    await copyLog({ from: log, to: copy, clock, entropy: seededEntropy(), wait: async () => {}, onProgress: () => {} })
    const ofCopy = derivedHere(copy, { clock })
    const second = await startService({ log: copy, clock, derived: ofCopy })
    await second.untilFolded(key.keyId, 5)
    const atPlaces = await chartOf({}, second.core)
    await second.stop()
    ofCopy.remove()
    await copy.close()
    expect({ ...withoutPositions(atPlaces), latest: null }).toEqual({ ...withoutPositions(before), latest: null })
  })
})

/** A model that is built again is in trouble first. */
const untilBuilt = ({ store }: DerivedHere): Promise<void> =>
  until(() => {
    const { isBehind, trouble } = store.progress('readings')
    return !isBehind && trouble === null
  })

/** A copy has other positions. */
const withoutPositions = ({ readings, summary, ...chart }: KegChart) => {
  const places = [...(readings ?? []), summary.lowest, summary.highest]
  const without = places.map((single) => single && { ...single, position: 0 })
  return { ...chart, places: without, summary: { ...summary, lowest: null, highest: null } }
}

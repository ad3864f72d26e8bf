import { expect, spyOn, test } from 'bun:test'
import type { Ask } from '../../src/actors/search/ask-db.ts'
import type { RecordedEvent } from '../../src/domain/events.ts'
import { wholeLog } from '../../src/domain/search/event-filter.ts'
import { cellarsPackedAtOnce, type EventList, exportRows, packUnits } from '../../src/export/export-page.ts'
import { readPageEventsMax } from '../../src/limits.ts'
import { readsOf } from '../support/ask/reads-of.ts'
import { createMemoryLog } from '../support/logs/memory-log.ts'
import { freshKeyStream, keySuspensions } from '../support/logs/sample-events.ts'

/** `ask.db` while it is built. It has events up to `at`, which grows just before each find. */
const growingIndex = (events: readonly RecordedEvent[]): Ask => {
  const positions = events.map(({ position }) => position)
  let at = 100
  const unused = (): never => {
    throw new Error('An export does not ask this')
  }
  return {
    progress: async () => ({ position: positions[at] ?? null, isBehind: true, trouble: null }),
    placeAt: async () => null,
    positionOfMinute: async () => null,
    find: async (_filter: unknown, { from, limit }: { readonly from: number | null; readonly limit: number }) => {
      at += 700
      const known = positions.slice(0, at + 1).filter((position) => position > (from ?? -1))
      const places = known.slice(0, limit).map((position) => events.find((event) => event.position === position))
      return { places, lookedTo: known.length > limit ? (known[limit - 1] ?? null) : null }
    },
    placesOfId: unused,
    minuteCounts: unused,
    hourCounts: unused,
    keyLoads: unused,
    keyDays: unused,
    racksOfKeys: unused,
    refusalsOfCellar: unused,
    racksLike: unused,
  } as unknown as Ask
}

test('an export has every event once while ask.db is built', async () => {
  const log = createMemoryLog()
  for (let streams = 0; streams < 30; streams += 1) await log.append(freshKeyStream(), 'none', keySuspensions(100))
  const all: RecordedEvent[] = []
  for (let page = all.slice(); all.length === 0 || page.length > 0; all.push(...page))
    page = [...(await log.readAll({ limit: readPageEventsMax, from: all.at(-1)?.position ?? -1 }))]
  const ask = growingIndex(all)
  const exported: number[] = []
  let list: EventList = { list: 'events', filter: wholeLog, isWithoutReadings: true }
  for (;;) {
    let nowMs = 0
    const passedMs = (): number => nowMs++ * 150
    const page = await exportRows(readsOf({ log, ask, passedMs }), { list, format: 'ndjson', also: [], units: '[]' })
    for (const line of page.text.split('\n')) if (line !== '') exported.push(Number(JSON.parse(line).position))
    if (page.reached === null) break
    list = { ...list, filter: { ...list.filter, from: page.reached, to: page.to } }
  }
  expect(exported).toEqual(all.map(({ position }) => position))
})

const cellarsWithUnits = (count: number) =>
  Array.from({ length: count }, (_, number) => ({ cellar: `cellar-${number}`, units: new Map([['must', '°C']]) }))

test('the units of many cellars are packed in several turns of the event loop', async () => {
  let turns = 0
  let isPacked = false
  const countTurn = (): void => {
    turns += 1
    if (!isPacked) setImmediate(countTurn)
  }
  setImmediate(countTurn)
  const cellars = cellarsWithUnits(10 * cellarsPackedAtOnce)
  const packed = await packUnits(cellars)
  isPacked = true
  expect(turns).toBeGreaterThanOrEqual(9)
  expect(JSON.parse(packed)).toEqual(cellars.map(({ cellar, units }) => [cellar, [...units]]))
})

test('an export of several pages unpacks its units once', async () => {
  const log = createMemoryLog()
  for (let streams = 0; streams < 30; streams += 1) await log.append(freshKeyStream(), 'none', keySuspensions(100))
  const units = await packUnits(cellarsWithUnits(3))
  using parse = spyOn(JSON, 'parse')
  let list: EventList = { list: 'events', filter: wholeLog }
  let pages = 0
  for (let isLast = false; !isLast; pages += 1) {
    const reads = readsOf({ log, ask: null, passedMs: () => 0 })
    const page = await exportRows(reads, { list, format: 'csv', also: [], units })
    isLast = page.reached === null
    list = { ...list, filter: { ...list.filter, from: page.reached, to: page.to } }
  }
  expect(pages).toBeGreaterThan(1)
  expect(parse.mock.calls.filter(([text]) => text === units)).toHaveLength(1)
})

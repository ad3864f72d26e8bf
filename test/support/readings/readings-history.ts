import { Database } from 'bun:sqlite'
import type { Model } from '../../../src/derived/model.ts'
import { headTable } from '../../../src/derived/model-file.ts'
import { CellReader } from '../../../src/derived/readings/cells.ts'
import { readingsKind } from '../../../src/derived/readings/readings-model.ts'
import type { RecordedEvent } from '../../../src/domain/events.ts'
import type { Reading } from '../../../src/domain/reading/fields.ts'
import { NameCache } from '../../../src/domain/reading/name-cache.ts'
import { eventsOfItems, type LogItem, ReadingRun, RecordedRun } from '../../../src/domain/reading/recorded-run.ts'
import { readingsStream } from '../../../src/domain/stream-names.ts'
import { columnsOf } from '../logs/columns-of.ts'
import { seededNumbers } from '../seeded-entropy.ts'

export const historyStartMs = Date.UTC(2026, 2, 1, 20)
const dayMs = 86_400_000
const minuteMs = 60_000

type HistoryKey = { readonly keyId: string; readonly cellar: string; readonly skewMs: number }

const keys: readonly [HistoryKey, HistoryKey, HistoryKey] = [
  { keyId: 'key1', cellar: 'north', skewMs: 0 },
  { keyId: 'key2', cellar: 'north', skewMs: 4_000 },
  { keyId: 'key3', cellar: 'süd 🍷', skewMs: -3_000 },
]

/**
 * Days of readings of three keys, on time, late, repeated and ahead. They have fractions of a second, unusual names and values.
 * Each midnight is followed by a purge of each key.
 */
export const randomHistory = (seed: number, items = 600): readonly LogItem[] => {
  const next = seededNumbers(seed)
  const below = (max: number): number => next() % max
  const pick = <T>(list: readonly [T, ...T[]]): T => list[below(list.length)] ?? list[0]
  const names = new NameCache()
  const revisions = new Map<string, number>()
  const last = new Map<string, Reading>()
  const history: LogItem[] = []
  let position = 1
  let nowMs = historyStartMs
  let purgedTo = 0
  const readingOf = (cellar: string, recordedAt: number): Reading => {
    const repeated = last.get(cellar)
    if (repeated !== undefined && below(10) === 0) return repeated
    const late = pick([0, 0, 0, 0, minuteMs, 50 * minuteMs, 5 * 3_600_000, dayMs, 45 * dayMs])
    const ahead = pick([0, 0, 0, 0, 0, 9 * minuteMs, 11 * minuteMs, 3 * dayMs])
    const ms = recordedAt + ahead - Math.floor((late * below(1_000)) / 1_000)
    const end = pick(['Z', 'Z', 'Z', '+00:00', '.25Z', '.123456789Z', '.123456788Z', '.000000001+00:00'])
    const reading = {
      cellar,
      rack: pick(['rack-2', 'rack-10', 'Räck ß', '🍷']),
      keg: pick(['keg-1', 'keg-2', 'keg-10', 'é']),
      value: pick([0, -0, 1e-9, 4.25, 0.1, -17.125, 1e300, below(100_000) / 1_000]),
      timestamp: `${new Date(ms).toISOString().slice(0, 19)}${end}`,
    }
    last.set(cellar, reading)
    return reading
  }
  for (let item = 0; item < items; item += 1) {
    nowMs += below(Math.floor((8 * dayMs) / items))
    // Some hours late, so that each keg loses only a part.
    const midnight = Math.floor((nowMs - 5 * 3_600_000) / dayMs) * dayMs
    if (midnight > historyStartMs && midnight > purgedTo && below(3) === 0) {
      purgedTo = midnight
      for (const { keyId, cellar } of keys) {
        const purged = purgeOf({ keyId, cellar, acceptedBefore: midnight, position }, history)
        if (purged === null) continue
        history.push(purged)
        position += 1
      }
    }
    const { keyId, cellar, skewMs } = pick(keys)
    const recordedAt = nowMs + skewMs
    const revision = revisions.get(keyId) ?? 0
    const counts = Array.from({ length: 1 + below(3) }, () => pick([1, 1, 3, 20, 70]))
    const requests = counts.map((count) => {
      const readings = Array.from({ length: count }, () => readingOf(cellar, recordedAt))
      const [single] = readings
      const isBatch = single === undefined || count > 1 || below(2) === 0
      return {
        requestId: '0195a1b2-0000-4000-8000-000000000000',
        readings: isBatch ? columnsOf(readings, (text) => names.named(text)) : single,
        idempotency: null,
      }
    })
    const run = new ReadingRun(keyId, recordedAt, requests)
    const recorded = new RecordedRun(run, { stream: readingsStream(keyId), revision, position })
    if (below(5) === 0) history.push(...recorded.events())
    else history.push(recorded)
    position += run.count
    revisions.set(keyId, revision + run.count)
  }
  return history
}

type Purge = {
  readonly keyId: string
  readonly cellar: string
  readonly acceptedBefore: number
  readonly position: number
}

const purgeOf = (
  { keyId, cellar, acceptedBefore, position }: Purge,
  history: readonly LogItem[],
): RecordedEvent<'ReadingsPurged'> | null => {
  const old = readingsOf(history).filter(
    (one) => one.stream === readingsStream(keyId) && one.recordedAt < acceptedBefore,
  )
  const [last] = old.slice(-1)
  if (last === undefined) return null
  return {
    id: `purge-${position}`,
    type: 'ReadingsPurged',
    recordedAt: acceptedBefore,
    stream: `cellar-${cellar}`,
    revision: position,
    position,
    metadata: { by: { kind: 'system' }, requestId: 'x', correlationId: 'x', causationId: 'x' },
    data: {
      cellar,
      keyId,
      firstRevision: 0,
      lastRevision: last.revision,
      readings: old.length,
      acceptedBefore,
      lastAcceptedAt: last.recordedAt,
    },
  }
}

export const readingsOf = (history: readonly LogItem[]): readonly RecordedEvent<'ReadingAccepted'>[] =>
  eventsOfItems(history).flatMap((event) => (event.type === 'ReadingAccepted' ? [event] : []))

/** What is left of the log after the purges: events. */
export const purgedLog = (history: readonly LogItem[]): readonly LogItem[] => {
  const keptFrom = new Map<string, number>()
  for (const item of history) {
    if (item.type === 'ReadingsPurged') keptFrom.set(readingsStream(item.data.keyId), item.data.lastRevision + 1)
  }
  return eventsOfItems(history).filter(
    ({ type, stream, revision }) => type !== 'ReadingAccepted' || revision >= (keptFrom.get(stream) ?? 0),
  )
}

export const emptyReadings = (): Database => {
  const database = new Database(':memory:', { strict: true })
  database.run(headTable + readingsKind.tables)
  return database
}

export const flushReadings = (database: Database, model: Model, nowMs: number): void => {
  database.transaction(() => {
    for (const _ of model.flush(nowMs)) {
      // The follower would let other work run here.
    }
  })()
}

/** A model in memory that has folded and written all items. */
export const foldedReadings = (items: readonly LogItem[], nowMs: number): Database => {
  const database = emptyReadings()
  const model = readingsKind.open(database)
  model.fold(items)
  flushReadings(database, model, nowMs)
  return database
}

const tables = {
  cellars: 'number',
  kept: 'first_minute',
  kegs: 'cellar, rack_order, keg_order',
  latest: 'cellar, keg',
  minutes: 'cellar, time, cell',
  hours: 'cellar, time, cell',
  ahead: 'cellar, rack, keg, hour',
  recent: 'cellar, recorded_ms, position',
}

/** All rows of all tables. The first position in the bytes of a cell depends on the flushes, so the buckets are compared. */
export const rowsOf = (database: Database): Readonly<Record<string, readonly unknown[]>> =>
  Object.fromEntries(
    Object.entries(tables).map(([table, order]) => [
      table,
      database
        .query<{ readonly buckets?: Uint8Array }, []>(`SELECT * FROM ${table} ORDER BY ${order}`)
        .all()
        .map((row) => JSON.stringify(row.buckets === undefined ? row : { ...row, buckets: bucketsOf(row.buckets) })),
    ]),
  )

const bucketsOf = (bytes: Uint8Array): readonly unknown[] => {
  const reader = new CellReader(bytes)
  const buckets: unknown[] = []
  while (reader.next()) buckets.push([reader.keg, ...reader.numbers])
  return buckets
}

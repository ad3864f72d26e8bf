/** Made on the thread for questions, so that an export takes nothing from readings. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { searchLog } from '../actors/search/search-log.ts'
import type { SearchReads } from '../derived/questions/question.ts'
import type { CellarState, Units } from '../domain/cellar.ts'
import type { ExportFormat, RecordedEvent } from '../domain/events.ts'
import { assertNever } from '../domain/refusal.ts'
import { anyEvent, type LogFilter, type LogPart, matches } from '../domain/search/event-filter.ts'
import { keyStream } from '../domain/stream-names.ts'
import { readPageEventsMax } from '../limits.ts'
import { eventRow } from './export-rows.ts'

/** A page of an export ends after this time on the thread for questions. Other questions have their turns meanwhile. */
export const exportPageMs = 200

/** Oldest first. */
export type EventList =
  | {
      readonly list: 'events'
      readonly filter: LogPart
      readonly isWithoutReadings?: boolean
    }
  | {
      readonly list: 'readings'
      readonly filter: LogPart
      readonly rack: string | null
      readonly keg: string | null
    }
  /** As the key's page shows its history. Of the filter, only `since` and `until` apply. */
  | { readonly list: 'history'; readonly filter: LogPart & { readonly key: string } }

export type RowsWanted = {
  /** The rows are behind `filter.from`, up to `filter.to`. Default: up to the event that is the last one now. */
  readonly list: EventList
  readonly format: ExportFormat
  /** Seals, fences and purges of the key. To find them in the log, the export would have to read all of its readings. */
  readonly also: readonly RecordedEvent[]
  /** Of all cellars that the list can have readings of: `packUnits`. */
  readonly units: string
}

type PackedUnits = readonly (readonly [cellar: string, units: readonly (readonly [keg: string, unit: string])[]])[]

/** Cellars whose units are packed in one turn of the event loop. With all their units, that takes 3 ms. */
export const cellarsPackedAtOnce = 50

/** To copy a text to the thread takes the event loop less time than to copy thousands of maps with each page. */
export const packUnits = async (cellars: readonly Pick<CellarState, 'cellar' | 'units'>[]): Promise<string> => {
  const packed: string[] = []
  for (let at = 0; at < cellars.length; at += cellarsPackedAtOnce) {
    if (at > 0) await nextTurn()
    for (const { cellar, units } of cellars.slice(at, at + cellarsPackedAtOnce))
      packed.push(JSON.stringify([cellar, [...units]] satisfies PackedUnits[number]))
  }
  return `[${packed.join(',')}]`
}

/** Of the last page, because most exports have several pages with the same units. */
let unpacked: { readonly packed: string; readonly units: ReadonlyMap<string, Units> } | null = null

const unpackUnits = (packed: string): ReadonlyMap<string, Units> => {
  if (unpacked?.packed === packed) return unpacked.units
  const cellars: PackedUnits = JSON.parse(packed)
  const units = new Map(cellars.map(([cellar, ofCellar]) => [cellar, new Map(ofCellar)]))
  unpacked = { packed, units }
  return units
}

export type ExportedRows = {
  readonly text: string
  readonly rows: number
  readonly first: number | null
  /** `null`: this was the last page. */
  readonly reached: number | null
  readonly to: number
}

export type ListedEvents = Omit<ExportedRows, 'text' | 'rows'> & { readonly events: readonly RecordedEvent[] }

/** @throws Outage, UndecodableEvent */
export const exportRows = async (
  reads: SearchReads,
  { format, units, ...wanted }: RowsWanted,
): Promise<ExportedRows> => {
  const { events, ...page } = await eventsOfList(reads, wanted)
  const text = events.map(eventRow(wanted.list.list, format, unpackUnits(units))).join('')
  if (page.reached === null) unpacked = null
  return { ...page, text, rows: events.length }
}

/**
 * Ends with `readPageEventsMax` events, or after `exportPageMs`, so a page can have none. The caller gives `to` with the
 * next pages, so that the export of a busy log ends. @throws Outage, UndecodableEvent
 */
export const eventsOfList = async (
  reads: SearchReads,
  { list, also }: Omit<RowsWanted, 'format' | 'units'>,
): Promise<ListedEvents> => {
  const beganMs = reads.passedMs()
  const [last] = await reads.log.readAll({ direction: 'backwards', limit: 1 })
  const { from } = list.filter
  const to = Math.min(last?.position ?? -1, list.filter.to ?? Number.MAX_SAFE_INTEGER)
  const events: RecordedEvent[] = []
  let reached = from
  const add = (some: readonly RecordedEvent[], end: number): void => {
    events.push(...(also.length === 0 ? some : merged(some, also, { after: reached, to: end })))
    reached = end
  }
  const page = (next: number | null): ListedEvents => ({
    events,
    first: events[0]?.position ?? null,
    reached: next,
    to,
  })
  if (to <= (from ?? -1)) return page(null)
  for await (const { events: some, lookedTo } of found(reads, list, { from, to })) {
    add(some.filter(isOf(list)), lookedTo?.position ?? to)
    const isFull = events.length >= readPageEventsMax || reads.passedMs() - beganMs >= exportPageMs
    if (isFull && lookedTo !== null) return page(reached)
  }
  add([], to)
  return page(null)
}

type Range = { readonly from: number | null; readonly to: number }

const found = (reads: SearchReads, list: EventList, range: Range) => {
  const page = { direction: 'forwards', ...range, pageEvents: readPageEventsMax } as const
  const { from: _, to: __, ...filter } = list.filter
  return list.list === 'history'
    ? searchLog({ ...reads, ask: null }, ofKey(filter, list.filter.key), page)
    : searchLog(
        { ...reads, isWithoutReadings: list.list === 'events' && list.isWithoutReadings === true },
        wanted(list.list, filter),
        page,
      )
}

const wanted = (list: EventList['list'], filter: LogFilter): LogFilter =>
  list === 'readings' ? { ...filter, type: 'ReadingAccepted' } : filter

const ofKey = ({ since, until }: LogFilter, key: string): LogFilter => ({
  ...anyEvent,
  stream: keyStream(key),
  since,
  until,
})

const isOf =
  (list: EventList) =>
  ({ type, data }: RecordedEvent): boolean => {
    switch (list.list) {
      case 'readings':
        return (
          type === 'ReadingAccepted' &&
          (list.rack === null || data.rack === list.rack) &&
          (list.keg === null || data.keg === list.keg)
        )
      case 'events':
      case 'history':
        return true
      default:
        return assertNever(list)
    }
  }

const merged = (
  events: readonly RecordedEvent[],
  also: readonly RecordedEvent[],
  { after, to }: { readonly after: number | null; readonly to: number },
): readonly RecordedEvent[] =>
  [...events, ...also.filter(({ position }) => position > (after ?? -1) && position <= to)].toSorted(
    (a, b) => a.position - b.position,
  )

/** Within the times of the filter. */
export const ofTime = (events: readonly RecordedEvent[], { since, until }: LogPart): readonly RecordedEvent[] =>
  events.filter(({ recordedAt }) => matches({ ...anyEvent, recordedAt }, { ...anyEvent, since, until }))

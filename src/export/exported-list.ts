import type { Core } from '../actors/core.ts'
import type { LogReads } from '../actors/search/patient-reads.ts'
import { type LogSearch, searchLog } from '../actors/search/search-log.ts'
import { instantText } from '../domain/calendar.ts'
import type { ExportFormat, RecordedEvent } from '../domain/events.ts'
import { assertNever } from '../domain/refusal.ts'
import { anyEvent, type LogPart, matches } from '../domain/search/event-filter.ts'
import { keyStream } from '../domain/stream-names.ts'
import { withoutSecrets } from '../domain/text.ts'
import { exportPageKeys, logReadPageEvents } from '../limits.ts'
import { eventRow, headOf, keyRow } from './export-rows.ts'

/** What somebody takes out of the log. Events come in the order of their positions, oldest first. */
export type ExportedList =
  | {
      readonly list: 'events'
      readonly filter: LogPart
      /** True if single readings are left out. Default: false. */
      readonly isWithoutReadings?: boolean
    }
  /** `null` takes the readings of every rack or keg. */
  | {
      readonly list: 'readings'
      readonly filter: LogPart
      readonly rack: string | null
      readonly keg: string | null
    }
  /** The changes of the key in `filter.key`, as its page shows them. Only `since` and `until` apply besides. */
  | { readonly list: 'history'; readonly filter: LogPart & { readonly key: string } }
  | { readonly list: 'keys'; readonly cellar: string | null }

/**
 * `share` is the part of the log that is done, from 0 to 1; it is 0 for lists that are short. A page can have no rows: the
 * caller can then let other work run.
 */
export type ExportPage = { readonly text: string; readonly rows: number; readonly share: number }

/** What an export reads. */
export type ExportedCore = Pick<Core, 'ask' | 'clock' | 'projections'> & { readonly log: LogReads }

export type Exporting = {
  readonly core: ExportedCore
  readonly list: ExportedList
  readonly format: ExportFormat
  /** True if the rows are added to a file that has its head already. Default: false. */
  readonly isResumed?: boolean
}

/**
 * Reads at most `logReadPageEvents` events for each page, and nothing ahead. Ends with the event that is the last one at the
 * beginning, so that the export of a busy log ends. @throws Outage, UndecodableEvent
 */
export async function* pagesOf({ core, list, format, isResumed = false }: Exporting): AsyncGenerator<ExportPage, void> {
  const head = headOf(list.list, format)
  if (head !== '' && !isResumed) yield { text: head, rows: 0, share: 0 }
  if (list.list === 'keys') return yield* pagesOfKeys({ core, list, format })
  const [last] = await core.log.readAll({ direction: 'backwards', limit: 1 })
  if (last === undefined) return
  const { from } = list.filter
  if (from !== null && from >= last.position) return
  const to = Math.min(last.position, list.filter.to ?? last.position)
  const row = eventRow(list.list, format)
  let first: number | null = from
  for await (const events of eventsOf(core, list, to)) {
    const [firstEvent, lastEvent] = [events[0], events.at(-1)]
    first ??= firstEvent?.position ?? null
    const share = first === null || lastEvent === undefined ? 0 : (lastEvent.position - first) / Math.max(1, to - first)
    yield { text: events.map(row).join(''), rows: events.length, share }
  }
}

type EventList = Exclude<ExportedList, { readonly list: 'keys' }>
type EventPages = AsyncGenerator<readonly RecordedEvent[], void>

const eventsOf = (core: ExportedCore, list: EventList, to: number): EventPages => {
  const filter = { ...list.filter, to }
  switch (list.list) {
    case 'events':
      return found({ ...core, isWithoutReadings: list.isWithoutReadings === true }, filter)
    case 'readings':
      return readings(core, { ...list, filter })
    case 'history':
      return history(core, { ...list.filter, to })
    default:
      return assertNever(list)
  }
}

async function* found(search: LogSearch, { from, to, ...filter }: LogPart): EventPages {
  const page = { direction: 'forwards', from, to, pageEvents: logReadPageEvents } as const
  for await (const { events } of searchLog(search, filter, page)) yield events
}

async function* readings(core: ExportedCore, list: Extract<ExportedList, { list: 'readings' }>): EventPages {
  const { filter, rack, keg } = list
  for await (const events of found(core, { ...filter, type: 'ReadingAccepted' }))
    yield events.filter(
      ({ type, data }) =>
        type === 'ReadingAccepted' && (rack === null || data.rack === rack) && (keg === null || data.keg === keg),
    )
}

/**
 * Reads the key's own stream. Its seals, fences and last purge come from memory, because to find them in the log would mean to
 * read all of the key's readings.
 */
async function* history(core: ExportedCore, filter: LogPart & { readonly key: string }): EventPages {
  const { key, from, to, since, until } = filter
  const times = { ...anyEvent, since, until }
  const { readings: known } = core.projections
  const purged = known.purged(key)
  const isWanted = (event: RecordedEvent): boolean =>
    event.position > (from ?? -1) &&
    event.position <= (to ?? event.position) &&
    matches({ ...anyEvent, recordedAt: event.recordedAt }, times)
  let rest: readonly RecordedEvent[] = [...known.barriers(key), ...(purged === null ? [] : [purged.last])]
    .filter(isWanted)
    .toSorted((a, b) => a.position - b.position)
  for await (const events of found({ ...core, ask: null }, { ...filter, key: null, stream: keyStream(key) })) {
    const last = events.at(-1)
    if (last === undefined) continue
    const before = rest.filter(({ position }) => position < last.position)
    rest = rest.slice(before.length)
    yield [...events, ...before].toSorted((a, b) => a.position - b.position)
  }
  yield rest
}

type KeyList = Omit<Exporting, 'list'> & { readonly list: Extract<ExportedList, { list: 'keys' }> }

async function* pagesOfKeys({ core, list, format }: KeyList): AsyncGenerator<ExportPage, void> {
  const { keys } = core.projections
  const all = list.cellar === null ? keys.list() : keys.ofCellar(list.cellar)
  const row = keyRow(core, format)
  for (let at = 0; at < all.length; at += exportPageKeys) {
    const some = all.slice(at, at + exportPageKeys)
    yield { text: some.map(row).join(''), rows: some.length, share: at / all.length }
  }
}

/** The fields that are set, as people type them, for the record of the export. */
export const filterWords = (list: ExportedList): Readonly<Record<string, string>> => {
  if (list.list === 'keys') return list.cellar === null ? {} : { cellar: list.cellar }
  const { since, until, ...rest } = list.filter
  const places = list.list === 'readings' ? { rack: list.rack, keg: list.keg } : {}
  const words = {
    ...rest,
    ...places,
    readings: list.list === 'events' && list.isWithoutReadings === true ? 'no' : null,
    since: since === null ? null : instantText(since),
    until: until === null ? null : instantText(until),
  }
  return Object.fromEntries(
    Object.entries(words).flatMap(([name, value]) => (value === null ? [] : [[name, withoutSecrets(String(value))]])),
  )
}

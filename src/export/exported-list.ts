import { answerOf } from '../actors/ask/answer-of.ts'
import { knownOfHistory } from '../actors/ask/known-of-history.ts'
import type { Core } from '../actors/core-interface.ts'
import { instantText } from '../domain/calendar.ts'
import type { ExportedListName, ExportFormat, RecordedEvent } from '../domain/events.ts'
import type { LogPart } from '../domain/search/event-filter.ts'
import { withoutSecrets } from '../domain/text.ts'
import { csvRow } from './csv-escaping.ts'
import { type EventList, type ExportedRows, ofTime, packUnits, type RowsWanted } from './export-page.ts'
import { eventColumns, readingColumns } from './export-rows.ts'
import { keyColumns, keyRow } from './key-row.ts'

const csvColumns: Readonly<Record<ExportedListName, object>> = {
  events: eventColumns,
  history: eventColumns,
  readings: readingColumns,
  keys: keyColumns,
}

/** Blank for JSON lines. */
export const headOf = (list: ExportedListName, format: ExportFormat): string =>
  format === 'csv' ? csvRow(Object.keys(csvColumns[list])) : ''

/** Keys that an export writes in one turn of the event loop. */
const exportPageKeys = 200

export type ExportedList = EventList | { readonly list: 'keys'; readonly cellar: string | null }

/** `share` is the part of the log that is done, from 0 to 1; 0 for short lists. A page can have no rows. */
export type ExportPage = { readonly text: string; readonly rows: number; readonly share: number }

export type ExportedCore = Pick<Core, 'clock' | 'projections' | 'questions'>

export type Exporting = {
  readonly core: ExportedCore
  readonly list: ExportedList
  readonly format: ExportFormat
  /** The rows are added to a file that has its head. */
  readonly isResumed?: boolean
  /** The questions of owners take turns. */
  readonly owner: string
  /** Repeats a read that meets a short outage. */
  readonly patient: <T>(read: () => Promise<T>) => Promise<T>
}

/** Reads nothing ahead. @throws Outage, UndecodableEvent */
export async function* pagesOf(exporting: Exporting): AsyncGenerator<ExportPage, void> {
  const { core, list, format, isResumed = false, patient } = exporting
  const head = headOf(list.list, format)
  if (head !== '' && !isResumed) yield { text: head, rows: 0, share: 0 }
  if (list.list === 'keys') return yield* pagesOfKeys({ core, format, cellar: list.cellar })
  const also = list.list === 'history' ? knownOf(core, list.filter) : []
  const units = await packUnits(list.list === 'readings' ? cellarsWithUnits(core, list.filter) : [])
  let rest: EventList = list
  let first = list.filter.from
  while (true) {
    const wanted = { list: rest, format, also, units }
    const page = await patient(() => rowsOf(exporting, wanted))
    const { text, rows, reached, to } = page
    first ??= page.first
    const share = first === null || reached === null ? 0 : (reached - first) / Math.max(1, to - first)
    yield { text, rows, share }
    if (reached === null) return
    rest = between(rest, { from: reached, to })
  }
}

const between = (list: EventList, range: { readonly from: number; readonly to: number }): EventList =>
  list.list === 'history'
    ? { ...list, filter: { ...list.filter, ...range } }
    : { ...list, filter: { ...list.filter, ...range } }

const rowsOf = async ({ core, owner, list }: Exporting, wanted: RowsWanted): Promise<ExportedRows> =>
  answerOf(await core.questions.ask('exportPage', wanted, { owner, isAtOnce: wanted.list !== list, isPatient: true }))

const knownOf = (
  core: ExportedCore,
  filter: Extract<EventList, { readonly list: 'history' }>['filter'],
): readonly RecordedEvent[] => ofTime(knownOfHistory(core, filter.key).also, filter)

/** As they are when the export begins, so that all its rows agree. */
const cellarsWithUnits = ({ projections: { cellars, keys } }: ExportedCore, { cellar, key }: LogPart) => {
  const name = cellar ?? (key === null ? null : (keys.get(key)?.cellar ?? null))
  return cellars.list().filter((one) => one.units.size > 0 && (name === null || one.cellar === name))
}

type KeyList = Pick<Exporting, 'core' | 'format'> & { readonly cellar: string | null }

async function* pagesOfKeys({ core, cellar, format }: KeyList): AsyncGenerator<ExportPage, void> {
  const { keys } = core.projections
  const all = cellar === null ? keys.list() : keys.ofCellar(cellar)
  const row = keyRow(core, format)
  for (let at = 0; at < all.length; at += exportPageKeys) {
    const some = all.slice(at, at + exportPageKeys)
    yield { text: some.map(row).join(''), rows: some.length, share: at / all.length }
  }
}

/** As people type them. */
export const filterWords = (list: ExportedList): Readonly<Record<string, string>> => {
  if (list.list === 'keys') return list.cellar === null ? {} : { cellar: list.cellar }
  const { since, until, rack, ...rest } = list.filter
  const places = list.list === 'readings' ? { rack: list.rack, keg: list.keg } : { rack: rack?.name ?? null }
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

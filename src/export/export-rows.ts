/** Programs rely on the heads of CSV: add columns only at the end. */
import { instantText } from '../domain/calendar.ts'
import type { Units } from '../domain/cellar.ts'
import type { ExportedListName, ExportFormat, RecordedEvent } from '../domain/events.ts'
import { optionalFields, type ReadingField, requiredFields } from '../domain/reading/fields.ts'
import { actorText } from '../domain/search/event-filter.ts'
import { keyIdOf } from '../domain/stream-names.ts'
import { visibleJson } from '../hidden-characters.ts'
import { type Cell, csvRow } from './csv-escaping.ts'
import { eventView, redactedData } from './event-view.ts'

export type Columns<Row> = Readonly<Record<string, (row: Row) => Cell>>

export const eventColumns: Columns<RecordedEvent> = {
  position: ({ position }) => position,
  stream: ({ stream }) => stream,
  revision: ({ revision }) => revision,
  id: ({ id }) => id,
  type: ({ type }) => type,
  recordedAt: ({ recordedAt }) => instantText(recordedAt),
  by: ({ metadata }) => actorText(metadata.by),
  requestId: ({ metadata }) => metadata.requestId,
  // Without semicolons, `csvRow` puts nothing into the JSON. A parser turns the escapes back.
  data: (event) => JSON.stringify(redactedData(event)).replaceAll(';', '\\u003b'),
}

type Accepted = RecordedEvent<'ReadingAccepted'> & { readonly unit: string | null }

const columnsOf = (fields: readonly ReadingField[]): Columns<Accepted> =>
  Object.fromEntries(fields.map((field) => [field, ({ data }) => data[field] ?? null]))

export const readingColumns: Columns<Accepted> = {
  position: ({ position }) => position,
  stream: ({ stream }) => stream,
  revision: ({ revision }) => revision,
  id: ({ id }) => id,
  key: ({ stream }) => keyIdOf(stream),
  recordedAt: ({ recordedAt }) => instantText(recordedAt),
  ...columnsOf(requiredFields),
  requestId: ({ metadata }) => metadata.requestId,
  unit: ({ unit }) => unit,
  ...columnsOf(optionalFields),
}

/** Only the list of readings has units. */
export const eventRow = (
  list: ExportedListName,
  format: ExportFormat,
  units: ReadonlyMap<string, Units>,
): ((event: RecordedEvent) => string) => {
  const [ofEvent, ofReading] = format === 'ndjson' ? [jsonRow, jsonRow] : [rowOf(eventColumns), rowOf(readingColumns)]
  return (event) => {
    if (list !== 'readings' || event.type !== 'ReadingAccepted') return ofEvent(event)
    return ofReading({ ...event, unit: units.get(event.data.cellar)?.get(event.data.keg) ?? null })
  }
}

const jsonRow = (event: RecordedEvent | Accepted): string => {
  const view = eventView(event)
  return `${visibleJson('unit' in event ? { ...view, unit: event.unit } : view)}\n`
}

export const rowOf = <Row>(columns: Columns<Row>): ((row: Row) => string) => {
  const cells = Object.values(columns)
  return (row) => csvRow(cells.map((cell) => cell(row)))
}

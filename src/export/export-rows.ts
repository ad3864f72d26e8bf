/** Programs rely on the heads of CSV: add columns only at the end. */
import type { Core } from '../actors/core-interface.ts'
import { instantText } from '../domain/calendar.ts'
import type { ExportedListName, ExportFormat, RecordedEvent } from '../domain/events.ts'
import type { KeyState } from '../domain/key.ts'
import { optionalFields, type ReadingField, requiredFields } from '../domain/reading/fields.ts'
import { actorText } from '../domain/search/event-filter.ts'
import { keyIdOf } from '../domain/stream-names.ts'
import { visibleJson } from '../hidden-characters.ts'
import { type Cell, csvRow } from './csv-escaping.ts'
import { eventView, redactedData } from './event-view.ts'
import { keyView } from './key-view.ts'

type Columns<Row> = Readonly<Record<string, (row: Row) => Cell>>

const eventColumns: Columns<RecordedEvent> = {
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

type Accepted = RecordedEvent<'ReadingAccepted'>

const columnsOf = (fields: readonly ReadingField[]): Columns<Accepted> =>
  Object.fromEntries(fields.map((field) => [field, ({ data }) => data[field] ?? null]))

const readingColumns: Columns<Accepted> = {
  position: ({ position }) => position,
  stream: ({ stream }) => stream,
  revision: ({ revision }) => revision,
  id: ({ id }) => id,
  key: ({ stream }) => keyIdOf(stream),
  recordedAt: ({ recordedAt }) => instantText(recordedAt),
  ...columnsOf(requiredFields),
  requestId: ({ metadata }) => metadata.requestId,
  ...columnsOf(optionalFields),
}

const keyColumns: Columns<ReturnType<typeof keyView>> = {
  id: ({ id }) => id,
  cellar: ({ cellar }) => cellar,
  label: ({ label }) => label,
  note: ({ note }) => note,
  status: ({ status }) => status,
  limitReadings: ({ limit }) => limit.readings,
  limitSeconds: ({ limit }) => limit.windowMs / 1_000,
  expiresAt: ({ expiresAt }) => expiresAt,
  createdAt: ({ createdAt }) => createdAt,
  lastUsedAt: ({ lastUsedAt }) => lastUsedAt,
  predecessor: ({ predecessor = null }) => predecessor,
  successor: ({ successor = null }) => successor,
}

const csvColumns: Readonly<Record<ExportedListName, object>> = {
  events: eventColumns,
  history: eventColumns,
  readings: readingColumns,
  keys: keyColumns,
}

export const headOf = (list: ExportedListName, format: ExportFormat): string =>
  format === 'csv' ? csvRow(Object.keys(csvColumns[list])) : ''

export const eventRow = (list: ExportedListName, format: ExportFormat): ((event: RecordedEvent) => string) => {
  if (format === 'ndjson') return (event) => `${visibleJson(eventView(event))}\n`
  const [ofEvent, ofReading] = [rowOf(eventColumns), rowOf(readingColumns)]
  return (event) => (list === 'readings' && event.type === 'ReadingAccepted' ? ofReading(event) : ofEvent(event))
}

export const keyRow = (core: Pick<Core, 'clock' | 'projections'>, format: ExportFormat) => {
  const ofKey = format === 'csv' ? rowOf(keyColumns) : (view: object): string => `${visibleJson(view)}\n`
  return (state: KeyState): string => ofKey(keyView(core, state))
}

const rowOf = <Row>(columns: Columns<Row>): ((row: Row) => string) => {
  const cells = Object.values(columns)
  return (row) => csvRow(cells.map((cell) => cell(row)))
}

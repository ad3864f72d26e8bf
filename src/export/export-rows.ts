/** Programs rely on the heads of CSV: add columns only at the end. */
import { instantText } from '../domain/calendar.ts'
import type { ExportedListName, ExportFormat, RecordedEvent } from '../domain/events.ts'
import { optionalFields, requiredFields } from '../domain/reading/fields.ts'
import { actorText } from '../domain/search/event-filter.ts'
import { keyIdOf } from '../domain/stream-names.ts'
import { visibleJson } from '../hidden-characters.ts'
import { type Cell, csvRow } from './csv-escaping.ts'
import { eventView, redactedData } from './event-view.ts'

const eventHead = ['position', 'stream', 'revision', 'id', 'type', 'recordedAt', 'by', 'requestId', 'data'] as const
const readingHead = [
  'position',
  'stream',
  'revision',
  'id',
  'key',
  'recordedAt',
  ...requiredFields,
  'requestId',
  ...optionalFields,
]
const keyHead = [
  'id',
  'cellar',
  'label',
  'note',
  'status',
  'limitReadings',
  'limitSeconds',
  'expiresAt',
  'createdAt',
  'lastUsedAt',
  'predecessor',
  'successor',
] as const

const csvHeads: Readonly<Record<ExportedListName, readonly string[]>> = {
  events: eventHead,
  history: eventHead,
  readings: readingHead,
  keys: keyHead,
}

export const headOf = (list: ExportedListName, format: ExportFormat): string =>
  format === 'csv' ? csvRow(csvHeads[list]) : ''

export const eventRow = (list: ExportedListName, format: ExportFormat): ((event: RecordedEvent) => string) => {
  if (format === 'ndjson') return (event) => `${visibleJson(eventView(event))}\n`
  return (event) => csvRow(list === 'readings' && event.type === 'ReadingAccepted' ? readingCells(event) : cells(event))
}

const cells = (event: RecordedEvent): readonly Cell[] => [
  event.position,
  event.stream,
  event.revision,
  event.id,
  event.type,
  instantText(event.recordedAt),
  actorText(event.metadata.by),
  event.metadata.requestId,
  jsonCell(redactedData(event)),
]

/** Without semicolons, `csvRow` puts nothing into the JSON. A parser turns the escapes back. */
const jsonCell = (data: object): string => JSON.stringify(data).replaceAll(';', '\\u003b')

const readingCells = ({ position, stream, revision, ...event }: RecordedEvent<'ReadingAccepted'>): readonly Cell[] => [
  position,
  stream,
  revision,
  event.id,
  keyIdOf(stream),
  instantText(event.recordedAt),
  ...requiredFields.map((field) => event.data[field] ?? null),
  event.metadata.requestId,
  ...optionalFields.map((field) => event.data[field] ?? null),
]

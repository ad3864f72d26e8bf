import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { eventKinds } from '../../domain/events/declare-event.ts'
import { ExportFormat } from '../../domain/events/log-events.ts'
import { eventTypes } from '../../domain/events.ts'

const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
const text = Type.String()
/** Ms since 1970, negative before. */
const instant = Type.Integer()

export const filterFields = {
  stream: orNull(text),
  type: orNull(Type.Union(eventTypes.map((type) => Type.Literal(type)))),
  kind: orNull(Type.Union(eventKinds.map((kind) => Type.Literal(kind)))),
  actor: orNull(text),
  cellar: orNull(text),
  key: orNull(text),
  from: orNull(Type.Integer()),
  to: orNull(Type.Integer()),
  since: orNull(instant),
  until: orNull(instant),
}

/** The last event of an export that was cut off, after which it goes on. */
export const LastExported = Type.Object({
  position: text,
  stream: text,
  revision: Type.Integer({ minimum: 0 }),
  id: text,
})
export type LastExported = Static<typeof LastExported>

export const ExportOperation = Type.Object({
  op: Type.Literal('export_log'),
  list: Type.Union([Type.Literal('events'), Type.Literal('readings'), Type.Literal('keys')]),
  format: ExportFormat,
  filter: Type.Object(filterFields),
  rack: orNull(text),
  keg: orNull(text),
  /** `null`: the export begins anew. */
  after: orNull(LastExported),
})
export type ExportOperation = Static<typeof ExportOperation>

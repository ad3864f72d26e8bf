/**
 * The fields, in the order in which faults are reported (docs/contract.md, "One reading") and exports show them.
 * CONTRIBUTING.md, "Add a field", says what else knows a field. `test/reading-fields.test.ts` names what was forgotten.
 */
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { nameCodePointsMax } from '../../limits.ts'
import { shown, strict, text } from '../events/declare-event.ts'

type FieldRule =
  | { readonly kind: 'name'; readonly codePointsMax: number; readonly schema: TSchema }
  | { readonly kind: 'number' | 'timestamp'; readonly schema: TSchema }

const name = { kind: 'name', codePointsMax: nameCodePointsMax } as const

export const readingFields = {
  cellar: { ...name, schema: text('The identifier of the cellar.') },
  rack: { ...name, schema: text('The rack, as the device named it.') },
  keg: { ...name, schema: text('The keg, as the device named it.') },
  value: { kind: 'number', schema: shown(Type.Number({ description: 'What the device measured.' })) },
  timestamp: { kind: 'timestamp', schema: text('When the device measured it, as the device wrote it.') },
} as const satisfies Readonly<Record<string, FieldRule>>

type Fields = typeof readingFields
export type ReadingField = keyof Fields
export type NameField = { [F in ReadingField]: Fields[F]['kind'] extends 'name' ? F : never }[ReadingField]

export const readingProperties = {
  cellar: readingFields.cellar.schema,
  rack: readingFields.rack.schema,
  keg: readingFields.keg.schema,
  value: readingFields.value.schema,
  timestamp: readingFields.timestamp.schema,
} satisfies { readonly [F in ReadingField]: Fields[F]['schema'] }

const schema = Type.Object(readingProperties, strict)

/** As the device sent it. The log stores it unchanged. */
export type Reading = Readonly<Static<typeof schema>>

const isField = (text: string): text is ReadingField => Object.hasOwn(readingFields, text)
export const fieldNames: readonly ReadingField[] = Object.keys(readingFields).filter(isField)

const required: readonly string[] = schema.required ?? []
export const isOptional = (field: ReadingField): boolean => !required.includes(field)
export const requiredFields = fieldNames.filter((field) => !isOptional(field))
export const optionalFields = fieldNames.filter(isOptional)

const isName = (field: ReadingField): field is NameField => readingFields[field].kind === 'name'
export const nameFields: readonly NameField[] = fieldNames.filter(isName)

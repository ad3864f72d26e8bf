import { type Static, Type } from '@sinclair/typebox'
import type { ReadingRefusal } from './refusal.ts'

const strict = { additionalProperties: false } as const
const ms = Type.Integer({ minimum: 0, description: 'milliseconds' })
const kind = <K extends string>(name: K) => Type.Literal(name)
const name = Type.Union([Type.Literal('cellar'), Type.Literal('rack'), Type.Literal('keg')])
const field = Type.Union([name, Type.Literal('value'), Type.Literal('timestamp')])
const nameFault = Type.Union([
  Type.Literal('blank'),
  Type.Literal('outer_space'),
  Type.Literal('too_long'),
  Type.Literal('control_character'),
  Type.Literal('lone_surrogate'),
])

/**
 * Why an item of a batch was refused, as it is kept for a repeat of that batch: at most 75 bytes of JSON, whatever the
 * cellar is called. So the event that carries up to 999 of them still fits into an append beside a full batch's events.
 */
const KeptRefusal = Type.Union([
  Type.Object({ kind: kind('invalid_body') }, strict),
  Type.Object({ kind: kind('missing_field'), fields: Type.Array(field) }, strict),
  Type.Object(
    { kind: kind('invalid_type'), field, expected: Type.Union([Type.Literal('string'), Type.Literal('number')]) },
    strict,
  ),
  Type.Object({ kind: kind('invalid_name'), field: name, fault: nameFault }, strict),
  Type.Object({ kind: kind('invalid_value') }, strict),
  Type.Object(
    { kind: kind('invalid_timestamp'), fault: Type.Union([Type.Literal('form'), Type.Literal('no_such_instant')]) },
    strict,
  ),
  Type.Object({ kind: kind('timestamp_too_old'), ageMsMax: ms }, strict),
  Type.Object({ kind: kind('timestamp_in_future'), aheadMsMax: ms }, strict),
  Type.Object({ kind: kind('cellar_mismatch') }, strict),
])
type KeptRefusal = Static<typeof KeptRefusal>

export const KeptItem = Type.Object({ index: Type.Integer({ minimum: 0 }), refusal: KeptRefusal }, strict)
export type KeptItem = Static<typeof KeptItem>

/** An item of a batch that was refused, by its place in the batch. */
export type RejectedItem = { readonly index: number; readonly refusal: ReadingRefusal }

export const keepItem = ({ index, refusal }: RejectedItem): KeptItem => ({ index, refusal: keep(refusal) })

/** `cellar`: the one that the key belongs to, which never changes. */
export const restoreItem = ({ index, refusal }: KeptItem, cellar: string): RejectedItem => ({
  index,
  refusal: refusal.kind === 'cellar_mismatch' ? { ...refusal, cellar } : refusal,
})

const keep = (refusal: ReadingRefusal): KeptRefusal => {
  switch (refusal.kind) {
    case 'cellar_mismatch':
      return { kind: refusal.kind }
    case 'missing_field':
      return { kind: refusal.kind, fields: [...refusal.fields] }
    case 'invalid_body':
    case 'invalid_type':
    case 'invalid_name':
    case 'invalid_value':
    case 'invalid_timestamp':
    case 'timestamp_too_old':
    case 'timestamp_in_future':
      return refusal
    default:
      throw new Error(`Cannot keep ${refusal.kind}: no item of a batch is refused so`)
  }
}

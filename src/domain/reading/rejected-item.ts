import { type Static, Type } from '@sinclair/typebox'
import type { RejectedItem } from '../refusal.ts'

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
 * Why an item of a batch was refused, as the first version stored it for a repeat. The cellar and the endpoint are left out,
 * since the repeat has both. Only read now: `batch-repeat.ts` says what is stored instead.
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

export const KeptItem = Type.Object({ index: Type.Integer({ minimum: 0 }), refusal: KeptRefusal }, strict)
export type KeptItem = Static<typeof KeptItem>

/** `cellar`: the one that the key belongs to, which never changes. */
export const restoreItem = ({ index, refusal }: KeptItem, cellar: string): RejectedItem => {
  if (refusal.kind === 'cellar_mismatch') return { index, refusal: { ...refusal, cellar } }
  if (refusal.kind === 'invalid_body') return { index, refusal: { ...refusal, what: 'item' } }
  return { index, refusal }
}

import { type Static, type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { dayMs } from '../calendar.ts'
import type { recordCategories } from '../stream-names.ts'

/** `records`: any stream of records. `purged`: any stream that lost events. */
export type StreamKind =
  | 'cellarbook'
  | 'cellar'
  | 'key'
  | 'readings'
  | 'operator'
  | 'operator-setup'
  | Exclude<(typeof recordCategories)[number], 'proofs'>
  | 'records'
  | 'purged'

export const eventKinds = ['readings', 'refusals', 'keys', 'cellars', 'operators', 'attention', 'log'] as const
export type EventKind = (typeof eventKinds)[number]

type Writer = 'operator' | 'key' | 'cli' | 'system'

type About = {
  readonly in: readonly StreamKind[]
  /** Empty for an event that is never stored. */
  readonly by: readonly Writer[]
  readonly kind?: EventKind
  /**
   * `internal`: a history leaves it out unless everything is asked for. `placeholder`: it stands in place of another event.
   */
  readonly shown?: 'internal' | 'placeholder'
  /** A fence can follow (docs/protocol.md, "Taking a right away"). */
  readonly mayTakeAway?: true
  /** The sentence also says what was before, so the list reads the state before the event. */
  readonly comparesState?: true
}

export const event = <const A extends About, F extends TProperties>(about: A, says: string, fields: F) => ({
  ...about,
  data: Type.Object(fields, { ...strict, description: says }),
})

export type Declared = About & { readonly data: TObject }

export const strict = { additionalProperties: false } as const

/** A page shows the text as it is (`src/domain/search/event-changes.ts`). */
export const text = (description: string) => shown(Type.String({ description, title: 'text' }))
export const shown = <T extends TSchema>(schema: T) => ({ ...schema, role: 'text' as const })
export const id = (description: string) => Type.String({ description, title: 'id' })
/** Nobody is shown the hash of a secret: an attacker could try passwords against it unnoticed. */
export const hash = (description: string) => Type.String({ description, title: 'hash', role: 'hash' })
export const count = (description: string, minimum = 0) => Type.Integer({ minimum, description, title: 'number' })
export const revision = (description: string) => Type.Integer({ minimum: 0, description, title: 'revision' })
export const instant = (description: string) => Type.Integer({ minimum: 0, description, title: 'ms since 1970' })
export const midnight = (description: string) =>
  Type.Integer({ minimum: 0, multipleOf: dayMs, description, title: 'ms since 1970' })
export const duration = (description: string) => Type.Integer({ minimum: 0, description, title: 'ms' })

export const orNull = <T extends TSchema>(schema: T, means: string) =>
  Type.Union([schema, Type.Null()], { description: `${schema.description} \`null\`: ${means}.`, role: schema['role'] })

export const Limit = Type.Object(
  {
    readings: count('At most this number of readings …', 1),
    windowMs: Type.Integer({ minimum: 1, description: '… in any period of this length.', title: 'ms' }),
  },
  { ...strict, description: 'The rate limit.' },
)
export type Limit = Static<typeof Limit>

import { byText } from '../../../../projections/audit-trail.ts'
import { limitText } from '../../../../views/parts/quantity.ts'
import { secondText } from '../../../../views/parts/time-words.ts'
import { answerOr } from '../../../actors/ask/answer-of.ts'
import type { Limit, RecordedEvent } from '../../../domain/events.ts'
import { anyEvent } from '../../../domain/search/event-filter.ts'
import type { Faults } from '../page-answers.tsx'
import type { DashboardDeps, SignedInVisit } from '../visit.ts'
import { isChanged } from './changed-fields.ts'

type Values = Readonly<Record<string, string>>

/** Fields that are one value for people. */
export type FieldGroup = {
  readonly typed: readonly [string, ...string[]]
  /** The values in `_shown` that tell of a change. Default: `typed`. */
  readonly held?: readonly string[]
  /** The value now, in words. */
  readonly now: string
}

export const quoted = (text: string): string => (text === '' ? 'nothing' : `“${text}”`)

export const limitGroup = (limit: Limit | null): FieldGroup => ({
  typed: ['limit_readings', 'limit_seconds'],
  now: limit === null ? 'nothing' : limitText(limit),
})

export type Held = {
  readonly shown: Values
  readonly now: Values
  readonly groups: readonly FieldGroup[]
  readonly stream: string
  /** The values that an event sets. */
  readonly valuesIn: (event: RecordedEvent) => Values
}

/**
 * A form that changes what somebody else has changed since it was opened. It is shown again with what is there now, and its
 * next sending wins. `null`: there is no such field.
 */
export const changedMeanwhile = async (
  deps: DashboardDeps,
  visit: SignedInVisit,
  held: Held,
): Promise<{ readonly faults: Faults; readonly shown: Values } | null> => {
  const { form } = visit
  const { shown, now, groups } = held
  const isOvertaken = ({ typed, held: watched = typed }: FieldGroup): boolean =>
    isChanged(form, shown, typed) && watched.some((field) => shown[field] !== now[field]) && isChanged(form, now, typed)
  const overtaken = groups.filter(isOvertaken)
  if (overtaken.length === 0) return null
  const events = await latestEvents(deps, visit, held.stream)
  const faults = overtaken.map(({ typed, held: watched = typed, now: words }): [string, string] => {
    const change = lastChange(events, held, watched)
    const who = change === null ? '' : ` by ${authorOf(change)} at ${secondText(change.recordedAt)}`
    return [typed[0], `Changed to ${words}${who}, after you opened this form. To replace that, send the form again.`]
  })
  const fields = overtaken.flatMap(({ typed, held: watched = typed }) => watched)
  const seen = Object.fromEntries(fields.map((field) => [field, now[field] ?? '']))
  return { faults: Object.fromEntries(faults), shown: { ...shown, ...seen } }
}

const authorOf = ({ type, metadata }: RecordedEvent): string =>
  type === 'KeySuperseded' ? 'the rotation' : byText(metadata.by)

const eventsReadMax = 100

const latestEvents = async (
  { core }: DashboardDeps,
  { session }: SignedInVisit,
  stream: string,
): Promise<readonly RecordedEvent[]> => {
  const page = { direction: 'backwards', from: null, limit: eventsReadMax } as const
  const wanted = { filter: { ...anyEvent, stream }, page, also: [] }
  const answer = await core.questions.ask('findEvents', wanted, { owner: session.email, isAtOnce: true })
  return answerOr(answer, null)?.events ?? []
}

/** The oldest of the newest events that set these values. `null`: not found, or it can be older than the events that were read. */
const lastChange = (
  newestFirst: readonly RecordedEvent[],
  { now, valuesIn }: Held,
  fields: readonly string[],
): RecordedEvent | null => {
  const setting = newestFirst.filter((event) => fields.some((field) => Object.hasOwn(valuesIn(event), field)))
  const other = setting.findIndex((event) => fields.some((field) => valuesIn(event)[field] !== now[field]))
  if (other === -1 && newestFirst.length === eventsReadMax) return null
  return (other === -1 ? setting : setting.slice(0, other)).at(-1) ?? null
}

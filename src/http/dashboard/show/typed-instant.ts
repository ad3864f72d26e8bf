import { notInFuture } from '../../../domain/search/instant.ts'
import { parseInstantNear } from '../../../domain/search/near-instant.ts'
import type { Typed } from '../../../domain/text.ts'

/** `?at=`, which people type, or `?pick=`, which the browser fills in. */
export const typedTime = (query: URLSearchParams): string =>
  (query.get('at') ?? '').trim() === '' ? (query.get('pick') ?? '').trim() : (query.get('at') ?? '')

type RangeField = 'from' | 'to'

export type TypedRange = {
  /** `null`: blank or refused. */
  readonly since: number | null
  readonly until: number | null
  readonly faults: Readonly<Partial<Record<RangeField, string>>>
}

/** `from` is included, `to` is not. */
export const typedRange = (typed: Readonly<Record<RangeField, string>>, nowMs: number): TypedRange => {
  const faults: Partial<Record<RangeField, string>> = {}
  const instant = (name: RangeField): number | null => {
    if (typed[name] === '') return null
    const parsed = parseInstantNear(typed[name], nowMs)
    if (parsed.ok) return parsed.value
    faults[name] = parsed.refusal.rule
    return null
  }
  const [since, until] = [instant('from'), instant('to')]
  if (since !== null && until !== null && since >= until) faults.to = 'The end must be later than the beginning.'
  return { since, until, faults }
}

/** Refuses a time after `nowMs`, because the log can still change before that time. */
export const pastInstant = (typed: string, nowMs: number): Typed<number> => {
  const instant = parseInstantNear(typed, nowMs)
  return instant.ok ? notInFuture(instant.value, nowMs) : instant
}

import { durationTyped } from '../amounts.ts'
import { dayMs, minuteMs } from '../calendar.ts'
import type { EventData } from '../events.ts'
import { done } from '../refusal.ts'
import { invalidField, type Typed } from '../text.ts'

/** What an admin has set. Both names are `null` for the whole cellar, and `rack` alone for all kegs of that name. */
export type SilenceRule = Omit<EventData<'SilenceRuleSet'>, 'after'> & { readonly after: number | 'never' }

/** All looks for silence read them. */
export const silenceRulesPerCellarMax = 100
const afterMsMin = minuteMs
const afterMsMax = 365 * dayMs

export const isSameScope = (a: Pick<SilenceRule, 'rack' | 'keg'>, b: Pick<SilenceRule, 'rack' | 'keg'>): boolean =>
  a.rack === b.rack && a.keg === b.keg

export const rulesWith = (
  rules: readonly SilenceRule[],
  { rack, keg, after }: EventData<'SilenceRuleSet'>,
): readonly SilenceRule[] => {
  const others = rules.filter((rule) => !isSameScope(rule, { rack, keg }))
  return after === null ? others : [...others, { rack, keg, after }]
}

export const afterWithin = <A extends number | 'never' | null>(after: A): Typed<A> => {
  if (typeof after !== 'number') return done(after)
  if (Number.isSafeInteger(after) && after >= afterMsMin && after <= afterMsMax) return done(after)
  return invalidField('after', `The time must be from ${durationTyped(afterMsMin)} to ${durationTyped(afterMsMax)}.`)
}

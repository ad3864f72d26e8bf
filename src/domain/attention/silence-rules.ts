import { durationTyped } from '../amounts.ts'
import { dayMs, minuteMs } from '../calendar.ts'
import type { EventData } from '../events.ts'
import { done } from '../refusal.ts'
import { invalidField, type Typed } from '../text.ts'

/** What an admin has set. Both names are `null` for the whole cellar, and `rack` alone for all kegs of that name. */
export type SilenceRule = Omit<EventData<'SilenceRuleSet'>, 'after'> & {
  readonly after: number | 'never'
  readonly setMs?: number
}

export type SilenceScope = Pick<SilenceRule, 'rack' | 'keg'>

/** `after` is `null` without a rule. */
export type RuleAround = SilenceScope & {
  readonly of: 'keg' | 'name' | 'rack' | 'cellar'
  readonly after: SilenceRule['after'] | null
}

/** All looks for silence read them. */
export const silenceRulesPerCellarMax = 100
const afterMsMin = minuteMs
export const afterMsMax = 365 * dayMs

export const isSameScope = (a: SilenceScope, b: SilenceScope): boolean => a.rack === b.rack && a.keg === b.keg

/** Of a keg, or of a whole rack or cellar (`null`): the first of these that is set holds, as in `ruledKegs`. */
export const rulesAround = (
  rules: readonly SilenceRule[],
  { rack, keg }: SilenceScope,
): readonly [RuleAround, ...RuleAround[]] => {
  const around = (of: RuleAround['of'], scope: SilenceScope): RuleAround => ({
    ...scope,
    of,
    after: rules.find((rule) => isSameScope(rule, scope))?.after ?? null,
  })
  const ofName = keg === null ? null : around('name', { rack: null, keg })
  const ofRack = rack === null ? null : around('rack', { rack, keg: null })
  const ofKeg = rack === null || keg === null ? null : around('keg', { rack, keg })
  const [first, ...wider] = [ofKeg, ofName, ofRack].filter((rule) => rule !== null)
  const ofCellar = around('cellar', { rack: null, keg: null })
  return first === undefined ? [ofCellar] : [first, ...wider, ofCellar]
}

export const rulesWith = (
  rules: readonly SilenceRule[],
  { rack, keg, after }: EventData<'SilenceRuleSet'>,
  setMs: number,
): readonly SilenceRule[] => {
  const others = rules.filter((rule) => !isSameScope(rule, { rack, keg }))
  return after === null ? others : [...others, { rack, keg, after, setMs }]
}

export const afterWithin = <A extends number | 'never' | null>(after: A): Typed<A> => {
  if (typeof after !== 'number') return done(after)
  if (Number.isSafeInteger(after) && after >= afterMsMin && after <= afterMsMax) return done(after)
  return invalidField('after', `The time must be from ${durationTyped(afterMsMin)} to ${durationTyped(afterMsMax)}.`)
}

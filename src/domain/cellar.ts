import { retentionMarginMs, retentionMsMin } from '../limits.ts'
import { isSameScope, rulesWith, type SilenceRule, silenceRulesPerCellarMax } from './attention/silence-rules.ts'
import type { By, CellarPolicy, Decided, EventData, RecordedEvent, TypesIn } from './events.ts'
import { sameLimit } from './key.ts'
import { assertNever, type CommandRefusal, done, type Outcome, refused } from './refusal.ts'

/** All pages, exports and lines about the cellar carry them. */
export const unitsPerCellarMax = 200

export type Units = ReadonlyMap<string, string>

/** `cellar` is the identifier that devices send, and never changes. */
export type CellarState = {
  readonly cellar: string
  readonly title: string
  readonly policy: CellarPolicy
  /** By the name of the keg, in the order in which they were first given. `unitOf` reads it. */
  readonly units: Units
  /** When kegs count as silent. The default is that of `silentAfterMs`. */
  readonly silence: readonly SilenceRule[]
  readonly createdAt: number
  readonly createdBy: By
  readonly revision: number
}

/** `null`: kegs of this name have none. */
export const unitOf = ({ units }: Pick<CellarState, 'units'>, keg: string): string | null => units.get(keg) ?? null

export const noPolicy: CellarPolicy = {
  limit: null,
  readingAgeMsMax: null,
  readingAheadMsMax: null,
  retentionMs: null,
}

export type Purge = Omit<EventData<'ReadingsPurged'>, 'cellar' | 'acceptedBefore'>

/**
 * Readings that were accepted before this time (ms) are purged. It is a midnight (UTC), so each key loses readings at most
 * once a day. A reading stays up to a day and `retentionMarginMs` longer: the clocks of nodes can differ.
 */
export const purgeBefore = (now: number, retentionMs: number): number =>
  Math.max(0, Math.floor((now - retentionMs - retentionMarginMs) / retentionMsMin) * retentionMsMin)

export type CellarCommand =
  | { readonly type: 'CreateCellar'; readonly cellar: string; readonly title: string }
  | { readonly type: 'RenameCellar'; readonly title: string }
  /** A missing field is not changed, so two admins can change two fields at the same time. */
  | { readonly type: 'ChangeCellarPolicy'; readonly changes: Partial<CellarPolicy> }
  /** A blank unit removes it. */
  | { readonly type: 'SetUnit'; readonly keg: string; readonly unit: string }
  | ({ readonly type: 'SetSilenceRule' } & EventData<'SilenceRuleSet'>)
  /** Deletes nothing if the cellar's retention is no longer `retentionMs`: the new one can keep these readings. */
  | {
      readonly type: 'PurgeReadings'
      readonly purges: readonly Purge[]
      readonly acceptedBefore: number
      readonly retentionMs: number
    }

export type CellarEventType = TypesIn<'cellar'>

export type DecidedCellar = Decided<CellarEventType>

export const decideCellar = (
  cellar: CellarState | null,
  command: CellarCommand,
): Outcome<readonly DecidedCellar[], CommandRefusal> => {
  if (command.type === 'CreateCellar') {
    if (cellar !== null) return refused({ kind: 'cellar_exists' })
    return done([{ type: 'CellarCreated', data: { cellar: command.cellar, title: command.title } }])
  }
  if (cellar === null) return refused({ kind: 'cellar_not_found' })
  switch (command.type) {
    case 'RenameCellar':
      if (cellar.title === command.title) return done([])
      return done([{ type: 'CellarRenamed', data: { title: command.title } }])
    case 'ChangeCellarPolicy': {
      const policy = { ...cellar.policy, ...command.changes }
      if (samePolicy(cellar.policy, policy)) return done([])
      return done([{ type: 'CellarPolicyChanged', data: { policy } }])
    }
    case 'SetUnit': {
      const { keg, unit } = command
      if ((unitOf(cellar, keg) ?? '') === unit) return done([])
      if (!cellar.units.has(keg) && cellar.units.size >= unitsPerCellarMax) {
        return refused({ kind: 'too_many_units', unitsMax: unitsPerCellarMax })
      }
      return done([{ type: 'CellarUnitSet', data: { keg, unit } }])
    }
    case 'SetSilenceRule': {
      const { rack, keg, after } = command
      const known = cellar.silence.find((rule) => isSameScope(rule, command))
      if ((known?.after ?? null) === after) return done([])
      if (known === undefined && cellar.silence.length >= silenceRulesPerCellarMax) {
        return refused({ kind: 'too_many_silence_rules', rulesMax: silenceRulesPerCellarMax })
      }
      return done([{ type: 'SilenceRuleSet', data: { rack, keg, after } }])
    }
    case 'PurgeReadings': {
      const { purges, acceptedBefore, retentionMs } = command
      if (cellar.policy.retentionMs !== retentionMs) return done([])
      const common = { cellar: cellar.cellar, acceptedBefore }
      return done(purges.map((purge) => ({ type: 'ReadingsPurged', data: { ...common, ...purge } })))
    }
    default:
      return assertNever(command)
  }
}

const samePolicy = (a: CellarPolicy, b: CellarPolicy): boolean =>
  sameLimit(a.limit, b.limit) &&
  a.readingAgeMsMax === b.readingAgeMsMax &&
  a.readingAheadMsMax === b.readingAheadMsMax &&
  a.retentionMs === b.retentionMs

export const evolveCellar = (cellar: CellarState | null, event: RecordedEvent<CellarEventType>): CellarState => {
  const { revision } = event
  if (event.type === 'CellarCreated') {
    return {
      cellar: event.data.cellar,
      title: event.data.title,
      policy: noPolicy,
      units: new Map(),
      silence: [],
      createdAt: event.recordedAt,
      createdBy: event.metadata.by,
      revision,
    }
  }
  if (cellar === null) throw new Error(`Cannot fold ${event.type} of "${event.stream}": the cellar was never created`)
  switch (event.type) {
    case 'CellarRenamed':
      return { ...cellar, title: event.data.title, revision }
    case 'CellarPolicyChanged':
      return { ...cellar, policy: event.data.policy, revision }
    case 'CellarUnitSet':
      return { ...cellar, units: unitsWith(cellar.units, event.data), revision }
    case 'SilenceRuleSet':
      return { ...cellar, silence: rulesWith(cellar.silence, event.data, event.recordedAt), revision }
    case 'ReadingsPurged':
      return { ...cellar, revision }
    default:
      return assertNever(event)
  }
}

const unitsWith = (units: Units, { keg, unit }: EventData<'CellarUnitSet'>): Units => {
  const next = new Map(units)
  if (unit === '') next.delete(keg)
  else next.set(keg, unit)
  return next
}

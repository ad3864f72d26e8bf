import type { CellarPolicy, EventType, RecordedEvent } from '../../src/domain/events.ts'
import { durationWords } from '../parts/time-words.ts'
import {
  type Context,
  limitBefore,
  limitVerb,
  limitWords,
  type Part,
  quoted,
  type Sentence,
  type Sentences,
  say,
  strong,
} from './sentence-parts.ts'

export const cellarSentences: Sentences<Extract<EventType, `Cellar${string}`>> = {
  CellarCreated: ({ data }, { who }) => say`${who} created the cellar ${{ kind: 'cellar', ...data }}.`,
  CellarRenamed: (event, context) =>
    say`${context.who} renamed ${cellarOf(event, context)} to ${quoted(event.data.title)}.`,
  CellarPolicyChanged: (event, context) =>
    say`${context.who} ${policySentence(cellarOf(event, context), context.before.cellar?.policy ?? null, event.data.policy)}.`,
  CellarUnitSet: (event, context) => {
    const { keg, unit } = event.data
    const before = context.before.cellar?.units.get(keg)
    const kegs = say`kegs named ${quoted(keg)} in ${cellarOf(event, context)}`
    if (unit === '')
      return say`${context.who} removed the unit${before === undefined ? '' : say` ${quoted(before)}`} of ${kegs}.`
    return before === undefined
      ? say`${context.who} gave the unit ${quoted(unit)} to ${kegs}.`
      : say`${context.who} changed the unit of ${kegs} from ${quoted(before)} to ${quoted(unit)}.`
  },
}

/** With the title that it had before the event. */
const cellarOf = ({ stream }: RecordedEvent, { before: { cellar: before }, names }: Context): Part | string => {
  const cellar = before?.cellar ?? names.cellarOfStream(stream)
  if (cellar === null) return 'a cellar'
  return { kind: 'cellar', cellar, title: before?.title ?? names.cellarTitle(cellar) ?? cellar }
}

const policySentence = (cellar: Part | string, from: CellarPolicy | null, to: CellarPolicy): Sentence => {
  if (from === null) return say`changed the settings of ${cellar}`
  const changed = policyFields.filter(({ wordsOf }) => wordsOf(from) !== wordsOf(to))
  const [first] = changed
  if (first === undefined) return say`changed no setting of ${cellar}`
  if (changed.length === 1) {
    if (from.limit !== null && to.limit !== null && first.name === limitName)
      return say`${limitVerb(from.limit, to.limit)} the ${limitName} of ${cellar} from ${limitBefore(from.limit, to.limit)} to ${strong(limitWords(to.limit))}`
    const { name, wordsOf } = first
    return say`changed the ${name} of ${cellar} from ${wordsOf(from)} to ${strong(wordsOf(to))}`
  }
  const all = changed.map(({ name, wordsOf }) => `${name} to ${wordsOf(to)}`)
  return say`changed ${strong(`${changed.length} settings`)} of ${cellar}: ${all.join('; ')}`
}

const boundWords = (ms: number | null): string => (ms === null ? 'no maximum' : durationWords(ms))

const limitName = 'default limit'

const policyFields: readonly { readonly name: string; readonly wordsOf: (policy: CellarPolicy) => string }[] = [
  { name: limitName, wordsOf: ({ limit }) => (limit === null ? 'the service’s default' : limitWords(limit)) },
  { name: 'maximum age of readings', wordsOf: ({ readingAgeMsMax }) => boundWords(readingAgeMsMax) },
  { name: 'maximum time in the future', wordsOf: ({ readingAheadMsMax }) => boundWords(readingAheadMsMax) },
  {
    name: 'retention',
    wordsOf: ({ retentionMs }) => (retentionMs === null ? 'unlimited' : durationWords(retentionMs)),
  },
]

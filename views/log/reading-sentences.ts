import type { EventType, RecordedEvent } from '../../src/domain/events.ts'
import type { KeyState } from '../../src/domain/key.ts'
import { countOf, countText } from '../parts/quantity.ts'
import { dateText } from '../parts/time-words.ts'
import { refusalWords } from './refusal-words.ts'
import {
  type Context,
  limitWords,
  oneLine,
  type Part,
  quoted,
  reasonOf,
  type Sentence,
  type Sentences,
  say,
  strong,
} from './sentence-parts.ts'

type ReadingEventType = Extract<EventType, `Reading${string}`>

export const readingSentences: Sentences<ReadingEventType> = {
  ReadingAccepted: (event, context) => {
    const { cellar, rack, keg, value } = event.data
    const unit = context.names.unitOf(cellar, keg)
    const said = say`${strong(String(value))}${unit === null ? '' : say`\u00a0${{ kind: 'typed', text: oneLine(unit) }}`}`
    return say`1 reading of ${keyOf(event, context)} accepted: rack ${quoted(rack)}, keg ${quoted(keg)}, value ${said}.`
  },
  ReadingsSealed: (event, context) =>
    say`The readings of ${keyOf(event, context)} were stopped permanently, on every node${reasonOf(event.data.reason)}.`,
  ReadingsFenced: (event, context) =>
    say`The changes of ${keyOf(event, context)} up to revision ${countText(event.data.keyRevision)} are in force on every node.`,
  ReadingsPurged: (event, context) => {
    const { readings, acceptedBefore } = event.data
    const many = strong(countOf(readings, 'old reading', 'old readings'))
    return say`${many} of ${keyOf(event, context)} deleted, because of the retention: accepted before ${dateText(acceptedBefore)}.`
  },
  ReadingsRefused: (event, context) => {
    const of = event.stream === nodeStream ? '' : say` of ${keyOf(event, context)}`
    return refusedSentence(event, of, context.before.key)
  },
}

const keyOf = (event: RecordedEvent<ReadingEventType>, { before, names }: Context): Part => {
  const { stream } = event
  const keyId = event.type === 'ReadingsPurged' ? event.data.keyId : stream.slice(stream.indexOf('-') + 1)
  return { kind: 'key', keyId, label: before.key?.label ?? names.keyLabel(keyId) }
}

/** Of keys that found no room in the sums of their own, and of requests without a known key. */
const nodeStream = 'refusals-node'

/** A refused request counts 1, and so does each refused reading of a batch. So the sentence does not say "readings". */
const refusedSentence = (
  { data }: RecordedEvent<'ReadingsRefused'>,
  of: Sentence | string,
  before: KeyState | null,
): Sentence => {
  const all = data.counts.reduce((sum, { count }) => sum + count, 0)
  const sorted = [...data.counts].sort((a, b) => b.count - a.count)
  const reasons = sorted.slice(0, reasonsMax).map(({ code, count }) => {
    const words = wordsOfCode(code, data, before)
    return sorted.length === 1 ? words : `${words} (${countText(count)})`
  })
  const left = sorted.length - reasonsMax
  const others = left > 0 ? [countOf(left, 'other reason', 'other reasons')] : []
  return say`${strong(countOf(all, 'refusal', 'refusals'))}${of}: ${[...reasons, ...others].join('; ')}.`
}

/** The page of the event lists all. */
const reasonsMax = 3

const wordsOfCode = (
  code: string,
  { samples }: RecordedEvent<'ReadingsRefused'>['data'],
  before: KeyState | null,
): string => {
  if (code !== 'RATE_LIMITED') return refusalWords(code)
  const rules = new Set(samples.filter((sample) => sample.code === code).map(({ rule }) => rule))
  if (rules.size === 1 && rules.has('cost')) return 'too many requests that stored nothing'
  const limit = before?.limit ?? null
  return limit === null || rules.has('cost') ? refusalWords(code) : `over the limit of ${limitWords(limit)}`
}

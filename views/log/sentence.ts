/** A type of event without a sentence does not compile. */
import type { By, EventType, RecordedEvent } from '../../src/domain/events.ts'
import type { StateBefore } from '../../src/domain/search/state-before.ts'
import { attentionSentences } from '../attention/attention-sentences.ts'
import { cellarSentences } from './cellar-sentences.ts'
import { keySentences } from './key-sentences.ts'
import { logSentences } from './log-sentences.ts'
import { operatorSentences } from './operator-sentences.ts'
import { readingSentences } from './reading-sentences.ts'
import {
  type Context,
  cannotSay,
  type Names,
  operator,
  type Part,
  type Sentence,
  type Sentences,
  say,
} from './sentence-parts.ts'

/** Without the state before the event, only the new value. */
export const sentenceOf = (event: RecordedEvent, before: StateBefore, names: Names): Sentence =>
  sentenceAs(event.type, event, { who: whoDid(event.metadata.by, names), before, names })

const sentences: Sentences<EventType> = {
  ...logSentences,
  ...cellarSentences,
  ...keySentences,
  ...readingSentences,
  ...operatorSentences,
  ...attentionSentences,
}

const sentenceAs = <T extends EventType>(type: T, event: RecordedEvent<T>, context: Context): Sentence =>
  sentences[type](event, context)

/** Begins a sentence, so the first letter is upper-case. */
const whoDid = (by: By, names: Names): Sentence => {
  switch (by.kind) {
    case 'operator':
      return [operator(by.email)]
    case 'key':
      return say`The key ${keyPart(by.keyId, names)}`
    case 'cli':
      return say`Somebody on the command line`
    case 'system':
      return say`The service`
    default:
      return cannotSay(by)
  }
}

const keyPart = (keyId: string, names: Names): Part => ({ kind: 'key', keyId, label: names.keyLabel(keyId) })

/** Says every event as one plain sentence. `test/views/sentence.test.ts` goes through all types of events. */
import type { By, RecordedEvent } from '../../src/domain/events.ts'
import type { StateBefore } from '../../src/domain/search/state-before.ts'
import { cellarSentence } from './cellar-sentences.ts'
import { keySentence } from './key-sentences.ts'
import { logSentence } from './log-sentences.ts'
import { operatorSentence } from './operator-sentences.ts'
import { readingSentence } from './reading-sentences.ts'
import { cannotSay, type Names, operator, type Part, type Sentence, say } from './sentence-parts.ts'

/** Without the state before an event, the sentence says the new value only. */
export const sentenceOf = (event: RecordedEvent, before: StateBefore, names: Names): Sentence => {
  switch (event.type) {
    case 'LogCreated':
    case 'LogCopyBegun':
    case 'LogCopyEnded':
    case 'RevisionVacant':
    case 'LogSchemaAccepted':
    case 'LogLossAccepted':
    case 'LogExported':
    case 'RecordsPurged':
    case 'RecordUnreadable':
      return logSentence(event, whoDid(event.metadata.by, names))
    case 'CellarCreated':
    case 'CellarRenamed':
    case 'CellarPolicyChanged':
      return cellarSentence(event, { who: whoDid(event.metadata.by, names), before: before.cellar, names })
    case 'KeyCreated':
    case 'KeyRelabelled':
    case 'KeyLimitChanged':
    case 'KeyExpirySet':
    case 'KeyRotated':
    case 'KeySuperseded':
    case 'KeySuspended':
    case 'KeyResumed':
    case 'KeyExpired':
    case 'KeyRevoked':
      return keySentence(event, { who: whoDid(event.metadata.by, names), before: before.key, names })
    case 'ReadingAccepted':
    case 'ReadingsSealed':
    case 'ReadingsFenced':
    case 'ReadingsPurged':
    case 'ReadingsRefused':
      return readingSentence(event, { before: before.key, names })
    case 'OperatorLinkIssued':
    case 'OperatorLinkUsed':
    case 'OperatorAdded':
    case 'OperatorPasswordSet':
    case 'OperatorRoleChanged':
    case 'OperatorRemoved':
    case 'OperatorSignedIn':
    case 'OperatorSessionRenewed':
    case 'OperatorSignedOut':
    case 'SignInSeen':
    case 'SignInsRefused':
      return operatorSentence(event, { who: whoDid(event.metadata.by, names), before: before.operator, names })
    default:
      return cannotSay(event)
  }
}

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

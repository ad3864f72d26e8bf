import type { EventData, ExportedListName, RecordedEvent } from '../../src/domain/events.ts'
import { countOf, countText } from '../parts/quantity.ts'
import { dateText } from '../parts/time-words.ts'
import { cannotSay, quoted, type Sentence, say, strong } from './sentence-parts.ts'

type LogEvent = RecordedEvent<
  | 'LogCreated'
  | 'LogCopyBegun'
  | 'LogCopyEnded'
  | 'RevisionVacant'
  | 'LogSchemaAccepted'
  | 'LogLossAccepted'
  | 'LogExported'
  | 'RecordsPurged'
  | 'RecordUnreadable'
>

export const logSentence = (event: LogEvent, who: Sentence): Sentence => {
  switch (event.type) {
    case 'LogCreated':
      return say`This log was created.`
    case 'LogCopyBegun':
      return say`This log began as a copy of another log.`
    case 'LogCopyEnded':
      return say`The copy of the log was completed, with ${strong(countOf(event.data.events, 'event', 'events'))}.`
    case 'RevisionVacant':
      return say`This place is empty: its reading was deleted before the log was copied.`
    case 'LogSchemaAccepted': {
      const { length } = event.data.differences
      return say`${who} accepted ${strong(countOf(length, 'change', 'changes'))} of the database’s tables.`
    }
    case 'LogLossAccepted':
      return say`${who} accepted that the log lost its end: ${lostWords(event.data)}.`
    case 'LogExported':
      return exportSentence(event.data, who)
    case 'RecordsPurged': {
      const { firstRevision, lastRevision, recordedBefore } = event.data
      const many = strong(countOf(lastRevision - firstRevision + 1, 'old record', 'old records'))
      return say`${many} of ${recordsWords(event.stream)} deleted: from before ${dateText(recordedBefore)}.`
    }
    case 'RecordUnreadable':
      return say`This record cannot be read: ${quoted(event.data.type)}, ${quoted(event.data.why)}.`
    default:
      return cannotSay(event)
  }
}

const exportSentence = ({ phase, list, rows }: EventData<'LogExported'>, who: Sentence): Sentence => {
  const what = exportedWords[list]
  const many = strong(countOf(rows, 'row', 'rows'))
  switch (phase) {
    case 'begun':
      return say`${who} began to export ${what}.`
    case 'complete':
      return say`${who} exported ${what}: ${many}, complete.`
    case 'cut_off':
      return say`${who} exported ${what}: ${many}, then the export was cut off.`
    default:
      return cannotSay(phase)
  }
}

const exportedWords: Readonly<Record<ExportedListName, string>> = {
  events: 'events',
  readings: 'readings',
  history: 'the history of a key',
  keys: 'keys',
}

const lostWords = ({ lastPosition, knownPosition }: RecordedEvent<'LogLossAccepted'>['data']): string =>
  knownPosition > lastPosition
    ? `positions ${countText(lastPosition + 1)} to ${countText(knownPosition)}, or more`
    : `everything after position ${countText(lastPosition)}`

const recordsWords = (stream: string): string => recordsOf.get(stream.slice(0, stream.indexOf('-'))) ?? 'another kind'

const recordsOf: ReadonlyMap<string, string> = new Map([
  ['signins', 'sign-ins'],
  ['refusals', 'refusals'],
  ['exports', 'exports'],
  ['proofs', 'proofs'],
])

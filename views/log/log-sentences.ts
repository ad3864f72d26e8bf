import type { EventData, EventType, ExportedListName } from '../../src/domain/events.ts'
import { countOf, countText } from '../parts/quantity.ts'
import { dateText } from '../parts/time-words.ts'
import { cannotSay, instant, quoted, type Sentence, type Sentences, say, strong } from './sentence-parts.ts'

type LogEventType = Extract<EventType, `Log${string}` | `Record${string}` | 'RevisionVacant'>

export const logSentences: Sentences<LogEventType> = {
  LogCreated: () => say`This log was created.`,
  LogCopyBegun: () => say`This log began as a copy of another log.`,
  LogCopyEnded: ({ data }) =>
    say`The copy of the log was completed, with ${strong(countOf(data.events, 'event', 'events'))}.`,
  RevisionVacant: () => say`This place is empty: its reading was deleted before the log was copied.`,
  LogSchemaAccepted: ({ data }, { who }) =>
    say`${who} accepted ${strong(countOf(data.differences.length, 'change', 'changes'))} of the database’s tables.`,
  LogLossAccepted: ({ data }, { who }) => say`${who} accepted that the log lost its end: ${lostWords(data)}.`,
  LogRestored: ({ data: { lastPosition, lastRecordedAt } }, { who }) =>
    say`${who} restored the log from a backup of ${instant(lastRecordedAt)}, up to position ${strong(countText(lastPosition))}.`,
  LogExported: ({ data }, { who }) => exportSentence(data, who),
  RecordsPurged: ({ data: { firstRevision, lastRevision, recordedBefore }, stream }) => {
    const many = strong(countOf(lastRevision - firstRevision + 1, 'old record', 'old records'))
    return say`${many} of ${recordsWords(stream)} deleted: from before ${dateText(recordedBefore)}.`
  },
  RecordUnreadable: ({ data }) => say`This record cannot be read: ${quoted(data.type)}, ${quoted(data.why)}.`,
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

const lostWords = ({ lastPosition, knownPosition }: EventData<'LogLossAccepted'>): string =>
  knownPosition > lastPosition
    ? `positions ${countText(lastPosition + 1)} to ${countText(knownPosition)}, or more`
    : `everything after position ${countText(lastPosition)}`

const recordsWords = (stream: string): string => recordsOf.get(stream.slice(0, stream.indexOf('-'))) ?? 'another kind'

const recordsOf: ReadonlyMap<string, string> = new Map([
  ['signins', 'sign-ins'],
  ['refusals', 'refusals'],
  ['exports', 'exports'],
  ['attention', 'changes of what needs attention'],
  ['proofs', 'proofs'],
])

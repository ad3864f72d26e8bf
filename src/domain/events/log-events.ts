import { Type } from '@sinclair/typebox'
import { count, event, id, instant, midnight, orNull, revision, text } from './declare-event.ts'

export const ExportedListName = Type.Union(
  [Type.Literal('events'), Type.Literal('readings'), Type.Literal('history'), Type.Literal('keys')],
  { description: 'What was exported. `history`: the changes of one key.' },
)
export const ExportFormat = Type.Union([Type.Literal('ndjson'), Type.Literal('csv')], {
  description: 'JSON lines or CSV.',
})

export const logEvents = {
  LogCreated: event({ in: ['cellarbook'], by: ['system'] }, 'The log was created.', {
    logId: id('The id of the log. A copy of the log gets an id of its own.'),
  }),
  LogCopyBegun: event(
    { in: ['cellarbook'], by: ['system'] },
    'This log is a copy of another log. No node can use the copy before `LogCopyEnded`, because events are still missing.',
    { copyId: id('The id of the copy.') },
  ),
  LogCopyEnded: event({ in: ['cellarbook'], by: ['system'] }, 'The copy is complete.', {
    digest: id('SHA-256 of the events. The source gave the same digest, so no copied event differs.'),
    events: count('The number of copied events.'),
  }),
  RevisionVacant: event(
    { in: ['purged'], by: ['operator', 'key', 'cli', 'system'], shown: 'placeholder' },
    'In a copy of a log, this event takes the place of an event that was deleted in the source. So later events keep their revisions.',
    {},
  ),
  LogSchemaAccepted: event(
    { in: ['cellarbook'], by: ['cli'] },
    'A person accepted the changed schema of the SQLite file. Otherwise the service refuses a file with changes.',
    { differences: Type.Array(Type.String(), { description: 'What differs, one sentence each.' }) },
  ),
  LogLossAccepted: event(
    { in: ['cellarbook'], by: ['cli'] },
    'A person accepted that the log has lost its end. Otherwise the service refuses such a log. Later events have the lost positions again.',
    {
      lastPosition: count('The last position that is left.'),
      knownPosition: count('A position that the log once had. Later events can be lost too.'),
      findings: Type.Array(Type.String(), { description: 'How the loss was found, one sentence each.' }),
    },
  ),
  LogRestored: event(
    { in: ['cellarbook'], by: ['cli'] },
    'The log was restored from a backup. Events after `lastPosition` are missing: keys that were revoked in them are active again. Their positions and receipts are given again.',
    {
      restoredId: id('The id of the log from now on. It tells the log from the original, and from other restores.'),
      lastPosition: count('The last position of the backup.'),
      lastRecordedAt: instant('When the last event of the backup was recorded.'),
    },
  ),
  LogExported: event(
    { in: ['exports'], by: ['operator', 'cli'] },
    'Somebody exported a list. Each export writes one event before its first byte, and one at its end. Without an end, the process ended first, or the store was unavailable.',
    {
      phase: Type.Union([Type.Literal('begun'), Type.Literal('complete'), Type.Literal('cut_off')], {
        description: 'Whether the export began, or how it ended.',
      }),
      begunRevision: orNull(
        revision('The revision of the beginning, in the same stream.'),
        'this event is the beginning',
      ),
      list: ExportedListName,
      format: ExportFormat,
      filter: Type.Record(Type.String(), Type.String(), {
        description: 'The fields that were set, as people type them: instants as text, and positions as digits.',
      }),
      address: orNull(text('The address of the client.'), 'the command line'),
      rows: count('Rows that were handed over.'),
      why: orNull(text('Why the export was cut off.'), 'it was not'),
    },
  ),
  RecordsPurged: event({ in: ['records'], by: ['system'] }, 'Old records of the stream are deleted.', {
    firstRevision: revision('The first deleted revision.'),
    lastRevision: revision('The last deleted revision.'),
    recordedBefore: midnight('A midnight (UTC). Records from before this midnight were old enough to be deleted.'),
  }),
  RecordUnreadable: event(
    { in: ['records'], by: [], shown: 'placeholder' },
    'This event is never stored. Reads return it in place of a record that is damaged or newer than this version of the service. `recordedAt` is 0 if the time is unreadable too.',
    { type: text('The type of the record, as far as it can be read.'), why: text('Why the record cannot be read.') },
  ),
} as const

import { type Static, Type } from '@sinclair/typebox'
import {
  count,
  duration,
  event,
  id,
  instant,
  Limit,
  midnight,
  orNull,
  revision,
  strict,
  text,
} from './declare-event.ts'

const people = ['operator', 'cli'] as const

export const CellarPolicy = Type.Object(
  {
    limit: orNull(Limit, 'the default of the service'),
    readingAgeMsMax: orNull(duration('The maximum age of a reading.'), 'no maximum'),
    readingAheadMsMax: orNull(duration('How far a timestamp can lie in the future.'), 'no maximum'),
    retentionMs: orNull(duration('How long readings are kept, in whole days.'), 'for ever'),
  },
  { ...strict, description: 'All settings of the cellar.' },
)
export type CellarPolicy = Static<typeof CellarPolicy>

export const cellarEvents = {
  CellarCreated: event({ in: ['cellar'], by: [...people, 'system'] }, 'A cellar was created.', {
    cellar: text('The identifier that devices send. It never changes.'),
    title: text('The name that people see.'),
  }),
  CellarRenamed: event({ in: ['cellar'], by: people, comparesState: true }, 'The cellar got another title.', {
    title: text('The new name that people see.'),
  }),
  CellarPolicyChanged: event(
    { in: ['cellar'], by: people, comparesState: true },
    'The settings of the cellar were changed.',
    { policy: CellarPolicy },
  ),
  CellarUnitSet: event(
    { in: ['cellar'], by: people, comparesState: true },
    'All kegs of this name in the cellar got another unit, or lost it. Values stay as they are.',
    {
      keg: text('The keg, as devices name it.'),
      unit: text('The unit of all their values, of earlier ones too. Blank: none.'),
    },
  ),
  SilenceRuleSet: event(
    { in: ['cellar'], by: people },
    'Kegs got a time after which they count as silent, or lost it.',
    {
      rack: orNull(text('The rack whose kegs are meant.'), 'all racks'),
      keg: orNull(text('The name of the kegs that are meant.'), 'all kegs'),
      after: orNull(
        Type.Union([duration('The time without a reading.'), Type.Literal('never', { title: '`never`' })], {
          description: 'The time without a reading. `never`: these kegs may be silent.',
        }),
        'as for other kegs',
      ),
    },
  ),
  ReadingsPurged: event(
    { in: ['cellar'], by: ['system'] },
    'Old readings of a key are deleted, because of the retention of its cellar.',
    {
      cellar: text('The identifier of the cellar.'),
      keyId: id('The id of the key.'),
      firstRevision: revision('The first deleted revision of the readings stream.'),
      lastRevision: revision('The last deleted revision of the readings stream.'),
      readings: count('The number of deleted readings, without deleted fences.'),
      acceptedBefore: midnight('A midnight (UTC). Readings from before this midnight were old enough to be deleted.'),
      lastAcceptedAt: instant('When the last deleted reading was accepted.'),
    },
  ),
} as const

import { Type } from '@sinclair/typebox'
import { readingProperties } from '../reading/fields.ts'
import { count, event, id, instant, orNull, revision, strict, text } from './declare-event.ts'

export const readingEvents = {
  ReadingAccepted: event({ in: ['readings'], by: ['key'] }, 'A reading was accepted.', readingProperties),
  ReadingsSealed: event(
    { in: ['readings'], by: ['operator', 'cli'], kind: 'keys' },
    'The readings stream ended for ever, because the key is revoked. No event can follow.',
    { reason: text('Why the key is revoked; can be blank.') },
  ),
  ReadingsFenced: event(
    { in: ['readings'], by: ['operator', 'cli', 'system'], kind: 'keys', shown: 'internal' },
    'The key lost a right, on every node. A node that meets this event must read the stream of the key first.',
    { keyRevision: revision('The revision of the key’s stream up to which a node must read.') },
  ),
  /** The event never has a body, the text of a key or an invalid name. */
  ReadingsRefused: event(
    { in: ['refusals'], by: ['system'], comparesState: true },
    'One node refused requests: of one key in `refusals-<keyId>`, and all else in `refusals-node`. A refused request counts 1, and so does each refused reading of a batch.',
    {
      from: instant('When the first of them was refused.'),
      to: instant('When the last of them was refused.'),
      counts: Type.Array(
        Type.Object({ code: text('The code of the answer.'), count: count('How many had this code.', 1) }, strict),
        { description: 'How many were refused, for each code.' },
      ),
      samples: Type.Array(
        Type.Object(
          {
            requestId: id('The id of the request.'),
            atMs: instant('When it was refused.'),
            code: text('The code of the answer.'),
            field: orNull(text('The field that was wrong.'), 'none'),
            rule: orNull(text('The rule that was broken.'), 'the code says all'),
            rack: orNull(text('The rack.'), 'the body was not read, or the name is invalid'),
            keg: orNull(text('The keg.'), 'the body was not read, or the name is invalid'),
          },
          strict,
        ),
        {
          description:
            'Some of the refusals: at least one for each code, as far as there is room. Empty in `refusals-node`, and if the day had no room.',
        },
      ),
    },
  ),
} as const

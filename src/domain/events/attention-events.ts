import { type Static, Type } from '@sinclair/typebox'
import { count, duration, event, id, instant, orNull, strict, text } from './declare-event.ts'

export const attentionKinds = [
  'silent',
  'key_expires',
  'key_at_limit',
  'key_refused',
  'keys_unused',
  'rotation_hangs',
  'refusals_rise',
  'disk_fills',
  'check_failed',
  'backup_old',
  'certificate_ends',
] as const
export type AttentionKind = (typeof attentionKinds)[number]

export const attentionKind = Type.Unsafe<AttentionKind>(
  Type.Union(
    attentionKinds.map((kind) => Type.Literal(kind)),
    { description: 'What needs attention.', title: 'kind' },
  ),
)

const What = {
  kind: attentionKind,
  rack: Type.Optional(text('The rack. Missing: the whole cellar, a key or a node.')),
  keg: Type.Optional(text('The keg. Missing: the whole rack, or no keg.')),
  keyId: Type.Optional(id('The id of the key. Missing: no single key.')),
  node: Type.Optional(text('The name of the node. Missing: the line is of a cellar.')),
}

/** What is missing does not apply. A record has room for more lines without it. */
export const AttentionLine = Type.Object(
  {
    ...What,
    sinceMs: instant('Since when. Of silence: when the last reading was accepted.'),
    dueMs: Type.Optional(instant('When it happens, for instance when the key expires.')),
    count: Type.Optional(count('How many kegs, keys or refusals there are.')),
    seenMs: Type.Optional(instant('When the node last said so. Other nodes drop the line after two days.')),
    afterMs: Type.Optional(duration('After this time without a reading, it counted as silent.')),
    isGone: Type.Optional(
      Type.Literal(true, { description: 'It ended because its readings were deleted.', title: 'true' }),
    ),
    isPart: Type.Optional(
      Type.Literal(true, { description: 'It did not end by itself: a line of `now` includes it.', title: 'true' }),
    ),
    hasParts: Type.Optional(
      Type.Literal(true, { description: 'It ended as a whole, but parts of it still need attention.', title: 'true' }),
    ),
  },
  strict,
)
export type AttentionLine = Static<typeof AttentionLine>

const cellar = orNull(text('The identifier of the cellar.'), 'the lines are of nodes')

export const attentionEvents = {
  AttentionChanged: event(
    { in: ['attention'], by: ['system'] },
    'Something needs attention, or no longer does. The last event of a stream says all that needs attention.',
    {
      cellar,
      began: Type.Array(AttentionLine, { description: 'What needs attention from now on.' }),
      ended: Type.Array(AttentionLine, { description: 'What no longer needs attention.' }),
      now: Type.Array(AttentionLine, { description: 'All that needs attention now.' }),
      more: count('Further lines, for which `now` has no room.'),
    },
  ),
  AttentionRested: event(
    { in: ['attention'], by: ['operator', 'cli'] },
    'Somebody put a line to rest, so that pages show it separately.',
    { cellar, ...What, untilMs: instant('Until when. An instant in the past ends the rest.') },
  ),
} as const

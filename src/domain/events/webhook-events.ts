import { Type } from '@sinclair/typebox'
import { attentionKind } from './attention-events.ts'
import { count, duration, event, id, instant, orNull, revision, strict, text } from './declare-event.ts'

const webhookId = id('The id of the webhook.')
const messageId = id('The id of the message: the same in all attempts, and at the receiver.')
const attempt = count('The number of the attempt to deliver this message.', 1)

export const webhookEvents = {
  WebhookSet: event(
    { in: ['attention'], by: ['operator', 'cli'] },
    'Somebody made a webhook, or changed it. What needs attention is sent to its address.',
    {
      webhookId,
      url: text('The address that gets the messages.'),
      kinds: Type.Array(attentionKind, { description: 'What it is told. Empty: everything.' }),
      masterId: id('Tells from which master its secret is made. Nothing can be learned of the master from it.'),
    },
  ),
  WebhookRemoved: event({ in: ['attention'], by: ['operator', 'cli'] }, 'Somebody removed a webhook.', { webhookId }),
  DeliveryBegun: event(
    { in: ['attention'], by: ['system', 'operator', 'cli'] },
    'A node begins to send a message. Until its end is recorded, or the node is silent for 35 s, no other node sends to this webhook.',
    {
      webhookId,
      messageId,
      of: orNull(
        Type.Object(
          { stream: id('Its stream.'), revision: revision('Its revision.') },
          { ...strict, description: 'The record that is sent.' },
        ),
        'a test',
      ),
      attempt,
      node: text('The name of the node.'),
    },
  ),
  DeliveryEnded: event(
    { in: ['attention'], by: ['system', 'operator', 'cli'] },
    'What became of an attempt, or why messages are not tried again.',
    {
      webhookId,
      messageId,
      attempt,
      outcome: Type.Union(
        [Type.Literal('delivered'), Type.Literal('failed'), Type.Literal('unknown'), Type.Literal('given_up')],
        { description: '`unknown`: the node stopped before it recorded the end. `given_up`: see `givenUpTo`.' },
      ),
      status: orNull(count('The HTTP status of the answer.'), 'there was no answer'),
      answer: orNull(text('The beginning of the answer.'), 'there was none'),
      why: orNull(text('Why the message was not delivered.'), 'it was'),
      tookMs: duration('How long the attempt took.'),
      givenUpTo: Type.Optional(instant('Messages of records up to this time are given up, if they still wait.')),
    },
  ),
} as const

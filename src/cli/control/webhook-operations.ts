import { type Static, Type } from '@sinclair/typebox'
import type { Asker, Core } from '../../actors/core-interface.ts'
import type { Delivery, Webhook } from '../../domain/attention/webhook.ts'
import { attentionKind } from '../../domain/events/attention-events.ts'
import { assertNever } from '../../domain/refusal.ts'
import { type End, exitCodes } from '../exit-codes.ts'
import { isoOf, type Line, type WebhookView } from '../show/lines.ts'
import { done, refusedEnd } from './ends.ts'

const id = { webhookId: Type.String() }

export const WebhookOperation = Type.Union([
  Type.Object({ op: Type.Literal('list_webhooks') }),
  Type.Object({
    op: Type.Literal('set_webhook'),
    /** `null`: a new one. */
    webhookId: Type.Union([Type.String(), Type.Null()]),
    url: Type.String(),
    kinds: Type.Array(attentionKind),
  }),
  Type.Object({
    op: Type.Literal('remove_webhook'),
    ...id,
    /** The person accepts that waiting messages are not sent (`--yes`). */
    isConfirmed: Type.Boolean(),
  }),
  Type.Object({ op: Type.Literal('test_webhook'), ...id }),
  Type.Object({ op: Type.Literal('webhook_secret'), ...id }),
])

/** @throws Outage */
export async function* webhookAnswer(
  { webhooks }: Core,
  operation: Static<typeof WebhookOperation>,
  asker: Asker,
): AsyncGenerator<Line, End> {
  await webhooks.load()
  const lineOf = (webhook: Webhook, secret?: string): Line => ({
    kind: 'webhook',
    value: { ...viewOf(webhooks, webhook), ...(secret !== undefined && { secret }) },
  })
  const named = ({ webhookId }: { readonly webhookId: string }) =>
    webhooks.list().find((webhook) => webhook.webhookId === webhookId)
  switch (operation.op) {
    case 'list_webhooks':
      for (const webhook of webhooks.list()) yield lineOf(webhook)
      return done
    case 'set_webhook': {
      const set = await webhooks.set(operation, asker)
      if (!set.ok) return refusedEnd(set.refusal)
      yield lineOf(set.value)
      return done
    }
    case 'remove_webhook': {
      const webhook = named(operation)
      const { waiting } = webhooks.status(operation.webhookId)
      if (waiting > 0 && !operation.isConfirmed)
        return { exitCode: exitCodes.refused, message: removalWarning(waiting) }
      const line = webhook === undefined ? [] : [lineOf(webhook)]
      const removed = await webhooks.remove(operation.webhookId, asker)
      if (!removed.ok) return refusedEnd(removed.refusal)
      yield* line
      return done
    }
    case 'test_webhook': {
      const tested = await webhooks.test(operation.webhookId, asker)
      if (!tested.ok) return refusedEnd(tested.refusal)
      const webhook = named(operation)
      if (webhook !== undefined) yield lineOf(webhook)
      return testEnd(tested.value)
    }
    case 'webhook_secret': {
      const webhook = named(operation)
      if (webhook === undefined) return refusedEnd({ kind: 'webhook_not_found' })
      const opened = webhooks.secretOf(webhook)
      if ('why' in opened) return refusedEnd({ kind: 'no_webhook_secret', why: opened.why })
      yield lineOf(webhook, opened.secret)
      return done
    }
    default:
      return assertNever(operation)
  }
}

const removalWarning = (waiting: number): string => {
  const messages = waiting === 1 ? '1 waiting message' : `${waiting} waiting messages`
  return `Nothing was changed. ${messages} will not be sent. To confirm, add --yes.`
}

const testEnd = ({ ended }: Delivery): End => {
  if (ended?.outcome === 'delivered') return { ...done, message: `The test was delivered, in ${ended.tookMs} ms.` }
  const why = [ended?.why, ended?.answer].filter((text) => text != null && text !== '')
  return { exitCode: exitCodes.refused, message: ['The test was not delivered.', ...why].join(' ') }
}

const viewOf = (webhooks: Core['webhooks'], { webhookId, url, kinds }: Webhook): WebhookView => {
  const { state, waiting, failingSinceMs, last, why } = webhooks.status(webhookId)
  return {
    id: webhookId,
    url,
    kinds: [...kinds],
    state,
    waiting,
    failingSince: failingSinceMs === null ? null : isoOf(failingSinceMs),
    lastAttempt: last === null ? null : isoOf(last.beganMs),
    trouble: why,
  }
}

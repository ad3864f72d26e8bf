import { webhooksMax } from '../../domain/attention/webhook.ts'
import { checkedUrl } from '../../domain/attention/webhook-url.ts'
import type { Decided } from '../../domain/events.ts'
import { keyIdBytes, makeKeyId } from '../../domain/key-format.ts'
import { type CommandRefusal, done, type Outcome, refused } from '../../domain/refusal.ts'
import type { ActorContext } from '../actor-context.ts'
import type { WebhookInput, Webhooks } from '../core-interface.ts'
import { deliveryHistory } from './delivery-history.ts'
import type { WebhookDeliveries } from './webhook-deliveries.ts'

export const createWebhooks = ({ entropy, log }: ActorContext, webhooks: WebhookDeliveries): Webhooks => {
  const { settings } = webhooks
  return {
    load: () => webhooks.load(),

    list: () => settings.list(),

    status: (webhookId) => webhooks.status(webhookId),

    why: () => {
      const master = webhooks.masterToMake()
      return 'why' in master ? master.why : null
    },

    secretOf: (webhook) => webhooks.secretOf(webhook),

    set: async (input, asker) => {
      const webhookId = input.webhookId ?? makeKeyId(entropy.bytes(keyIdBytes))
      const changed = await settings.change(() => decideSet(webhooks, { ...input, webhookId }, input), asker)
      if (!changed.ok) return changed
      const webhook = settings.get(webhookId)
      return webhook === null ? refused({ kind: 'webhook_not_found' }) : done(webhook)
    },

    remove: (webhookId, asker) =>
      settings.change(
        () =>
          settings.get(webhookId) === null
            ? refused({ kind: 'webhook_not_found' })
            : done({ type: 'WebhookRemoved', data: { webhookId } }),
        asker,
      ),

    test: async (webhookId, asker) => webhooks.test(webhookId, asker),

    deliveries: deliveryHistory(log),
  }
}

type NamedInput = WebhookInput & { readonly webhookId: string }

/** A changed webhook keeps its secret. A new one needs a master here. */
const decideSet = (
  webhooks: WebhookDeliveries,
  { webhookId, url, kinds }: NamedInput,
  { webhookId: given }: WebhookInput,
): Outcome<Decided<'WebhookSet'>, CommandRefusal> => {
  const { settings } = webhooks
  const before = settings.get(webhookId)
  if (given !== null && before === null) return refused({ kind: 'webhook_not_found' })
  const checked = checkedUrl(url)
  if (!checked.ok) return checked
  const data = { webhookId, url: checked.value, kinds: [...new Set(kinds)] }
  const same = before === null ? settings.list().find((webhook) => saidTo(webhook) === saidTo(data)) : undefined
  if (same !== undefined) return refused({ kind: 'webhook_exists', webhookId: same.webhookId })
  if (before === null && settings.list().length >= webhooksMax)
    return refused({ kind: 'too_many_webhooks', webhooksMax })
  const master = before === null ? webhooks.masterToMake() : { id: before.masterId }
  if ('why' in master) return refused({ kind: 'no_webhook_secret', why: master.why })
  return done({ type: 'WebhookSet', data: { ...data, masterId: master.id } })
}

const saidTo = ({ url, kinds }: Pick<WebhookInput, 'url' | 'kinds'>): string => JSON.stringify([url, kinds.toSorted()])

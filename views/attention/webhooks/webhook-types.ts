import type { AttentionKind } from '../../../src/domain/attention/attention-lines.ts'
import type { Delivery, Webhook, WebhookStatus } from '../../../src/domain/attention/webhook.ts'

export type WebhookView = Pick<Webhook, 'webhookId' | 'url' | 'kinds' | 'set'> & WebhookStatus

export type DeliveriesView = {
  readonly deliveries: readonly Delivery[]
  /** Older ones have lower revisions. `null`: there are none. */
  readonly before: number | null
}

export type WebhookField = 'url' | 'which'

/** All kinds, in the form. */
export type KindChoice = { readonly kind: AttentionKind; readonly isChosen: boolean }

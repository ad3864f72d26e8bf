import type { AttentionKind } from '../../../src/domain/attention/attention-lines.ts'
import type { By, EventData } from '../../../src/domain/events.ts'

export type DeliveryView = {
  readonly revision: number
  readonly messageId: string
  /** The record that was sent. `null`: a test. */
  readonly of: { readonly stream: string; readonly revision: number } | null
  readonly attempt: number
  readonly beganMs: number
  /** `null`: given up. */
  readonly node: string | null
  /** `null`: under way. */
  readonly ended: Pick<EventData<'DeliveryEnded'>, 'outcome' | 'status' | 'answer' | 'why' | 'tookMs'> | null
}

export type WebhookView = {
  readonly webhookId: string
  readonly url: string
  /** Empty: all. */
  readonly kinds: readonly AttentionKind[]
  readonly set: { readonly at: number; readonly by: By }
  readonly state: 'not sending' | 'failing' | 'not used yet' | 'test failed' | 'not known' | 'works'
  readonly waiting: number
  readonly failingSinceMs: number | null
  readonly nextTryMs: number | null
  readonly last: DeliveryView | null
  /** Why this node cannot send to it. */
  readonly why: string | null
}

export type DeliveriesView = {
  readonly deliveries: readonly DeliveryView[]
  /** Older ones have lower revisions. `null`: there are none. */
  readonly before: number | null
}

export type WebhookField = 'url' | 'which'

/** All kinds, in the form. */
export type KindChoice = { readonly kind: AttentionKind; readonly isChosen: boolean }

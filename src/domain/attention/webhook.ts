/** Where what needs attention is sent to (docs/protocol.md, "Webhooks"). */
import type { By, EventData, RecordedEvent } from '../events.ts'
import type { AttentionKind } from './attention-lines.ts'

export const webhooksMax = 20

export type Webhook = {
  readonly webhookId: string
  readonly url: string
  /** Empty: all. */
  readonly kinds: readonly AttentionKind[]
  /** Tells the master from which its secret is made. */
  readonly masterId: string
  /** The last change. */
  readonly set: { readonly at: number; readonly by: By }
  /** From a position of the log on, because a clock can be set back. Oldest first. Without the past kinds, a start would send what was not wanted before a change. */
  readonly wanted: readonly { readonly from: number; readonly kinds: readonly AttentionKind[] }[]
}

/** An attempt to deliver a message, or the end of attempts (`given_up`). */
export type Delivery = {
  readonly revision: number
  readonly messageId: string
  /** The record that was sent. `null`: a test. */
  readonly of: { readonly stream: string; readonly revision: number } | null
  readonly attempt: number
  readonly beganMs: number
  /** `null`: given up. */
  readonly node: string | null
  /** `null`: under way, or its node stopped less than a minute ago. */
  readonly ended:
    | (Pick<EventData<'DeliveryEnded'>, 'outcome' | 'status' | 'answer' | 'why' | 'tookMs'> & { readonly atMs: number })
    | null
}

export type WebhookStatus = {
  readonly state: 'not sending' | 'failing' | 'not used yet' | 'test failed' | 'not known' | 'works'
  /** Messages that are not delivered yet. */
  readonly waiting: number
  /** The first of the failures in a row. `null`: the last attempt did not fail. */
  readonly failingSinceMs: number | null
  /** `null`: at once, or nothing waits. */
  readonly nextTryMs: number | null
  readonly last: Delivery | null
  /** Why this node cannot send to the webhook, as a sentence. */
  readonly why: string | null
}

/** Only the last changes matter: messages wait for a day. */
const wantedMax = 20

/** A webhook keeps its master, because its receiver knows the secret. */
export const webhookAfter = (before: Webhook | null, event: RecordedEvent<'WebhookSet'>): Webhook => {
  const { recordedAt, position, metadata } = event
  const { webhookId, url, kinds, masterId } = event.data
  const wanted = [...(before?.wanted ?? []), { from: position, kinds }].slice(-wantedMax)
  return { webhookId, url, kinds, masterId, set: { at: recordedAt, by: metadata.by }, wanted }
}

/** True if the webhook is told of a record at this position, with lines of these kinds. */
export const isWanted = (webhook: Webhook, position: number, kinds: ReadonlySet<AttentionKind>): boolean => {
  const then = webhook.wanted.findLast(({ from }) => from <= position)
  return then !== undefined && hasKind(then.kinds, kinds) && hasKind(webhook.kinds, kinds)
}

const hasKind = (wanted: readonly AttentionKind[], kinds: ReadonlySet<AttentionKind>): boolean =>
  kinds.size > 0 && (wanted.length === 0 || wanted.some((kind) => kinds.has(kind)))

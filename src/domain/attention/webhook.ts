/** Where what needs attention is sent to (docs/protocol.md, "Webhooks"). */
import type { By, RecordedEvent } from '../events.ts'
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

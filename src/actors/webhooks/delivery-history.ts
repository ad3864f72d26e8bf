import type { Claim } from '../../domain/attention/delivery-queue.ts'
import type { Delivery } from '../../domain/attention/webhook.ts'
import type { EventData } from '../../domain/events.ts'
import { deliveriesStream } from '../../domain/stream-names.ts'
import type { EventLog } from '../../log/event-log.ts'
import type { Webhooks } from '../core-interface.ts'
import { emptyIfDamaged } from '../stream/read-stream.ts'

export const deliveriesPerPageMax = 50
/** Each delivery has two records. Other records of the stream are rare. */
const recordsPerRead = 2 * deliveriesPerPageMax + 10

export const deliveryHistory =
  (log: Pick<EventLog, 'read'>): Webhooks['deliveries'] =>
  async (webhookId, { before }) => {
    const from = before === null ? {} : { from: before - 1 }
    const options = { direction: 'backwards', limit: recordsPerRead, ...from } as const
    // The page must open, because the webhook can be removed there.
    const records = await log.read(deliveriesStream(webhookId), options).catch(emptyIfDamaged)
    const deliveries: Delivery[] = []
    /** The end of the attempt whose beginning comes next. */
    let end: Ended | null = null
    for (const { type, data, revision, recordedAt } of records) {
      if (deliveries.length === deliveriesPerPageMax) break
      if (type === 'DeliveryEnded') {
        if (data.outcome === 'given_up') deliveries.push(givenUp({ ...data, atMs: recordedAt }, revision))
        else end = { ...data, atMs: recordedAt }
      } else if (type === 'DeliveryBegun') {
        const isOfBegun = end?.messageId === data.messageId && end.attempt === data.attempt
        deliveries.push(deliveryOf({ ...data, revision, beganMs: recordedAt }, isOfBegun ? end : null))
        end = null
      }
    }
    const oldest = deliveries.at(-1)?.revision ?? 0
    const isEnd = records.length < recordsPerRead && deliveries.length < deliveriesPerPageMax
    return { deliveries, before: isEnd || oldest === 0 ? null : oldest }
  }

type Ended = EventData<'DeliveryEnded'> & { readonly atMs: number }

export const deliveryOf = (claim: Claim, ended: Ended | null): Delivery => {
  const { revision, messageId, of, attempt, beganMs, node } = claim
  return { revision, messageId, of, attempt, beganMs, node, ended: ended === null ? null : endOf(ended) }
}

const endOf = ({ outcome, status, answer, why, tookMs, atMs }: Ended): Delivery['ended'] => ({
  outcome,
  status,
  answer,
  why,
  tookMs,
  atMs,
})

const givenUp = (ended: Ended, revision: number): Delivery => {
  const { messageId, attempt, atMs: beganMs } = ended
  return { revision, messageId, of: null, attempt, beganMs, node: null, ended: endOf(ended) }
}

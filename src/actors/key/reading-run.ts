import type { By, Metadata, NewEvent } from '../../domain/events.ts'
import { isBatch } from '../../domain/reading/columns.ts'
import { done } from '../../domain/refusal.ts'
import { readingId } from '../../domain/uuid.ts'
import type { ExpectedRevision } from '../../log/event-log.ts'
import type { Usage } from '../core.ts'
import type { IdempotentRequests } from '../repeats/idempotent-requests.ts'
import type { ReadingsRequest, RequestGroup } from './mailbox.ts'

/**
 * One append of readings. The node sends the same events until it is known whether they are stored. Otherwise a reading
 * could be stored twice.
 */
export type Run = RequestGroup & {
  readonly events: readonly NewEvent[]
  readonly expected: ExpectedRevision
  readonly recordedAt: number
  /**
   * True if an earlier try is perhaps stored. A later answer "not written" then proves nothing, because it is about the
   * later try only.
   */
  isDoubtful: boolean
  tries: number
}

/**
 * Builds the events of one append. If a request has an idempotency key, its first event also stores the hash of that
 * key. With this hash, a later repeat is found.
 */
export const readingEvents = (
  by: By,
  requests: readonly ReadingsRequest[],
  recordedAt: number,
): readonly NewEvent[] => {
  const events: NewEvent[] = []
  for (const { requestId, readings, idempotent } of requests) {
    const metadata = { by, requestId, correlationId: requestId, causationId: requestId }
    const ofFirst: Metadata = idempotent === null ? metadata : { ...metadata, idempotency: idempotent.idempotency }
    if (isBatch(readings)) {
      for (let index = 0; index < readings.count; index += 1) {
        const id = readingId(requestId, index)
        const data = readings.readingAt(index)
        events.push({ id, type: 'ReadingAccepted', recordedAt, data, metadata: index === 0 ? ofFirst : metadata })
      }
    } else events.push({ id: requestId, type: 'ReadingAccepted', recordedAt, data: readings, metadata: ofFirst })
  }
  return events
}

export const acknowledge = (
  { requests, recordedAt }: Run,
  { stream, first, usage }: { readonly stream: string; readonly first: number; readonly usage: Usage },
  idempotent: IdempotentRequests,
): void => {
  let next = first
  for (const request of requests) {
    const last = next + request.count - 1
    idempotent.written(request, { stream, revision: next, recordedAt })
    request.settle(done({ stream, first: next, last, recordedAt, usage, repeats: null }))
    next = last + 1
  }
}

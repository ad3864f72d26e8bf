import type { By, Metadata, NewEvent } from '../../domain/events.ts'
import { isBatch } from '../../domain/reading/reading.ts'
import { done } from '../../domain/refusal.ts'
import { readingId } from '../../domain/uuid.ts'
import type { ExpectedRevision } from '../../log/event-log.ts'
import type { Usage } from '../core.ts'
import type { IdempotentRequests } from '../repeats/idempotent-requests.ts'
import type { ReadingsRequest, RequestGroup } from './mailbox.ts'

/** One append. It is sent unchanged until its outcome is known. */
export type Run = RequestGroup & {
  readonly events: readonly NewEvent[]
  readonly expected: ExpectedRevision
  readonly recordedAt: number
  /** True if one of the tries may have been stored. A later answer "not written" is about its own try only. */
  isDoubtful: boolean
  tries: number
}

/** The first event of each request carries the hash of its idempotency key. */
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
      let index = 0
      for (const data of readings) {
        const id = readingId(requestId, index)
        events.push({ id, type: 'ReadingAccepted', recordedAt, data, metadata: index === 0 ? ofFirst : metadata })
        index += 1
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

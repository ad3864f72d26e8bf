import type { ReadingRun } from '../../domain/reading/recorded-run.ts'
import { done } from '../../domain/refusal.ts'
import type { ExpectedRevision } from '../../log/event-log.ts'
import type { Usage } from '../core-interface.ts'
import type { IdempotentRequests } from '../repeats/idempotent-requests.ts'
import type { RequestGroup } from './mailbox.ts'

/** The same events are sent until it is known whether they are stored. Otherwise a reading could be stored twice. */
export type ReadingsAppend = RequestGroup & {
  readonly readings: ReadingRun
  readonly expected: ExpectedRevision
  /**
   * An earlier try is perhaps stored. A later "not written" proves nothing then, because it is about the later try only.
   */
  isDoubtful: boolean
  tries: number
}

export const acknowledge = (
  { requests, readings: { recordedAt } }: ReadingsAppend,
  { stream, first, usage }: { readonly stream: string; readonly first: number; readonly usage: Usage },
  idempotent: IdempotentRequests | null,
): void => {
  let next = first
  for (const request of requests) {
    const last = next + request.count - 1
    idempotent?.written(request, { stream, revision: next, recordedAt })
    request.settle(done({ stream, first: next, last, recordedAt, usage, repeats: null }))
    next = last + 1
  }
}

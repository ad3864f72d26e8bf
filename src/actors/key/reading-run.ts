import type { By, Metadata, NewEvent } from '../../domain/events.ts'
import { isBatch } from '../../domain/reading/reading.ts'
import { done } from '../../domain/refusal.ts'
import { readingId } from '../../domain/uuid.ts'
import type { ExpectedRevision } from '../../log/event-log.ts'
import type { Usage } from '../core.ts'
import type { KeyedAsks } from '../repeats/waiting-repeats.ts'
import type { Appending, ReadingAsk } from './mailbox.ts'

/** Readings of one append that is out. The same events go again, at the same revision, until the outcome is known. */
export type Run = Appending & {
  readonly events: readonly NewEvent[]
  readonly expected: ExpectedRevision
  readonly recordedAt: number
  /** One try may have been written: a later "not written" speaks of its own try only. */
  isDoubtful: boolean
  tries: number
}

/** The events of one append. What an `Idempotency-Key` needs goes with the first one of its request. */
export const readingEvents = (by: By, asks: readonly ReadingAsk[], recordedAt: number): readonly NewEvent[] => {
  const events: NewEvent[] = []
  for (const { requestId, readings, keyed } of asks) {
    const metadata = { by, requestId, correlationId: requestId, causationId: requestId }
    const ofFirst: Metadata = keyed === null ? metadata : { ...metadata, idempotency: keyed.idempotency }
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

/** Answers everyone whose readings an append has written, each with its place; the `first` lies at that revision. */
export const acknowledge = (
  { asks, recordedAt }: Run,
  { stream, first, usage }: { readonly stream: string; readonly first: number; readonly usage: Usage },
  keyed: KeyedAsks,
): void => {
  let next = first
  for (const ask of asks) {
    const last = next + ask.places - 1
    keyed.written(ask, { stream, revision: next, recordedAt })
    ask.settle(done({ stream, first: next, last, recordedAt, usage, repeats: null }))
    next = last + 1
  }
}

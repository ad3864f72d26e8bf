import type { Metadata } from '../domain/events.ts'
import type { Asker } from './core.ts'

/** What an event says of whoever asked for it, and of the request that it came in with. */
export const askedBy = (asker: Asker): Metadata => ({
  by: asker.by,
  requestId: asker.requestId,
  correlationId: asker.requestId,
  causationId: asker.requestId,
})

import type { Metadata } from '../domain/events.ts'
import type { Asker } from './core.ts'

export const askedBy = (asker: Asker): Metadata => ({
  by: asker.by,
  requestId: asker.requestId,
  correlationId: asker.requestId,
  causationId: asker.requestId,
})

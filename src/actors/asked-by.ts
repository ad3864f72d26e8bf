import type { Metadata } from '../domain/events.ts'
import type { Asker, Core } from './core-interface.ts'

export const askedBy = (asker: Asker): Metadata => ({
  by: asker.by,
  requestId: asker.requestId,
  correlationId: asker.requestId,
  causationId: asker.requestId,
})

/** For work that nobody else asked for. */
export const systemAsker = ({ clock, entropy }: Pick<Core, 'clock' | 'entropy'>): Asker => ({
  by: { kind: 'system' },
  requestId: entropy.requestId(clock.now()),
})

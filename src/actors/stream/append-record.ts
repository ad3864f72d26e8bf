import type { Decided, NewEvent } from '../../domain/events.ts'
import { conflictRetriesMax } from '../../limits.ts'
import { Outage } from '../../log/event-log.ts'
import type { ActorContext } from '../actor-context.ts'
import { askedBy } from '../asked-by.ts'
import type { Asker } from '../core-interface.ts'
import { appendUntilKnown } from './append-until-known.ts'

export type NewRecord = Decided<'SignInSeen' | 'SignInsRefused' | 'ReadingsRefused' | 'LogExported' | 'AttentionRested'>

/** Other nodes can write to the stream, too. Returns the record's revision. @throws Outage */
export const appendRecord = async (
  context: ActorContext,
  stream: string,
  record: NewRecord,
  asker: Asker,
): Promise<number> => {
  const { clock, entropy, log } = context
  for (let tries = 0; tries < conflictRetriesMax; tries += 1) {
    const [last] = await log.read(stream, { direction: 'backwards', limit: 1 })
    // This time can be before the last event's. Otherwise one clock that was ahead would give all later records a time in
    // the future, and delay their purge.
    const recordedAt = clock.now()
    const event: NewEvent = { ...record, id: entropy.uuid(), recordedAt, metadata: askedBy(asker) }
    const append = { stream, expected: last?.revision ?? ('none' as const), events: [event] }
    const { outcome } = await appendUntilKnown(context, append, { mustFinish: false })
    if (outcome !== 'conflict') return (last?.revision ?? -1) + 1
  }
  throw new Outage(`Cannot append to "${stream}": each try met a conflict`, 'not_written', 'overloaded')
}

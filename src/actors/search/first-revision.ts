import type { RecordedEvent } from '../../domain/events.ts'
import type { LogReads } from './patient-reads.ts'

/**
 * The first revision whose event `isReached`. Without one: the last revision + 1, or 0 for an empty stream. A binary
 * search, so all events after a reached one must be reached too.
 */
export const firstRevision = async (
  log: LogReads,
  stream: string,
  isReached: (event: RecordedEvent) => boolean,
): Promise<number> => {
  const [first] = await log.read(stream, { limit: 1 })
  const [last] = await log.read(stream, { direction: 'backwards', limit: 1 })
  if (first === undefined || last === undefined) return 0
  let low = first.revision
  let high = last.revision + 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [event] = await log.read(stream, { from: middle, limit: 1 })
    if (event === undefined || isReached(event)) high = middle
    else low = middle + 1
  }
  return low
}

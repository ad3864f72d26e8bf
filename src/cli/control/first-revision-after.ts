import type { EventLog } from '../../log/event-log.ts'

/**
 * The revision of the stream's first event after that position; past its last one if there is none. Positions grow with
 * revisions, so a search by halves finds it in about twenty reads among a million events.
 */
export const firstRevisionAfter = async (log: EventLog, stream: string, position: number): Promise<number> => {
  const [first] = await log.read(stream, { limit: 1 })
  const [last] = await log.read(stream, { direction: 'backwards', limit: 1 })
  if (first === undefined || last === undefined) return 0
  let low = first.revision
  let high = last.revision + 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [event] = await log.read(stream, { from: middle, limit: 1 })
    if (event === undefined || event.position > position) high = middle
    else low = middle + 1
  }
  return low
}

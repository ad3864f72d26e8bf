import type { FoundId } from '../search/find-events.ts'

/** For an id that says no instant: only `ask.db` can find its events. */
export const whyIdNotFound = (index: FoundId['index']): string => {
  if (index === null)
    return 'this id says no instant: it is the id of an event that is no reading, or older than version 7 of these ids.'
  if (index.isBehind || index.trouble !== null)
    return `this id says no instant, and ask.db has no events after position ${index.position ?? 0} yet.`
  return 'no event has this id, except perhaps a reading from before version 7 of these ids.'
}

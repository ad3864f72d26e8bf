import type { LogFilter } from '../../domain/search/event-filter.ts'
import { logSearchMs } from '../../limits.ts'
import { eventsOfId, type OfId } from './find-events.ts'
import { type Listed, type ListPage, type ListParts, listEvents } from './list-events.ts'
import { readsOfPage } from './patient-reads.ts'

/** `atMs`: the instant that the id says. `after`: a position behind which an ended search goes on. */
export type IdWanted = { readonly id: string; readonly atMs: number; readonly after: number | null }

export type ListWanted = { readonly filter: LogFilter; readonly page: ListPage }

/** `isIndexed`: `ask.db` could be used. */
export type ListedHere = Listed & { readonly isIndexed: boolean }

export type HereParts = Omit<ListParts, 'isOver' | 'onUnusable'> & { readonly passedMs: () => number }

/** Lists events on the thread of the caller. Ends after `logSearchMs` with what it has. @throws Outage, UndecodableEvent */
export const listHere = async (parts: HereParts, { filter, page }: ListWanted): Promise<ListedHere> => {
  const beganMs = parts.passedMs()
  let isIndexed = parts.ask !== null
  const search: ListParts = {
    ...parts,
    log: readsOfPage(parts.log),
    isOver: () => parts.passedMs() - beganMs >= logSearchMs,
    onUnusable: () => {
      isIndexed = false
    },
  }
  return { ...(await listEvents(search, filter, page)), isIndexed }
}

/** Finds the event with the id, or those of the request with the id, like `listHere`. */
export const idHere = (
  { log, ask, passedMs }: Pick<HereParts, 'log' | 'ask' | 'passedMs'>,
  { id, ...near }: IdWanted,
): Promise<OfId> => {
  const beganMs = passedMs()
  const isOver = (): boolean => passedMs() - beganMs >= logSearchMs
  return eventsOfId({ log: readsOfPage(log), ask }, id, { ...near, isOver })
}

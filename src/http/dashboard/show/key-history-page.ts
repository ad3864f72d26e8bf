import { type AuditEvent, historyOf } from '../../../../projections/audit-trail.ts'
import type { HistoryView } from '../../../../views/types.ts'
import type { Core } from '../../../actors/core.ts'
import { readKeyEvents } from '../../../actors/key/key-events.ts'
import { historyRowsPerPageMax } from '../../../limits.ts'
import { pageOf } from './paging.ts'

/** One page of what happened to a key, newest first. */
export const historyPage = (events: readonly AuditEvent[], askedPage: number): HistoryView => {
  const { shown, page, pages } = pageOf(historyOf(events).toReversed(), askedPage, historyRowsPerPageMax)
  return { rows: shown, page, pages }
}

/**
 * The same for a page that is watched: it may be made twice a second as readings come, and the log is read again only when
 * something has come that a history tells.
 */
export const watchedHistory = (core: Core, keyId: string, askedPage: number): (() => Promise<HistoryView>) => {
  let last: { readonly heard: string; readonly history: HistoryView } | null = null
  return async () => {
    const heard = heardOf(core, keyId)
    if (last?.heard === heard) return last.history
    const history = historyPage(await readKeyEvents(core, keyId), askedPage)
    last = { heard, history }
    return history
  }
}

/** How far the projections have heard of whatever `readKeyEvents` reads. */
const heardOf = ({ projections: { keys, readings } }: Core, keyId: string): string =>
  [keys.get(keyId)?.revision, readings.barriers(keyId).at(-1)?.revision, readings.purged(keyId)?.keptFrom].join(' ')

import { type AuditEvent, type HistoryRow, historyOf } from '../../../../projections/audit-trail.ts'
import { sentenceOf } from '../../../../views/log/sentence.ts'
import type { HistoryEntry, HistoryLine, HistoryView } from '../../../../views/types.ts'
import type { Core } from '../../../actors/core.ts'
import { readKeyEvents } from '../../../actors/key/key-events.ts'
import type { Change } from '../../../domain/search/event-changes.ts'
import { nothingBefore } from '../../../domain/search/state-before.ts'
import { historyRowsPerPageMax } from '../../../limits.ts'
import { namesAt } from './event-names.ts'
import { pageOf, requestedPage } from './paging.ts'
import type { Pause } from './pauses.ts'

/** `isEverything`: the page also shows internal events. */
type HistoryQuery = { readonly page: number; readonly isEverything: boolean }

/** Reads `?page=` and `?show=all`. */
export const requestedHistory = (query: URLSearchParams): HistoryQuery => ({
  page: requestedPage(query),
  isEverything: query.get('show') === 'all',
})

/** Returns one page of a key's history, newest entry first. */
export const historyPage = (
  core: Pick<Core, 'projections'>,
  events: readonly AuditEvent[],
  { page: pageNumber, isEverything }: HistoryQuery,
): HistoryView => {
  const rows = historyOf(events)
  const shownRows = rows.filter(({ event }) => isEverything || !isInternal(event))
  const { shown, page, pages } = pageOf(requestsOf(shownRows).toReversed(), pageNumber, historyRowsPerPageMax)
  const internal = rows.filter(({ event }) => isInternal(event)).length
  return { entries: shown.map((request) => entryOf(core, request)), page, pages, isEverything, internal }
}

/**
 * A fence only says when every node had a change. Every other event changes what is true of the key. Even a seal does: if a node
 * dies behind it, the revocation comes much later.
 */
export const isInternal = ({ type }: AuditEvent): boolean => type === 'ReadingsFenced'

/** Rows of one request that follow each other are one entry. */
const requestsOf = (rows: readonly HistoryRow[]): readonly (readonly HistoryRow[])[] => {
  const requests: HistoryRow[][] = []
  for (const row of rows) {
    const last = requests.at(-1)
    if (last?.[0]?.event.metadata.requestId === row.event.metadata.requestId) last.push(row)
    else requests.push([row])
  }
  return requests
}

const entryOf = (core: Pick<Core, 'projections'>, rows: readonly HistoryRow[]): HistoryEntry => {
  const last = rows.at(-1)
  if (last === undefined) throw new Error('Cannot show a request without events')
  const { requestId, by } = last.event.metadata
  const { status, key } = last.after
  return { requestId, by, lines: rows.map((row) => lineOf(core, row)), status, expiresAt: key.expiresAt }
}

const lineOf = (core: Pick<Core, 'projections'>, { event, before, changes }: HistoryRow): HistoryLine => ({
  type: event.type,
  at: event.recordedAt,
  sentence: sentenceOf(event, { ...nothingBefore, key: before }, namesAt(core, event.position)),
  changes: changes.filter((change) => !isSaid(event, change)),
  stream: event.stream,
  revision: event.revision,
  position: event.position,
})

/** True if the sentence of the event already says the change. */
const isSaid = ({ type }: AuditEvent, { field }: Change): boolean =>
  field !== 'note' && !(type === 'KeyCreated' && (field === 'limit' || field === 'expiresAt'))

/**
 * Returns a function that loads the history for a live page. New readings cause a rendering of the page up to twice a second.
 * So the function reads the log only if the history has changed.
 */
export const watchedHistory = (
  core: Core,
  keyId: string,
  query: HistoryQuery,
): ((pause: Pause) => Promise<HistoryView>) => {
  let last: { readonly revisions: string; readonly history: HistoryView } | null = null
  return async (pause) => {
    const revisions = historyRevisions(core, keyId)
    if (last?.revisions === revisions) return last.history
    const history = historyPage(core, await readKeyEvents(core, keyId, { pause }), query)
    last = { revisions, history }
    return history
  }
}

/** Returns a text that changes with every event that the key's history shows (`readKeyEvents`). */
const historyRevisions = ({ projections: { keys, readings } }: Core, keyId: string): string =>
  [keys.get(keyId)?.revision, readings.barriers(keyId).at(-1)?.revision, readings.purged(keyId)?.keptFrom].join(' ')

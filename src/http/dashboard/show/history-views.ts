import type { HistoryRow } from '../../../../projections/audit-trail.ts'
import { sentenceOf } from '../../../../views/log/sentence.ts'
import type { HistoryEntry, HistoryLine, HistoryView } from '../../../../views/types.ts'
import { answerOr } from '../../../actors/ask/answer-of.ts'
import { knownOfHistory } from '../../../actors/ask/known-of-history.ts'
import type { Core } from '../../../actors/core-interface.ts'
import type { KeyHistory } from '../../../asked/rows-of-history.ts'
import type { Change } from '../../../domain/search/event-changes.ts'
import { nothingBefore } from '../../../domain/search/state-before.ts'
import { namesAt } from './event-names.ts'
import { requestedPage } from './paging.ts'

export const historyRowsPerPageMax = 100

/** `isEverything`: the page also shows internal events. */
type HistoryQuery = { readonly page: number; readonly isEverything: boolean }

export const requestedHistory = (query: URLSearchParams): HistoryQuery => ({
  page: requestedPage(query),
  isEverything: query.get('show') === 'all',
})

export type HistoryParts = { readonly core: Core; readonly owner: string; readonly nowMs: number }

/** `null`: nobody answers now. @throws Outage, UndecodableEvent */
export const askHistory = async (
  { core, owner, nowMs }: HistoryParts,
  keyId: string,
  { page, isEverything, atMs = null }: HistoryQuery & { readonly atMs?: number | null },
): Promise<KeyHistory | null> => {
  const wanted = {
    ...knownOfHistory(core, keyId),
    isEverything,
    page: { number: page, perPage: historyRowsPerPageMax },
    atMs,
    nowMs,
  }
  return answerOr(await core.questions.ask('keyHistory', wanted, { owner, isAtOnce: true }), null)
}

export const historyView = (
  core: Pick<Core, 'projections' | 'webhooks'>,
  history: KeyHistory | null,
  { page, isEverything }: HistoryQuery,
): HistoryView => {
  if (history === null) return { entries: null, page, pages: 1, isEverything, internal: 0 }
  const { shown, ...counts } = history
  return { ...counts, entries: shown.map((request) => entryOf(core, request)), isEverything }
}

const entryOf = (core: Pick<Core, 'projections' | 'webhooks'>, rows: readonly HistoryRow[]): HistoryEntry => {
  const last = rows.at(-1)
  if (last === undefined) throw new Error('Cannot show a request without events')
  const { requestId, by } = last.event.metadata
  const { status, key } = last.after
  return { requestId, by, lines: rows.map((row) => lineOf(core, row)), status, expiresAt: key.expiresAt }
}

const lineOf = (core: Pick<Core, 'projections' | 'webhooks'>, { event, before, changes }: HistoryRow): HistoryLine => ({
  type: event.type,
  at: event.recordedAt,
  sentence: sentenceOf(event, { ...nothingBefore, key: before }, namesAt(core, event.position)),
  changes: changes.filter((change) => !isSaid(event, change)),
  stream: event.stream,
  revision: event.revision,
  position: event.position,
})

const isSaid = ({ type }: HistoryRow['event'], { field }: Change): boolean =>
  field !== 'note' && !(type === 'KeyCreated' && (field === 'limit' || field === 'expiresAt'))

/** New readings cause a rendering up to twice a second, so this asks only if the history has changed. */
export const watchedHistory = (
  parts: HistoryParts,
  keyId: string,
  query: HistoryQuery,
): (() => Promise<HistoryView>) => {
  const { core } = parts
  let last: { readonly revisions: string; readonly history: HistoryView } | null = null
  return async () => {
    const revisions = historyRevisions(core, keyId)
    if (last?.revisions === revisions) return last.history
    const history = historyView(core, await askHistory(parts, keyId, query), query)
    if (history.entries !== null) last = { revisions, history }
    return history
  }
}

/** Changes with every event that the history shows (`knownOfHistory`). */
const historyRevisions = ({ projections: { keys, readings } }: Core, keyId: string): string =>
  [keys.get(keyId)?.revision, readings.barriers(keyId).at(-1)?.revision, readings.purged(keyId)?.keptFrom].join(' ')

import type { KeyListView, KeyQuery, KeyRow } from '../../../../views/keys/key-list-types.ts'
import { answerOr, isLate } from '../../../actors/ask/answer-of.ts'
import { type FoundKeys, findKeys, lastDay, waitingRefusals } from '../../../actors/search/find-keys.ts'
import type { Limit } from '../../../domain/events.ts'
import type { KeyState } from '../../../domain/key.ts'
import { keyFilterOf, keySorts, limitShare } from '../../../domain/search/key-filter.ts'
import { pageOf } from '../../../domain/search/page-of-list.ts'
import { isSwitching } from '../../../domain/search/rotation.ts'
import type { KeyDay } from '../../../log/ask-index.ts'
import type { DashboardDeps } from '../visit.ts'
import { keyStateView } from './key-views.ts'
import { requestedPage } from './paging.ts'
import { racksOfMany } from './rotation-views.ts'

export const keysPerPageMax = 50
const typedCharsMax = 300

/** Reads what `keyFields` of `views/paths.ts` writes. */
export const keyQueryOf = (query: URLSearchParams, cellar: string | null): KeyQuery => ({
  ...keyFilterOf(query, cellar),
  sort: keySorts.find((sort) => sort === query.get('sort')) ?? 'created',
  isReversed: query.get('order') === 'reversed',
  page: requestedPage(query),
  isPaused: query.get('live') === 'off',
})

export const typedWords = (query: URLSearchParams): string => (query.get('find') ?? '').trim().slice(0, typedCharsMax)

type Asker = Parameters<typeof findKeys>[2]

export type ShownKeys = { readonly list: KeyListView; readonly loads: FoundKeys['loads'] }

export const keyListOf = async (deps: DashboardDeps, query: KeyQuery, asker: Asker): Promise<ShownKeys> => {
  const { sort, isReversed, page: asked, isPaused, ...filter } = query
  const { keys: found, loads, isBehind, ...counted } = await findKeys(deps.core, { filter, sort, isReversed }, asker)
  const { shown, page, pages } = pageOf(found, asked, keysPerPageMax)
  const { keys, isLate } = await rowsOf(deps, shown, asker.owner)
  const list = { ...counted, query: { ...query, page }, keys, found: found.length, pages, isBehind: isBehind || isLate }
  return { list, loads }
}

/** Of the page that exists. Its rows are not made. */
export const keyPageNumber = async (deps: DashboardDeps, query: KeyQuery, asker: Asker): Promise<number> => {
  if (query.page === 1) return 1
  const { sort, isReversed, page, isPaused: _, ...filter } = query
  const { keys } = await findKeys(deps.core, { filter, sort, isReversed }, asker)
  return pageOf(keys, page, keysPerPageMax).page
}

const rowsOf = async (deps: DashboardDeps, keys: readonly KeyState[], owner: string) => {
  const { core } = deps
  const nowMs = core.clock.now()
  const wanted = { keyIds: keys.map(({ keyId }) => keyId), ...lastDay(nowMs) }
  const answered = await core.questions.ask('keyDays', wanted, { owner, isAtOnce: true })
  const switching = keys.filter((key) => isSwitching(key, nowMs))
  const racks = await racksOfMany(deps, switching, owner)
  const days = new Map(answerOr(answered, []).map((day) => [day.keyId, day]))
  const waiting = waitingRefusals(core)
  const rows = keys.map((key): KeyRow => {
    const view = keyStateView(deps, key, nowMs)
    const day = days.get(key.keyId)
    return {
      ...view,
      cellarTitle: core.projections.cellars.get(key.cellar)?.title ?? key.cellar,
      day: day === undefined ? null : dayView(day, view.limit, waiting.get(key.keyId) ?? 0),
      racks: racks.get(key.keyId) ?? null,
    }
  })
  return { keys: rows, isLate: isLate(answered) }
}

/** `waiting` refusals are of this hour, or of the last minutes before it. */
const dayView = ({ keyId: _, ...day }: KeyDay, limit: Limit, waiting: number): KeyRow['day'] => ({
  ...day,
  refused: day.refused.with(-1, (day.refused.at(-1) ?? 0) + waiting),
  share: limitShare(day.busiest, limit),
  racks: day.racks.map(({ rack }) => rack),
})

import type { KegListView, KegOrder, ReadingsState, ReadingView } from '../../../../views/types.ts'
import { answerOf } from '../../../actors/ask/answer-of.ts'
import type { PlaceInLog } from '../../../actors/search/events-at.ts'
import type { AsOf } from '../../../derived/questions/question.ts'
import type { RecordedEvent } from '../../../domain/events.ts'
import type { KeyState } from '../../../domain/key.ts'
import { keyStatus } from '../../../domain/key-refusal.ts'
import { parseTimestamp } from '../../../domain/reading/parse-timestamp.ts'
import { hasWords } from '../../../domain/search/keg-words.ts'
import { keyIdOf } from '../../../domain/stream-names.ts'
import { futureSkewMsMax } from '../../../limits.ts'
import { Outage } from '../../../log/event-log.ts'
import type { DashboardDeps } from '../visit.ts'
import { unitIn } from './cellar-views.ts'
import { requestedPage } from './paging.ts'

export const kegsPerPageMax = 100
const kegFilterCharsMax = 257
export const kegFilterWordsMax = 8

/** The id of a key that this node does not know stands for its label. */
export const readingView = ({ core }: DashboardDeps, event: RecordedEvent<'ReadingAccepted'>): ReadingView => {
  const { stream, revision, position, recordedAt, data } = event
  const keyId = keyIdOf(stream)
  const timestampMs = parseTimestamp(data.timestamp)
  const clockSkew = typeof timestampMs === 'number' && timestampMs - recordedAt > futureSkewMsMax
  const keyLabel = core.projections.keys.get(keyId)?.label ?? keyId
  const unit = unitIn(core, data.cellar, data.keg)
  return { ...data, unit, stream, revision, position, recordedAt, keyId, keyLabel, clockSkew }
}

export type ReadingsQuery = {
  readonly typed: string
  /** In lower case, without duplicates, at most `kegFilterWordsMax`. */
  readonly words: readonly string[]
  readonly ignoredWords: readonly string[]
  readonly page: number
  readonly isPaused: boolean
  readonly order: KegOrder
}

export const readingsQuery = (query: URLSearchParams): ReadingsQuery => {
  const typed = [...(query.get('find') ?? '').trim()].slice(0, kegFilterCharsMax).join('')
  const words = [...new Set(typed.toLowerCase().split(/\s+/))].filter((word) => word !== '')
  return {
    typed,
    words: words.slice(0, kegFilterWordsMax),
    ignoredWords: words.slice(kegFilterWordsMax),
    page: requestedPage(query),
    isPaused: query.get('live') === 'off',
    order: {
      sort: sorts.find((sort) => sort === query.get('sort')) ?? 'name',
      isReversed: query.get('order') === 'reversed',
      silentFirst: query.get('silent') === 'first',
    },
  }
}

const sorts = ['name', 'age', 'value'] as const

export type ReadingsWanted = Pick<ReadingsQuery, 'words' | 'page' | 'order'> & { readonly cellar: string }

type Asked = {
  readonly nowMs: number
  readonly owner: string
  readonly signal?: AbortSignal | undefined
}

export const readingsOf = async (deps: DashboardDeps, wanted: ReadingsWanted, { nowMs, owner, signal }: Asked) => {
  const { cellar } = wanted
  const told = await kegPage(deps, wanted, { owner, signal })
  const read = async (places: readonly PlaceInLog[]) =>
    answerOf(await deps.core.questions.ask('eventsAt', places, { owner, isAtOnce: true }))
  const isActive = (key: KeyState): boolean => keyStatus(key, nowMs) === 'active'
  if (told.kind !== 'answered') {
    const none = { kegs: [], racks: [], found: 0, all: 0, pages: 1 }
    const kegs: KegListView = { ...none, find: wanted.words.join(' '), page: wanted.page, order: wanted.order }
    return { cellar, kegs, readings: [], state: stateWithout(told.kind), hasActiveKey: false }
  }
  const { kegs: found, racks, recent } = told.answer
  const kegs: KegListView = {
    ...found,
    kegs: found.kegs.map((keg) => ({ ...keg, unit: unitIn(deps.core, cellar, keg.keg) })),
    racks,
    find: wanted.words.join(' '),
    order: wanted.order,
  }
  const events = await ifReadable(deps.recentReadings.at(recent, read))
  const shown = (events ?? []).filter(({ data }) => hasWords(data, wanted.words))
  const readings = shown.map((event) => readingView(deps, event))
  // Used only without readings. Otherwise the keys are not searched, to save time.
  const hasActiveKey = recent.length === 0 && deps.core.projections.keys.ofCellar(cellar).some(isActive)
  const state: ReadingsState = events === null ? { kind: 'log_away' } : await stateOf(told, read)
  return { cellar, kegs, readings, state, hasActiveKey }
}

/** `null`: the log cannot be read now. The kegs are shown all the same. */
const ifReadable = async <T>(read: Promise<T>): Promise<T | null> => {
  try {
    return await read
  } catch (fault) {
    if (fault instanceof Outage) return null
    throw fault
  }
}

export const kegPageNumber = async (deps: DashboardDeps, wanted: ReadingsWanted, owner: string): Promise<number> => {
  const told = wanted.page === 1 ? null : await kegPage(deps, wanted, { owner })
  return told?.kind === 'answered' ? told.answer.kegs.page : wanted.page
}

const kegPage = ({ core }: DashboardDeps, { order, ...wanted }: ReadingsWanted, asked: Omit<Asked, 'nowMs'>) =>
  core.questions.ask(
    'cellarReadings',
    {
      ...wanted,
      ...order,
      perPage: kegsPerPageMax,
      nowMs: core.clock.now(),
    },
    asked,
  )

export const stateWithout = (kind: 'not_ready' | 'not_now'): ReadingsState =>
  kind === 'not_ready' ? { kind: 'behind', asOfMs: null } : { kind: 'away' }

export const stateOf = async (
  { isBehind, asOf }: { readonly isBehind: boolean; readonly asOf: AsOf },
  read: (places: readonly PlaceInLog[]) => Promise<readonly RecordedEvent[]>,
): Promise<ReadingsState> => {
  if (!isBehind) return { kind: 'current' }
  const head = asOf === null ? [] : await ifReadable(read([asOf]))
  return head === null ? { kind: 'log_away' } : { kind: 'behind', asOfMs: head[0]?.recordedAt ?? null }
}

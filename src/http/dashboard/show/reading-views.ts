import type { AcceptedReading, FoundKegs } from '../../../../projections/queries.ts'
import type { KegListView, ReadingView } from '../../../../views/types.ts'
import type { KeyState } from '../../../domain/key.ts'
import { keyStatus } from '../../../domain/key-refusal.ts'
import { kegFilterCharsMax, kegFilterWordsMax, kegsPerPageMax } from '../../../limits.ts'
import type { DashboardDeps } from '../visit.ts'
import { pageOf, requestedPage } from './paging.ts'
import { type Pause, runWithPauses } from './pauses.ts'

/** Adds the current label of the key. If this node does not know the key, the key's id is shown instead. */
export const readingView = ({ core }: DashboardDeps, reading: AcceptedReading): ReadingView => ({
  ...reading,
  keyLabel: core.projections.keys.get(reading.keyId)?.label ?? reading.keyId,
})

export type ReadingsQuery = {
  readonly typed: string
  /** The words to search for: in lower case, without duplicates, at most `kegFilterWordsMax`. */
  readonly words: readonly string[]
  readonly ignoredWords: readonly string[]
  readonly page: number
}

export const readingsQuery = (query: URLSearchParams): ReadingsQuery => {
  const typed = [...(query.get('find') ?? '').trim()].slice(0, kegFilterCharsMax).join('')
  const words = [...new Set(typed.toLowerCase().split(/\s+/))].filter((word) => word !== '')
  return {
    typed,
    words: words.slice(0, kegFilterWordsMax),
    ignoredWords: words.slice(kegFilterWordsMax),
    page: requestedPage(query),
  }
}

export type ReadingsWanted = Pick<ReadingsQuery, 'words' | 'page'> & { readonly cellar: string }

export const readingsOf = async (
  deps: DashboardDeps,
  wanted: ReadingsWanted,
  { nowMs, pause }: { readonly nowMs: number; readonly pause: Pause },
) => {
  const { keys, readings } = deps.core.projections
  const { cellar, words } = wanted
  const kegs = kegListOf(deps, wanted, await foundKegs(deps, wanted, pause))
  const latest = readings.latest(cellar)
  const isActive = (key: KeyState): boolean => keyStatus(key, nowMs) === 'active'
  // The page uses `hasActiveKey` only if the cellar has no readings. Otherwise the keys are not searched, to save time.
  const hasActiveKey = latest.length === 0 && keys.ofCellar(cellar).some(isActive)
  const shown = latest.filter((reading) => hasWords(reading, words)).map((reading) => readingView(deps, reading))
  return { cellar, kegs, readings: shown, hasActiveKey }
}

/** The same rule as that of `findKegs`. */
const hasWords = ({ rack, keg }: AcceptedReading, words: readonly string[]): boolean => {
  const [rackText, kegText] = [rack.toLowerCase(), keg.toLowerCase()]
  return words.every((word) => rackText.includes(word) || kegText.includes(word))
}

export const foundKegs = (
  { core }: DashboardDeps,
  { cellar, words }: Pick<ReadingsWanted, 'cellar' | 'words'>,
  pause: Pause,
): Promise<FoundKegs> => runWithPauses(core.projections.readings.findKegs(cellar, words), pause)

/** Builds only the kegs of the requested page, because a search can find thousands of kegs. */
const kegListOf = (
  deps: DashboardDeps,
  { cellar, words, page: asked }: ReadingsWanted,
  { found, all }: FoundKegs,
): KegListView => {
  const { shown, ...place } = pageOf(found, asked, kegsPerPageMax)
  const made = deps.core.projections.readings.kegs(cellar, shown)
  const kegs = made.map((keg) => ({ ...keg, latest: readingView(deps, keg.latest) }))
  return { kegs, find: words.join(' '), found: found.length, all, ...place }
}

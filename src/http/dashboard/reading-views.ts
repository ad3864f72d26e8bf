import type { AcceptedReading, KegName } from '../../../projections/queries.ts'
import type { KegListView, ReadingView } from '../../../views/types.ts'
import { keyStatus } from '../../domain/key.ts'
import { kegFilterCharsMax, kegsPerPageMax } from '../../limits.ts'
import { askedPage, pageOf } from './paging.ts'
import type { DashboardDeps } from './visit.ts'

/** A reading with the label of its key as it is now; without one, the id says which. */
export const readingView = ({ core }: DashboardDeps, reading: AcceptedReading): ReadingView => ({
  ...reading,
  keyLabel: core.projections.keys.get(reading.keyId)?.label ?? reading.keyId,
})

export type ReadingsQuery = { readonly find: string; readonly page: number }

/** `?find=` and `?page=`. */
export const readingsQuery = (query: URLSearchParams): ReadingsQuery => ({
  find: [...(query.get('find') ?? '').trim()].slice(0, kegFilterCharsMax).join(''),
  page: askedPage(query),
})

/** One page of the kegs that are looked for, and the latest readings of the whole cellar. */
export const readingsOf = (deps: DashboardDeps, cellar: string, query: ReadingsQuery, nowMs: number) => {
  const { keys, readings } = deps.core.projections
  return {
    cellar,
    kegs: kegListOf(deps, cellar, query),
    readings: readings.latest(cellar).map((reading) => readingView(deps, reading)),
    activeKeys: keys.ofCellar(cellar).filter((key) => keyStatus(key, nowMs) === 'active').length,
  }
}

/** All names are looked through, and only what the page shows is made. */
const kegListOf = (deps: DashboardDeps, cellar: string, { find, page }: ReadingsQuery): KegListView => {
  const { readings } = deps.core.projections
  const names = readings.kegNames(cellar)
  const found = find === '' ? names : names.filter(isFound(find))
  const { shown, ...place } = pageOf(found, page, kegsPerPageMax)
  const kegs = readings.kegs(cellar, shown).map((keg) => ({ ...keg, latest: readingView(deps, keg.latest) }))
  return { kegs, find, found: found.length, all: names.length, ...place }
}

/** Whether every word is somewhere in the names of rack and keg, in capitals or not. */
const isFound = (find: string): ((name: KegName) => boolean) => {
  const words = find.toLowerCase().split(/\s+/)
  return ({ rack, keg }) => {
    const text = `${rack} ${keg}`.toLowerCase()
    return words.every((word) => text.includes(word))
  }
}

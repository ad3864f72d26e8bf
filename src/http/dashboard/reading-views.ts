import type { AcceptedReading } from '../../../projections/queries.ts'
import type { KegView, ReadingView } from '../../../views/types.ts'
import { keyStatus } from '../../domain/key.ts'
import type { DashboardDeps } from './visit.ts'

/** A reading with the label of its key as it is now; without one, the id says which. */
export const readingView = ({ core }: DashboardDeps, reading: AcceptedReading): ReadingView => ({
  ...reading,
  keyLabel: core.projections.keys.get(reading.keyId)?.label ?? reading.keyId,
})

export const readingsOf = (deps: DashboardDeps, cellar: string, nowMs: number) => {
  const { keys, readings } = deps.core.projections
  const kegs = readings.kegs(cellar).map((keg): KegView => ({ ...keg, latest: readingView(deps, keg.latest) }))
  return {
    cellar,
    kegs,
    readings: readings.latest(cellar).map((reading) => readingView(deps, reading)),
    activeKeys: keys.ofCellar(cellar).filter((key) => keyStatus(key, nowMs) === 'active').length,
  }
}

import { cellarOfSegment } from '../../../../views/paths.ts'
import type { CellarState } from '../../../domain/cellar.ts'
import type { KeyState } from '../../../domain/key.ts'
import type { DashboardDeps, Visit } from '../visit.ts'

/** The cellar that the path names; `null` if there is none. */
export const cellarOf = ({ core }: DashboardDeps, { params }: Visit): CellarState | null => {
  const segment = params['cellar']
  return segment === undefined ? null : core.projections.cellars.get(cellarOfSegment(segment))
}

/** The key that the path names; `null` if there is none. */
export const keyOf = ({ core }: DashboardDeps, { params }: Visit): KeyState | null => {
  const keyId = params['keyId']
  return keyId === undefined ? null : core.projections.keys.get(keyId)
}

import type { CellarThen, KeyRowThen } from '../../../../views/types.ts'
import { stateAtInstant } from '../../../actors/search/event-context.ts'
import type { CellarState } from '../../../domain/cellar.ts'
import type { KeyState } from '../../../domain/key.ts'
import { keyStatus } from '../../../domain/key-refusal.ts'
import { cellarStream, keyStream } from '../../../domain/stream-names.ts'
import { keysThenPerPageMax, logSearchMs } from '../../../limits.ts'
import type { DashboardDeps } from '../visit.ts'
import { cellarView } from './cellar-views.ts'
import { pageOf } from './paging.ts'
import { waitForTurn } from './pauses.ts'

type Asked = { readonly at: number; readonly page: number }

/**
 * Reads the streams of the cellar and of one page of its keys, and folds them up to the instant. After `logSearchMs`, it reads no
 * further key.
 */
export const cellarThen = async (
  { core, live }: Pick<DashboardDeps, 'core' | 'live'>,
  { cellar }: CellarState,
  { at, page: asked }: Asked,
): Promise<CellarThen> => {
  const beganMs = live.passedMs()
  const isOver = (): boolean => live.passedMs() - beganMs >= logSearchMs
  const { isKnown, cellar: then } = await stateAtInstant(core.log, cellarStream(cellar), at)
  const existing = core.projections.keys.ofCellar(cellar).filter(({ created }) => created.at <= at)
  const { shown, page, pages } = pageOf(existing, asked, keysThenPerPageMax)
  const keys: KeyRowThen[] = []
  for (const { keyId } of shown) {
    if (!isOver()) await waitForTurn()
    const { key } = await stateAtInstant(core.log, keyStream(keyId), at, isOver)
    keys.push({ keyId, state: key === null ? null : factsThen(core, key, at) })
  }
  const view = then === null ? null : cellarView(then)
  return { at, cellar: view, isKnown, keys, isCutOff: isOver(), all: existing.length, page, pages }
}

/** A seal alone revokes a key, because a node can die before it writes the revocation. */
const factsThen = ({ projections }: DashboardDeps['core'], key: KeyState, at: number): KeyRowThen['state'] => {
  const isSealed = projections.readings
    .barriers(key.keyId)
    .some(({ type, recordedAt }) => type === 'ReadingsSealed' && recordedAt <= at)
  const { label, limit, expiresAt } = key
  return { label, status: keyStatus(key, at, isSealed), ownLimit: limit, expiresAt }
}

import { RotateKeyPage } from '../../../../views/keys/key-rotate.tsx'
import { paths } from '../../../../views/paths.ts'
import { overlapTyped, parseOverlap } from '../../../domain/amounts.ts'
import type { KeyState } from '../../../domain/key.ts'
import { rotationOverlapMsDefault, rotationOverlapsMs } from '../../../limits.ts'
import { rotationNotice } from '../forms/already-done.ts'
import { type Faults, htmlPage, noFaults, notFound, placedFaults, refusedPage, seeOther } from '../page-answers.tsx'
import { cellarView } from '../show/cellar-views.ts'
import { keyViewOf } from '../show/key-views.ts'
import { askerOf, type DashboardDeps, keyInPath, type SignedInVisit } from '../visit.ts'
import { backToKey, cellarOfKey } from './key-pages.tsx'
import { drawKeyId, keyShownOnce, sentKeyId, wasShown } from './key-shown-once.tsx'

export const showRotate = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const key = keyInPath(deps, visit)
  if (key === null) return notFound(visit)
  const notice = rotationNotice(key, visit.nowMs)
  if (notice !== null) return seeOther(visit, paths.key(key.keyId), { notice })
  const overlap = visit.form('overlap') || overlapTyped(rotationOverlapMsDefault)
  return htmlPage(visit, rotatePage(deps, visit, { key, overlap, keyId: sentKeyId(deps, visit) }))
}

export const rotate = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const key = keyInPath(deps, visit)
  if (key === null) return notFound(visit)
  const [back, overlap] = [backToKey(key), visit.form('overlap')]
  const againAs = (keyId: string) => (faults: Faults) => rotatePage(deps, visit, { key, overlap, keyId, faults })

  const overlapMs = parseOverlap(overlap)
  if (!overlapMs.ok) return refusedPage(visit, overlapMs.refusal, { back, again: againAs(sentKeyId(deps, visit)) })
  const rotating = { overlapMs: overlapMs.value, successorId: visit.form('_key_id') }
  const rotated = await deps.core.keys.rotate(key.keyId, rotating, askerOf(visit))
  if (rotated.ok) {
    const { replaced, ...created } = rotated.value
    return keyShownOnce(deps, visit, { created, cellar: cellarOfKey(deps, key), replaced })
  }
  const isSpent = rotated.refusal.kind === 'key_exists'
  const shown = isSpent ? wasShown(deps, visit, ({ predecessorId }) => predecessorId === key.keyId) : null
  if (shown !== null) return shown
  const again = againAs(isSpent ? drawKeyId(deps) : sentKeyId(deps, visit))
  return refusedPage(visit, rotated.refusal, { back, again })
}

export const overlaps = rotationOverlapsMs.map((ms) => ({ typed: overlapTyped(ms), ms }))

type Shown = {
  readonly key: KeyState
  readonly overlap: string
  readonly keyId: string
  readonly faults?: Faults
}

const rotatePage = async (
  deps: DashboardDeps,
  visit: SignedInVisit,
  { key, overlap, keyId, faults = noFaults }: Shown,
): Promise<string> => {
  const values = { overlap }
  return (
    <RotateKeyPage
      shell={visit.shell}
      cellar={cellarView(cellarOfKey(deps, key))}
      apiKey={await keyViewOf(deps, key, visit.nowMs)}
      form={{ values, faults: placedFaults(values, faults) }}
      overlaps={overlaps}
      keyId={keyId}
    />
  )
}

import { KeepKeyPage } from '../../../../views/keys/rotation/key-keep.tsx'
import { secondText } from '../../../../views/parts/time-words.ts'
import { paths } from '../../../../views/paths.ts'
import { dayMs } from '../../../domain/calendar.ts'
import type { KeyState } from '../../../domain/key.ts'
import { done } from '../../../domain/refusal.ts'
import { invalidField, type Typed } from '../../../domain/text.ts'
import type { NoticeName } from '../notice.ts'
import { type Faults, htmlPage, noFaults, notFound, placedFaults, refusedPage, seeOther } from '../page-answers.tsx'
import { cellarView } from '../show/cellar-views.ts'
import { keyViewOf } from '../show/key-views.ts'
import { rotationOf } from '../show/rotation-views.ts'
import { askerOf, type DashboardDeps, type SignedInVisit } from '../visit.ts'
import { backToKey, cellarOfKey, oldKeyInPath } from './key-pages.tsx'

export const showKeep = (deps: DashboardDeps, visit: SignedInVisit): Response | Promise<Response> => {
  const key = oldKeyInPath(deps, visit)
  if (key === null) return notFound(visit)
  const notice = cannotKeep(key)
  return notice === null
    ? htmlPage(visit, keepPage(deps, visit, key))
    : seeOther(visit, paths.key(key.keyId), { notice })
}

export const keep = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const key = oldKeyInPath(deps, visit)
  if (key === null) return notFound(visit)
  const notice = cannotKeep(key)
  if (notice !== null) return seeOther(visit, paths.key(key.keyId), { notice })
  const [back, again] = [backToKey(key), (faults: Faults) => keepPage(deps, visit, key, faults)]
  const end = typedEnd(visit, key)
  if (!end.ok) return refusedPage(visit, end.refusal, { back, again })
  const kept = await deps.core.keys.setExpiry(key.keyId, end.value, askerOf(visit))
  if (kept.ok) return seeOther(visit, paths.key(key.keyId), { notice: 'key_kept' })
  if (kept.refusal.kind === 'key_is_revoked')
    return seeOther(visit, paths.key(key.keyId), { notice: 'key_was_revoked' })
  return refusedPage(visit, kept.refusal, { back, again })
}

const cannotKeep = (key: KeyState): NoticeName | null => {
  if (key.revoked !== null) return 'key_was_revoked'
  if ((key.rotation?.superseded ?? null) === null) return 'new_key_not_used'
  return key.expiresAt === null ? 'key_has_no_end' : null
}

const laterByMs = [dayMs, 7 * dayMs, 30 * dayMs]
const laterByMsMax = Math.max(...laterByMs)

const endFrom = ({ nowMs }: SignedInVisit, { expiresAt }: KeyState): number => Math.max(nowMs, expiresAt ?? 0)

const keepPage = async (
  deps: DashboardDeps,
  visit: SignedInVisit,
  key: KeyState,
  faults: Faults = noFaults,
): Promise<string> => {
  const values = { end: visit.form('end') }
  const from = endFrom(visit, key)
  const ends = laterByMs.map((addedMs) => ({ end: from + addedMs, addedMs }))
  const isOffered = values.end === 'never' || ends.some(({ end }) => String(end) === values.end)
  return (
    <KeepKeyPage
      shell={visit.shell}
      cellar={cellarView(cellarOfKey(deps, key))}
      apiKey={await keyViewOf(deps, key, visit.nowMs)}
      rotation={await rotationOf(deps, key, { nowMs: visit.nowMs, owner: visit.session.email })}
      ends={[...ends, { end: null, addedMs: 0 }]}
      form={{
        values: isOffered ? values : { end: String(from + dayMs) },
        faults: placedFaults(values, faults),
      }}
    />
  )
}

/** The same end again is a form that was sent twice. An earlier end is of a form that somebody overtook. */
const typedEnd = (visit: SignedInVisit, key: KeyState): Typed<number | null> => {
  const text = visit.form('end')
  if (text === 'never') return done(null)
  const end = /^\d{13}$/.test(text) ? Number(text) : Number.NaN
  if (!(end > visit.nowMs && end <= endFrom(visit, key) + laterByMsMax))
    return invalidField('end', 'Choose one of these ends. The old key works at most 30 days longer each time.')
  if (key.expiresAt === null || end >= key.expiresAt) return done(end)
  return invalidField('end', `The old key works until ${secondText(key.expiresAt)} by now. Choose a later end.`)
}

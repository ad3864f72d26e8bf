import { KeepKeyPage, RetireKeyPage } from '../../../../views/keys/rotation/key-retire.tsx'
import { secondText } from '../../../../views/parts/time-words.ts'
import { paths } from '../../../../views/paths.ts'
import { dayMs } from '../../../domain/calendar.ts'
import { isExpired } from '../../../domain/expiry.ts'
import { followerOf, type KeyState } from '../../../domain/key.ts'
import { type CommandRefusal, done, type Outcome } from '../../../domain/refusal.ts'
import { invalidField, type Typed } from '../../../domain/text.ts'
import type { NoticeName } from '../notice.ts'
import { type Faults, htmlPage, noFaults, notFound, placedFaults, refusedPage, seeOther } from '../page-answers.tsx'
import { cellarView } from '../show/cellar-views.ts'
import { keyViewOf } from '../show/key-views.ts'
import { rotationOf } from '../show/rotation-views.ts'
import { askerOf, type DashboardDeps, keyInPath, type SignedInVisit } from '../visit.ts'
import { backToKey, cellarOfKey } from './key-pages.tsx'

export const showRetire = (deps: DashboardDeps, visit: SignedInVisit): Response | Promise<Response> =>
  ofOldKey(deps, visit, (key) => {
    const notice = cannotRetire(key, visit)
    return notice === null
      ? htmlPage(visit, retirePage(deps, visit, key))
      : seeOther(visit, paths.key(key.keyId), { notice })
  })

/** An earlier expiry, not a revocation: an admin can take it back. */
export const retire = (deps: DashboardDeps, visit: SignedInVisit): Response | Promise<Response> =>
  ofOldKey(deps, visit, async (key) => {
    const notice = cannotRetire(key, visit)
    if (notice !== null) return seeOther(visit, paths.key(key.keyId), { notice })
    const retired = await deps.core.keys.setExpiry(key.keyId, visit.nowMs, askerOf(visit))
    const again = (faults: Faults) => retirePage(deps, visit, key, faults)
    return answerTo(visit, retired, { key, notice: 'key_retired', again })
  })

export const showKeep = (deps: DashboardDeps, visit: SignedInVisit): Response | Promise<Response> =>
  ofOldKey(deps, visit, (key) => {
    const notice = cannotKeep(key)
    return notice === null
      ? htmlPage(visit, keepPage(deps, visit, key))
      : seeOther(visit, paths.key(key.keyId), { notice })
  })

export const keep = (deps: DashboardDeps, visit: SignedInVisit): Response | Promise<Response> =>
  ofOldKey(deps, visit, async (key) => {
    const again = (faults: Faults) => keepPage(deps, visit, key, faults)
    const notice = cannotKeep(key)
    if (notice !== null) return seeOther(visit, paths.key(key.keyId), { notice })
    const end = typedEnd(visit, key)
    if (!end.ok) return refusedPage(visit, end.refusal, { back: backToKey(key), again })
    const kept = await deps.core.keys.setExpiry(key.keyId, end.value, askerOf(visit))
    return answerTo(visit, kept, { key, notice: 'key_kept', again })
  })

const ofOldKey = (
  deps: DashboardDeps,
  visit: SignedInVisit,
  answer: (key: KeyState) => Response | Promise<Response>,
): Response | Promise<Response> => {
  const key = keyInPath(deps, visit)
  const next = key === null ? null : followerOf(key, (keyId) => deps.core.projections.keys.get(keyId))
  return key === null || next === null ? notFound(visit) : answer(key)
}

const cannotRetire = (key: KeyState, { nowMs }: SignedInVisit): NoticeName | null => {
  if (key.revoked !== null) return 'key_was_revoked'
  return isExpired(key, nowMs) ? 'key_was_retired' : null
}

const cannotKeep = (key: KeyState): NoticeName | null => {
  if (key.revoked !== null) return 'key_was_revoked'
  if ((key.rotation?.superseded ?? null) === null) return 'new_key_not_used'
  return key.expiresAt === null ? 'key_has_no_end' : null
}

type Answering = {
  readonly key: KeyState
  readonly notice: NoticeName
  readonly again: (faults: Faults) => Promise<string>
}

const answerTo = (
  visit: SignedInVisit,
  outcome: Outcome<KeyState, CommandRefusal>,
  { key, notice, again }: Answering,
): Response | Promise<Response> => {
  if (outcome.ok) return seeOther(visit, paths.key(key.keyId), { notice })
  if (outcome.refusal.kind === 'key_is_revoked')
    return seeOther(visit, paths.key(key.keyId), { notice: 'key_was_revoked' })
  return refusedPage(visit, outcome.refusal, { back: backToKey(key), again })
}

const retirePage = async (
  deps: DashboardDeps,
  visit: SignedInVisit,
  key: KeyState,
  faults: Faults = noFaults,
): Promise<string> => <RetireKeyPage {...(await partsOf(deps, visit, key))} fault={placedFaults({}, faults)['form']} />

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
      {...(await partsOf(deps, visit, key))}
      ends={[...ends, { end: null, addedMs: 0 }]}
      form={{
        values: isOffered ? values : { end: String(from + dayMs) },
        faults: placedFaults(values, faults),
      }}
    />
  )
}

const partsOf = async (deps: DashboardDeps, visit: SignedInVisit, key: KeyState) => ({
  shell: visit.shell,
  cellar: cellarView(cellarOfKey(deps, key)),
  apiKey: await keyViewOf(deps, key, visit.nowMs),
  rotation: await rotationOf(deps, key, { nowMs: visit.nowMs, owner: visit.session.email }),
})

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

import { ConfirmPage, type KeyAction } from '../../../../views/keys/key-confirm.tsx'
import { EditKeyPage } from '../../../../views/keys/key-form.tsx'
import { KeyPage } from '../../../../views/keys/key-page.tsx'
import { secondText } from '../../../../views/parts/time-words.ts'
import { paths } from '../../../../views/paths.ts'
import type { Shell } from '../../../../views/types.ts'
import { changeKeyInParts, type KeyChanges } from '../../../actors/key/change-key-in-parts.ts'
import type { CellarState } from '../../../domain/cellar.ts'
import { isExpired } from '../../../domain/expiry.ts'
import { followerOf, type KeyState } from '../../../domain/key.ts'
import { type CommandRefusal, done, type Outcome } from '../../../domain/refusal.ts'
import { anyEvent } from '../../../domain/search/event-filter.ts'
import { parseInstantNear } from '../../../domain/search/near-instant.ts'
import { keyStream, refusalsStream } from '../../../domain/stream-names.ts'
import { keyLimitDefault } from '../../../limits.ts'
import { lastRefusalsOf } from '../ask/refusals-shown.ts'
import { alreadyDone, alreadyDoneNotice, wasDoneBefore } from '../forms/already-done.ts'
import { isChanged, shownFieldOf, shownValues } from '../forms/changed-fields.ts'
import { changedMeanwhile, type Held, limitGroup, quoted } from '../forms/changed-meanwhile.ts'
import {
  chosenExpiry,
  type KeyFormValues,
  keyFormOf,
  keyFormValues,
  keyShownOf,
  limitValues,
  typedLimit,
} from '../forms/key-fields.ts'
import { type NoticeName, shownNotice } from '../notice.ts'
import { type Faults, htmlPage, noFaults, notFound, placedFaults, refusedPage, seeOther } from '../page-answers.tsx'
import { cellarView } from '../show/cellar-views.ts'
import { askHistory, historyView, requestedHistory } from '../show/history-views.ts'
import { stateAtTyped } from '../show/key-at-instant.ts'
import { keyViewOf } from '../show/key-views.ts'
import { rotatedOf, rotationsOf } from '../show/rotation-views.ts'
import { typedTime } from '../show/typed-instant.ts'
import { askerOf, type DashboardDeps, keyInPath, type SignedInVisit } from '../visit.ts'

export const showKey = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const key = keyInPath(deps, visit)
  if (key === null) return notFound(visit)
  const parts = { core: deps.core, owner: visit.session.email, nowMs: visit.nowMs }
  const query = requestedHistory(visit.query)
  const typed = typedTime(visit.query)
  const at = typed === '' ? null : parseInstantNear(typed, visit.nowMs)
  const history = await askHistory(parts, key.keyId, { ...query, atMs: at?.ok === true ? at.value : null })
  const apiKey = await keyViewOf(deps, key, visit.nowMs)
  const refusals = await lastRefusalsOf(parts, { ...anyEvent, stream: refusalsStream(key.keyId) })
  const then = at === null ? null : stateAtTyped(deps.core, history?.atInstant ?? null, { typed, at })
  return htmlPage(
    visit,
    <KeyPage
      shell={{ ...visit.shell, notice: keyNotice(visit, key) }}
      cellar={cellarView(cellarOfKey(deps, key))}
      apiKey={apiKey}
      rotated={await rotatedOf(deps, key, parts)}
      history={historyView(deps.core, history, query)}
      stateAt={then}
      refusals={refusals}
      position={deps.core.projections.position}
    />,
    then?.answer.kind === 'refused' ? 422 : 200,
  )
}

const keyNotice = ({ notice, query, shell }: SignedInVisit, key: KeyState): Shell['notice'] =>
  alreadyDoneNotice(notice, key) ?? shell.notice ?? shownNotice(query.has('shown') ? 'key_was_shown' : null)

export const showEdit = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const key = keyInPath(deps, visit)
  if (key === null) return notFound(visit)
  const notice = alreadyDone(key, 'edit', visit.nowMs)
  if (notice !== null) return seeOther(visit, paths.key(key.keyId), { notice })
  const values = visit.form('_shown') === '' ? keyFormOf(key) : keyFormValues(visit.form)
  return htmlPage(visit, editPage(deps, visit, { key, values, shown: shownValues(visit.form, keyShownOf(key)) }))
}

/** All fields are checked before the first is saved. Otherwise a wrong one would leave the form half saved. */
export const saveEdit = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const key = keyInPath(deps, visit)
  if (key === null) return notFound(visit)
  const notice = alreadyDone(key, 'edit', visit.nowMs)
  if (notice !== null) return seeOther(visit, paths.key(key.keyId), { notice })
  const [values, shown] = [keyFormValues(visit.form), shownValues(visit.form, keyShownOf(key))]
  const [back, again] = [backToKey(key), (faults: Faults) => editPage(deps, visit, { key, values, shown, faults })]
  const changes = changesTyped(visit, shown)
  if (!changes.ok) return refusedPage(visit, changes.refusal, { back, again })
  if (Object.keys(changes.value).length === 0) return seeOther(visit, paths.key(key.keyId), { notice: 'nothing_typed' })
  const overtaken = await changedMeanwhile(deps, visit, heldOf(key, shown))
  if (overtaken !== null) return htmlPage(visit, editPage(deps, visit, { key, values, ...overtaken }), 409)
  const saved = await changeKeyInParts(deps.core, { keyId: key.keyId, changes: changes.value }, askerOf(visit))
  if (saved.ok) return seeOther(visit, paths.key(key.keyId), { notice: 'key_changed' })
  const { refusal, done: isDone } = saved.refusal
  return refusedPage(visit, refusal, { back, again, isPartDone: isDone.length > 0 })
}

const heldOf = (key: KeyState, shown: Held['shown']): Held => ({
  shown,
  now: keyShownOf(key),
  groups: [
    { typed: ['label'], now: quoted(key.label) },
    { typed: ['note'], now: quoted(key.note) },
    limitGroup(key.limit),
    {
      typed: ['expires'],
      held: ['expires_now'],
      now: key.expiresAt === null ? '“never”' : secondText(key.expiresAt),
    },
  ],
  stream: keyStream(key.keyId),
  valuesIn: (event) => {
    switch (event.type) {
      case 'KeyRelabelled':
        return event.data
      case 'KeyLimitChanged':
        return limitValues(event.data.limit)
      case 'KeyExpirySet':
      case 'KeySuperseded':
        return { expires_now: String(event.data.expiresAt ?? 'never') }
      default:
        return {}
    }
  },
})

const changesTyped = (
  { form, nowMs }: SignedInVisit,
  shown: Readonly<Record<string, string>>,
): Outcome<KeyChanges, CommandRefusal> => {
  const expiry = chosenExpiry(form, { nowMs, isNew: false })
  if (!expiry.ok) return expiry
  const isTyped = (...fields: readonly (keyof KeyFormValues)[]) => isChanged(form, shown, fields)
  const limit = isTyped('limit_readings', 'limit_seconds') ? typedLimit(form) : null
  if (limit?.ok === false) return limit
  return done({
    ...(isTyped('label') ? { label: form('label') } : {}),
    ...(isTyped('note') ? { note: form('note') } : {}),
    ...(limit === null ? {} : { limit: limit.value }),
    ...(expiry.value === 'keep' ? {} : { expiresAt: expiry.value }),
  })
}

type EditForm = {
  readonly key: KeyState
  readonly values: KeyFormValues
  readonly shown: Readonly<Record<string, string>>
  readonly faults?: Faults
}

const editPage = async (
  deps: DashboardDeps,
  visit: SignedInVisit,
  { key, values, shown, faults = noFaults }: EditForm,
): Promise<string> => (
  <EditKeyPage
    shell={visit.shell}
    cellar={cellarView(cellarOfKey(deps, key))}
    apiKey={await keyViewOf(deps, key, visit.nowMs)}
    form={{ values, shown: shownFieldOf(shown), faults: placedFaults(values, faults) }}
    cellarLimit={deps.core.projections.cellars.get(key.cellar)?.policy.limit ?? keyLimitDefault}
  />
)

const notices: Readonly<Record<KeyAction, NoticeName>> = {
  suspend: 'key_suspended',
  resume: 'key_resumed',
  revoke: 'key_revoked',
  retire: 'key_retired',
}

export const confirmKeyAction =
  (action: KeyAction) =>
  (deps: DashboardDeps, visit: SignedInVisit): Response | Promise<Response> => {
    const key = keyOfAction(deps, visit, action)
    if (key === null) return notFound(visit)
    const notice = alreadyDone(key, action, visit.nowMs)
    if (notice !== null) return seeOther(visit, paths.key(key.keyId), { notice })
    return htmlPage(visit, confirmPage(deps, visit, { key, action }))
  }

export const doKeyAction =
  (action: KeyAction) =>
  async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
    const key = keyOfAction(deps, visit, action)
    if (key === null) return notFound(visit)
    // Twice, it would move the end.
    const notice = action === 'retire' ? alreadyDone(key, action, visit.nowMs) : null
    if (notice !== null) return seeOther(visit, paths.key(key.keyId), { notice })
    const acted =
      action === 'retire'
        ? await deps.core.keys.setExpiry(key.keyId, visit.nowMs, askerOf(visit))
        : await deps.core.keys[action](key.keyId, visit.form('reason'), askerOf(visit))
    if (acted.ok)
      return seeOther(visit, paths.key(key.keyId), {
        notice: noticeOf(action, { before: key, after: acted.value }, visit),
      })
    if (acted.refusal.kind === 'key_is_revoked')
      return seeOther(visit, paths.key(key.keyId), { notice: 'key_was_revoked' })
    const again = (faults: Faults) => confirmPage(deps, visit, { key, action, faults })
    return refusedPage(visit, acted.refusal, { back: backToKey(key), again })
  }

const keyOfAction = (deps: DashboardDeps, visit: SignedInVisit, action: KeyAction): KeyState | null =>
  action === 'retire' ? oldKeyInPath(deps, visit) : keyInPath(deps, visit)

/** Of a rotation. */
export const oldKeyInPath = (deps: DashboardDeps, visit: SignedInVisit): KeyState | null => {
  const key = keyInPath(deps, visit)
  return key === null || followerOf(key, (keyId) => deps.core.projections.keys.get(keyId)) === null ? null : key
}

const noticeOf = (action: KeyAction, { before, after }: Acted, visit: SignedInVisit): NoticeName => {
  if (action === 'revoke' && after.revoked !== null && wasDoneBefore(before.revoked, after.revoked, visit))
    return 'key_was_revoked'
  if (action === 'suspend' && after.suspended !== null && wasDoneBefore(before.suspended, after.suspended, visit))
    return 'key_was_suspended'
  if (action === 'resume' && before.suspended === null) return 'key_not_suspended'
  return action === 'resume' && isExpiredOnceResumed(after, visit.nowMs) ? 'key_resumed_expired' : notices[action]
}

const isExpiredOnceResumed = (key: KeyState, nowMs: number): boolean => key.revoked === null && isExpired(key, nowMs)

type Acted = { readonly before: KeyState; readonly after: KeyState }

type ConfirmForm = { readonly key: KeyState; readonly action: KeyAction; readonly faults?: Faults }

const confirmPage = async (
  deps: DashboardDeps,
  visit: SignedInVisit,
  { key, action, faults = noFaults }: ConfirmForm,
): Promise<string> => {
  const values = { reason: visit.form('reason') }
  const rotations = await rotationsOf(deps, key, { nowMs: visit.nowMs, owner: visit.session.email })
  return (
    <ConfirmPage
      shell={visit.shell}
      cellar={cellarView(cellarOfKey(deps, key))}
      apiKey={await keyViewOf(deps, key, visit.nowMs)}
      action={action}
      rotations={action === 'retire' ? rotations.slice(-1) : rotations}
      isExpired={isExpiredOnceResumed(key, visit.nowMs)}
      form={{ values, faults: placedFaults(values, faults) }}
    />
  )
}

/** The cellar of a key is always created before the key. */
export const cellarOfKey = ({ core }: DashboardDeps, key: KeyState): CellarState => {
  const cellar = core.projections.cellars.get(key.cellar)
  if (cellar === null) throw new Error(`Cannot show key "${key.keyId}": its cellar is not known`)
  return cellar
}

export const backToKey = ({ keyId }: KeyState) => ({ href: paths.key(keyId), words: 'Go to the page of this key' })

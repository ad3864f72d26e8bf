import { ChangeRunPage, UnknownChangePage } from '../../../../views/keys/several/change-run-page.tsx'
import { ConfirmSeveralPage } from '../../../../views/keys/several/confirm-several.tsx'
import type { KeysChosen } from '../../../../views/keys/several/several-types.ts'
import { countText } from '../../../../views/parts/quantity.ts'
import { paths } from '../../../../views/paths.ts'
import type { KeysChange } from '../../../actors/key/change-keys.ts'
import { revokedUnaskedMax } from '../../../actors/key/change-keys-split.ts'
import { overlapTyped, parseOverlap } from '../../../domain/amounts.ts'
import { type CommandRefusal, done, type Outcome } from '../../../domain/refusal.ts'
import { invalidField, parseReason } from '../../../domain/text.ts'
import { isUuid } from '../../../domain/uuid.ts'
import { newKeysFile } from '../../../export/new-keys-file.ts'
import { rotationOverlapMsDefault } from '../../../limits.ts'
import { keysChangedMax } from '../forms/change-runs.ts'
import { chosenExpiry, keyFormValues, typedLimit } from '../forms/key-fields.ts'
import { type Faults, htmlPage, noFaults, notFound, placedFaults, refusedPage, seeOther } from '../page-answers.tsx'
import { changeRunView } from '../show/change-run-view.ts'
import { backOf, type Chosen, chosenIn, factsOf, markOf, splitConfirmed, withRacks } from '../show/keys-chosen.ts'
import { askerOf, type DashboardDeps, type SignedInVisit } from '../visit.ts'
import { overlaps } from './rotate-pages.tsx'

/** The answer waits for a change of so few keys. */
const awaitedKeysMax = 100

export const showKeysChange = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const chosen = await chosenOrAnswer(deps, visit)
  return chosen instanceof Response ? chosen : htmlPage(visit, confirmPage(deps, visit, { chosen }))
}

const chosenOrAnswer = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Chosen | Response> => {
  const chosen = await chosenIn(deps, visit)
  if (chosen === null) return notFound(visit)
  const keys = chosen.able.length + chosen.staying.length
  if (chosen.mayLack) return seeOther(visit, backOf(visit.query), { notice: 'keys_may_lack' })
  if (keys === 0) return seeOther(visit, backOf(visit.query), { notice: 'no_key_chosen' })
  if (keys > keysChangedMax) return seeOther(visit, backOf(visit.query), { notice: 'too_many_keys_chosen' })
  return chosen
}

export const changeSeveral = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  if (visit.form('_form') === '') return showKeysChange(deps, visit)
  const chosen = await chosenOrAnswer(deps, visit)
  // Now, not before: the same form can be sent again while the keys are searched.
  const formId = sentFormOf(visit)
  const sentBefore = deps.changes.ofForm(formId, visit.session.email)
  if (sentBefore !== null) return seeOther(visit, paths.keysChange(sentBefore.id))
  if (chosen instanceof Response) return chosen
  const { named, came, gone } = splitConfirmed(visit.form('_confirmed'), chosen.able)
  const moved = came.length + gone === 0 ? null : { came: came.length, left: gone }
  if (named.length === 0 || (moved !== null && visit.form('_again') === ''))
    return htmlPage(visit, confirmPage(deps, visit, { chosen, moved }), 409)
  const change = typedChange(visit, { change: chosen.change, count: named.length + gone })
  if (!change.ok) {
    const back = { href: backOf(visit.query), words: 'Back to the keys' }
    return refusedPage(visit, change.refusal, { back, again: (faults) => confirmPage(deps, visit, { chosen, faults }) })
  }
  const { secret, email } = visit.session
  const { run, whole, isNew } = deps.changes.begin({
    email,
    asker: askerOf(visit),
    mayGoOn: () => deps.core.operators.session(secret)?.role === 'admin',
    query: visit.query.toString(),
    formId,
    change: change.value,
    keyIds: named.map(({ keyId }) => keyId),
    came: came.map(({ keyId }) => keyId),
    gone,
  })
  if (isNew && run.keyIds.length <= awaitedKeysMax) await whole
  if (isNew) return seeOther(visit, paths.keysChange(run.id))
  return seeOther(visit, paths.keysChange(run.id), { notice: run.ended === null ? 'change_goes_on' : 'new_keys_wait' })
}

/** With its values: after "Back", a form can be sent with others, which is another change. */
const sentFormOf = ({ form }: SignedInVisit): string =>
  JSON.stringify([form('_form'), keyFormValues(form), form('overlap'), form('reason')])

/** `count`: of the keys that the operator saw. */
const typedChange = (
  { form, nowMs }: SignedInVisit,
  { change, count }: Pick<KeysChosen, 'change' | 'count'>,
): Outcome<KeysChange, CommandRefusal> => {
  switch (change) {
    case 'expiry': {
      const expiry = chosenExpiry(form, { nowMs, isNew: false })
      if (!expiry.ok) return expiry
      if (expiry.value === 'keep') return invalidField('expires', 'Choose when the keys expire.')
      return done({ do: 'change', changes: { expiresAt: expiry.value } })
    }
    case 'limit': {
      const limit = typedLimit(form)
      return limit.ok ? done({ do: 'change', changes: { limit: limit.value } }) : limit
    }
    case 'rotate': {
      const overlapMs = parseOverlap(form('overlap'))
      return overlapMs.ok ? done({ do: 'rotate', overlapMs: overlapMs.value }) : overlapMs
    }
    case 'retire':
      return done({ do: 'retire' })
    default: {
      const mustType = change === 'revoke' ? numberToType(count) : null
      if (mustType !== null && form('count').replaceAll(/[\s,.]/g, '') !== String(mustType))
        return invalidField('count', `This is not the number of keys. Type ${countText(mustType)}.`)
      const reason = parseReason(form('reason'))
      return reason.ok ? done({ do: change, reason: reason.value }) : reason
    }
  }
}

const numberToType = (count: number): number | null => (count > revokedUnaskedMax ? count : null)

type Confirmation = {
  readonly chosen: Chosen
  readonly moved?: KeysChosen['moved']
  readonly faults?: Faults
}

const confirmPage = async (
  deps: DashboardDeps,
  visit: SignedInVisit,
  { chosen, moved = null, faults = noFaults }: Confirmation,
): Promise<string> => {
  const { core } = deps
  const { query, form, nowMs } = visit
  const facts = factsOf(deps, chosen)
  const isRetired = chosen.change === 'retire'
  const { label: _, note: __, ...fields } = keyFormValues(form)
  const values = {
    ...fields,
    expires: fields.expires || '1y',
    overlap: form('overlap') || overlapTyped(rotationOverlapMsDefault),
    reason: form('reason'),
    count: moved === null ? form('count') : '',
  }
  const shown: KeysChosen = {
    ...facts,
    shown: isRetired ? await withRacks(deps, facts.shown, visit.session.email) : facts.shown,
    change: chosen.change,
    href: `${paths.changeKeys}?${query}`,
    back: backOf(query),
    moved,
    mustType: chosen.change === 'revoke' ? numberToType(facts.count) : null,
    form: { values, faults: placedFaults(values, faults) },
    formId: form('_form') || core.entropy.requestId(nowMs),
    confirmed: markOf(chosen.able),
    isAskedAgain: moved !== null || form('_again') !== '',
  }
  return <ConfirmSeveralPage shell={visit.shell} chosen={shown} overlaps={overlaps} />
}

export const showChangeRun = (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const { id = '' } = visit.params
  const run = deps.changes.get(id, visit.session.email)
  if (run !== null) return htmlPage(visit, <ChangeRunPage shell={visit.shell} run={changeRunView(deps, run)} />)
  if (!isUuid(id)) return notFound(visit)
  return htmlPage(visit, <UnknownChangePage shell={visit.shell} id={id} by={deps.changes.operatorOf(id)} />, 404)
}

/** Once: then nothing has the new keys any more. */
export const handOutNewKeys = (deps: DashboardDeps, visit: SignedInVisit): Response => {
  const { id = '' } = visit.params
  const run = deps.changes.get(id, visit.session.email)
  if (run === null || run.ended === null || run.newKeys.length === 0) return seeOther(visit, paths.keysChange(id))
  const { newKeys } = run
  run.newKeys = []
  run.newKeysEnd = { at: visit.nowMs, isTaken: true }
  const ending = visit.form('format') === 'json' ? 'json' : 'csv'
  return new Response(newKeysFile(newKeys, ending), {
    headers: {
      'Content-Type': ending === 'json' ? 'application/json' : 'text/csv; charset=utf-8; header=present',
      'Content-Disposition': `attachment; filename="cellarbook-new-keys-${id}.${ending}"`,
    },
  })
}

import { byText } from '../../../../projections/audit-trail.ts'
import type { KeyAction } from '../../../../views/keys/key-confirm.tsx'
import { secondText } from '../../../../views/parts/time-words.ts'
import type { Shell } from '../../../../views/types.ts'
import type { By } from '../../../domain/events.ts'
import { isExpired } from '../../../domain/expiry.ts'
import { type Attribution, type KeyState, type RotationRefusal, rotationRefusal } from '../../../domain/key.ts'
import { parseReason } from '../../../domain/text.ts'
import type { NoticeName } from '../notice.ts'
import type { SignedInVisit } from '../visit.ts'

export const alreadyDone = (key: KeyState, action: KeyAction | 'edit', nowMs: number): NoticeName | null => {
  if (key.revoked !== null) return 'key_was_revoked'
  if (action === 'suspend' && key.suspended !== null) return 'key_was_suspended'
  if (action === 'retire' && isExpired(key, nowMs)) return 'key_was_retired'
  return action === 'resume' && key.suspended === null ? 'key_not_suspended' : null
}

export const rotationNotice = (key: KeyState, nowMs: number): NoticeName | null => {
  const refusal = rotationRefusal(key, nowMs)
  return refusal === null ? null : rotationNotices[refusal.kind]
}

const rotationNotices: Readonly<Record<RotationRefusal['kind'], NoticeName>> = {
  key_is_revoked: 'key_was_revoked',
  key_is_superseded: 'key_was_superseded',
  key_is_expired: 'key_was_expired',
}

/**
 * A command that succeeded may have changed nothing. Then the typed reason was not stored, and the page must say so.
 * Another node can have changed the key since `before`, so the author and the reason in `after` are compared, too.
 */
export const wasDoneBefore = (before: Attribution | null, after: Attribution, visit: SignedInVisit): boolean => {
  const reason = parseReason(visit.form('reason'))
  const isOwn = isOperator(after.by, visit.session.email) && reason.ok && after.reason === reason.value
  return !isOwn || after.at === before?.at
}

const isOperator = (by: By, email: string): boolean => by.kind === 'operator' && by.email === email

export const alreadyDoneNotice = (notice: NoticeName | null, key: KeyState): Shell['notice'] => {
  if (notice === 'key_was_revoked' && key.revoked !== null) return nothingAdded('revoked', key.revoked)
  if (notice === 'key_was_suspended' && key.suspended !== null) return nothingAdded('suspended', key.suspended)
  return null
}

const nothingAdded = (what: string, { at, by }: Attribution): Shell['notice'] => ({
  words: `This key was already ${what} at ${secondText(at)} by ${byText(by)}. Nothing was changed.`,
  isSuccess: false,
})

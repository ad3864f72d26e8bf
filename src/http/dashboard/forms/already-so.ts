import { byText } from '../../../../projections/audit-trail.ts'
import type { KeyAction } from '../../../../views/keys/key-confirm.tsx'
import { secondText } from '../../../../views/parts/time-words.ts'
import type { By } from '../../../domain/events.ts'
import { type KeyState, type Mark, type RotationRefusal, rotationRefusal } from '../../../domain/key.ts'
import { parseReason } from '../../../domain/text.ts'
import type { NoticeName } from '../notice.ts'
import type { SignedInVisit } from '../visit.ts'

/** Why there is nothing to ask before that is done to the key: it is so already, or can't be any more. `null`: ask. */
export const alreadySo = (key: KeyState, action: KeyAction | 'edit'): NoticeName | null => {
  if (key.revoked !== null) return 'key_was_revoked'
  if (action === 'suspend' && key.suspended !== null) return 'key_was_suspended'
  return action === 'resume' && key.suspended === null ? 'key_not_suspended' : null
}

/** The same of a rotation, which also time forbids. */
export const alreadyRotated = (key: KeyState, nowMs: number): NoticeName | null => {
  const refusal = rotationRefusal(key, nowMs)
  return refusal === null ? null : rotationNotices[refusal.kind]
}

const rotationNotices: Readonly<Record<RotationRefusal['kind'], NoticeName>> = {
  key_is_revoked: 'key_was_revoked',
  key_is_superseded: 'key_was_superseded',
  key_is_expired: 'key_was_expired',
}

/**
 * Whether it was so before the command, though that was answered with yes: the reason that was given is then nowhere. On
 * another node it may have become so unheard; then the mark names somebody else, or another reason.
 */
export const wasSoBefore = (before: Mark | null, after: Mark, visit: SignedInVisit): boolean => {
  const reason = parseReason(visit.form('reason'))
  const isAsGiven = isOperator(after.by, visit.session.email) && reason.ok && after.reason === reason.value
  return !isAsGiven || after.at === before?.at
}

const isOperator = (by: By, email: string): boolean => by.kind === 'operator' && by.email === email

/** The notice with what the key's state adds to it: when that was, and by whom. */
export const alreadySoText = (notice: NoticeName | null, key: KeyState): string | null => {
  if (notice === 'key_was_revoked' && key.revoked !== null) return nothingAdded('revoked', key.revoked)
  if (notice === 'key_was_suspended' && key.suspended !== null) return nothingAdded('suspended', key.suspended)
  return null
}

const nothingAdded = (what: string, { at, by }: Mark): string =>
  `It was ${what} at ${secondText(at)} by ${byText(by)}; nothing was added.`

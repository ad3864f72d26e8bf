import type { By } from '../../src/domain/events.ts'
import type { KeyStatus } from '../../src/domain/key-refusal.ts'
import { cannotSay, instant, operator, type Part, reasonOf, type Sentence, say } from './sentence-parts.ts'

/** `status` is `null` before the key was created. Times are ms since 1970. */
export type StatusThen = {
  readonly status: KeyStatus | null
  readonly expiresAt: number | null
  /** The event that led to the status. `reason` is blank if none was given. */
  readonly decidedBy: { readonly at: number; readonly by: By; readonly reason: string } | null
}

/** Follows the status, which the page shows as a mark. */
export const statusCause = ({ status, expiresAt, decidedBy }: StatusThen): Sentence => {
  if (decidedBy === null) return say`there is no such key`
  const decided = say`${instant(decidedBy.at)} by ${whoSentence(decidedBy.by)}`
  switch (status) {
    case null:
      return say`not created yet: created ${decided}`
    case 'revoked':
    case 'suspended':
      return say`since ${decided}${reasonOf(decidedBy.reason)}`
    case 'expired':
      return expiresAt === null ? [] : say`since ${instant(expiresAt)}; this expiry was set ${decided}`
    case 'active':
      return say`since ${decided}; ${expiresAt === null ? 'no expiry' : say`expiry ${instant(expiresAt)}`}`
    default:
      return cannotSay(status)
  }
}

const whoSentence = (by: By): Sentence => {
  switch (by.kind) {
    case 'operator':
      return say`${operator(by.email)}${linkSentence(by.session?.linkMadeBy ?? null)}`
    case 'key':
      return [{ kind: 'key', keyId: by.keyId, label: null }]
    case 'cli':
      return say`the command line`
    case 'system':
      return say`the service itself`
    default:
      return cannotSay(by)
  }
}

/** Who made the link that set the operator's password can have acted in the operator's name. */
const linkSentence = (madeBy: string | null): Sentence => {
  if (madeBy === null) return []
  const maker: Part | string = madeBy === 'cli' ? 'the command line' : operator(madeBy)
  return say` (password set with a one-time link from ${maker})`
}

import type { Form, NewKeyField } from '../../types.ts'
import type { RacksView } from '../rotation/rotation-types.ts'

export const severalChanges = ['suspend', 'resume', 'revoke', 'expiry', 'limit', 'rotate', 'retire'] as const
export type SeveralChange = (typeof severalChanges)[number]

/** With more keys, an address would be longer than some proxies allow. */
export const addressKeysMax = 500

/** `count` is typed before many keys are revoked. */
export type SeveralField = 'reason' | 'count' | 'overlap' | Exclude<NewKeyField, 'label' | 'note'>

type NamedKey = { readonly keyId: string; readonly label: string }

export type ChosenKey = NamedKey & {
  readonly cellarTitle: string
  readonly lastUsedAt: number | null
  /** Of the rotation that is to end. `null`: of no rotation, or not known now. */
  readonly racks: RacksView | null
}

export type KeysChosen = {
  readonly change: SeveralChange
  /** Of this page, which the form is sent to, too. */
  readonly href: string
  /** The list in which the keys were chosen. */
  readonly back: string
  /** Those that the change is for. */
  readonly count: number
  /** Some of them. Those that were used last come first. */
  readonly shown: readonly ChosenKey[]
  readonly cellars: number
  readonly usedLately: number
  /** A suspended key can be expired, too. */
  readonly expired: number
  /** Their new key of an earlier rotation was never used. */
  readonly rotatedBefore: number
  /** Chosen keys that stay as they are. */
  readonly staying: readonly { readonly count: number; readonly why: string }[]
  /** The filter finds other keys than those that were confirmed. */
  readonly moved: { readonly came: number; readonly left: number } | null
  /** `null`: any number can be changed without it. */
  readonly mustType: number | null
  readonly form: Form<SeveralField>
  /** So that a form that is sent twice makes one change. */
  readonly formId: string
  /** What the filter found (`keys-chosen.ts`). */
  readonly confirmed: string
  /** The next time, the keys that were confirmed are changed, whatever else the filter finds then. */
  readonly isAskedAgain: boolean
}

export type ChangeRunView = {
  readonly id: string
  readonly change: SeveralChange
  readonly count: number
  readonly changed: number
  /** They were already as the operator wanted them. */
  readonly same: number
  /** Confirmed keys that the change was not for any more. */
  readonly gone: number
  /** The first of all `refusedCount`. */
  readonly refused: readonly (NamedKey & { readonly why: string })[]
  readonly refusedCount: number
  /** The first of all `leftCount` that were not tried. */
  readonly left: readonly NamedKey[]
  readonly leftCount: number
  /** `null`: it goes on. */
  readonly ended: { readonly at: number; readonly why: 'all_tried' | 'session_ended' | 'log_away' | 'bug' } | null
  /** Of a rotation: the number of new keys that the next download has. */
  readonly newKeys: number
  /** When they were downloaded, or dropped after an hour. */
  readonly newKeysEnd: { readonly at: number; readonly isTaken: boolean } | null
  /** The confirmation for the keys that were not tried. */
  readonly rest: string
  /** The confirmation for the same keys. `null`: they are too many for an address. */
  readonly again: string | null
  readonly back: string
}

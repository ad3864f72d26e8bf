import type { KeyStatus } from '../../../src/domain/key-refusal.ts'
import type { RackState } from '../../../src/domain/search/rotation.ts'
import type { SuccessorView } from '../../types.ts'

/** From one key to the next. */
export type RotationView = {
  readonly old: {
    readonly keyId: string
    readonly cellar: string
    readonly status: KeyStatus
    readonly expiresAt: number | null
  }
  readonly successor: SuccessorView
  /** `null`: not known now. */
  readonly racks: RacksView | null
}

export type RacksView = {
  /** First those that may still need the old key, and of equal ones the latest. */
  readonly shown: readonly RackUse[]
  /** `all`: those that used the old key. */
  readonly counts: Readonly<Record<RackState | 'all', number>>
  /** Seen with the next key itself, not only with a later one. */
  readonly withNext: number
  readonly silentDays: number
  /** Racks that were last seen before it can be missing. */
  readonly seenFromMs: number | null
  /** If too many racks used the keys, only those up to this one were compared. */
  readonly lastCompared: string | null
}

/** Beginnings of minutes. */
export type RackUse = {
  readonly rack: string
  readonly state: RackState
  readonly oldMs: number | null
  readonly newMs: number | null
}

/** The keys before and after a key, oldest first. */
export type ChainView = {
  readonly keys: readonly { readonly keyId: string; readonly status: KeyStatus; readonly createdAt: number }[]
  /** Keys that the chain leaves out at its ends. */
  readonly earlier: number
  readonly later: number
}

import type { KeyStatus } from '../../src/domain/key-refusal.ts'
import type { KeyFilter, KeySort } from '../../src/domain/search/key-filter.ts'
import type { KeyView } from '../types.ts'
import type { RacksView } from './rotation/rotation-types.ts'

/** What the address of a list says. */
export type KeyQuery = KeyFilter & {
  readonly sort: KeySort
  readonly isReversed: boolean
  /** From 1. */
  readonly page: number
  readonly isPaused: boolean
}

export type KeyDay = {
  /** By hour, oldest first. */
  readonly accepted: readonly number[]
  readonly refused: readonly number[]
  /** The most readings in one minute. */
  readonly busiest: number
  /** Of its limit, at least. */
  readonly share: number
  /** The latest two, of all. */
  readonly racks: readonly string[]
  readonly racksTotal: number
}

export type KeyRow = Omit<KeyView, 'lastCheckedAt' | 'accepted' | 'used' | 'lastRefusal'> & {
  readonly cellarTitle: string
  /** `null`: not known now. */
  readonly day: KeyDay | null
  /** Of a rotation that goes on, for its old key. `null` also if it is not known now. */
  readonly racks: RacksView | null
}

export type KeyListView = {
  readonly query: KeyQuery
  readonly keys: readonly KeyRow[]
  readonly found: number
  /** Without a filter. */
  readonly all: number
  /** With the other filters. */
  readonly counts: Readonly<Record<KeyStatus | 'all', number>>
  readonly pages: number
  /** The latest minutes are not counted, or none. */
  readonly isBehind: boolean
  /** For the same reason, keys can be missing. */
  readonly mayLack: boolean
}

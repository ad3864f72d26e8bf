import { type Static, Type } from '@sinclair/typebox'
import { dayMs, minuteMs } from '../calendar.ts'
import type { Limit } from '../events.ts'
import { isExpired } from '../expiry.ts'
import type { KeyState } from '../key.ts'
import { keyStatuses } from '../key-refusal.ts'
import { assertNever } from '../refusal.ts'
import { withoutSecrets } from '../text.ts'

const statuses = [...keyStatuses, 'all'] as const
const expiries = ['7', '30', 'never'] as const
const unusedTimes = ['30', '90', 'never'] as const

const literalOrNull = <T extends string>(texts: readonly T[]) =>
  Type.Union([Type.Union(texts.map((text) => Type.Literal(text))), Type.Null()])

/** Plain data, because a command sends it to the running service. */
export const KeyFilter = Type.Object({
  /** `null`: all cellars. */
  cellar: Type.Union([Type.String(), Type.Null()]),
  /** In lower case. Each occurs in the label, in the note, or in the part of the key that pages show. */
  words: Type.Unsafe<readonly string[]>(Type.Array(Type.String())),
  status: Type.Union(statuses.map((status) => Type.Literal(status))),
  /** Within so many days. */
  expires: literalOrNull(expiries),
  /** For so many days. */
  unused: literalOrNull(unusedTimes),
  nearLimit: Type.Boolean(),
  refusedToday: Type.Boolean(),
  rotation: Type.Boolean(),
})
export type KeyFilter = Readonly<Static<typeof KeyFilter>>

export const anyKey: KeyFilter = {
  cellar: null,
  words: [],
  status: 'all',
  expires: null,
  unused: null,
  nearLimit: false,
  refusedToday: false,
  rotation: false,
}

/** Each can be reversed. */
export const keySorts = ['created', 'label', 'used', 'busiest', 'expires', 'cellar'] as const
export type KeySort = (typeof keySorts)[number]

const wordsCharsMax = 300
const wordsMax = 8

/** Reads what `keyFields` of `views/paths.ts` writes. Default: the active keys. */
export const keyFilterOf = (query: URLSearchParams, cellar: string | null): KeyFilter => {
  const chosen = <T extends string>(name: string, known: readonly T[]): T | null =>
    known.find((one) => one === query.get(name)) ?? null
  return {
    cellar,
    words: keyWords(query.get('find') ?? ''),
    status: chosen('status', statuses) ?? 'active',
    expires: chosen('expires', expiries),
    unused: chosen('unused', unusedTimes),
    nearLimit: query.get('near') === 'limit',
    refusedToday: query.get('refused') === 'today',
    rotation: query.get('rotation') === 'on',
  }
}

export const keyWords = (typed: string): string[] => {
  const text = withoutSecrets(typed).slice(0, wordsCharsMax).toLowerCase()
  return [...new Set(text.split(/\s+/))].filter((word) => word !== '').slice(0, wordsMax)
}

/** What the state of a key does not say. */
export type KeyFacts = {
  readonly lastUsedAt: number | null
  /** Of its limit, in the busiest minute of 24 hours. */
  readonly share: number
  readonly refusedToday: number
  readonly isRotating: boolean
}

const nearShare = 0.8

/**
 * At least so much of the limit was used. In a window that is shorter than a minute, as if the readings of the minute came
 * evenly.
 */
export const limitShare = (busiest: number, { readings, windowMs }: Limit): number =>
  (busiest * Math.min(1, windowMs / minuteMs)) / readings

/** All of the filter except the cellar and the status. */
export const isKeyFound = (key: KeyState, facts: KeyFacts, filter: KeyFilter, nowMs: number): boolean =>
  (!filter.nearLimit || facts.share >= nearShare) &&
  (!filter.refusedToday || facts.refusedToday > 0) &&
  (!filter.rotation || facts.isRotating) &&
  expiresAsWanted(key, filter.expires, nowMs) &&
  isUnused(key, facts, filter.unused, nowMs) &&
  hasKeyWords(key, filter.words)

const expiresAsWanted = (key: KeyState, wanted: KeyFilter['expires'], nowMs: number): boolean => {
  if (wanted === null) return true
  if (key.revoked !== null) return false
  if (wanted === 'never') return key.expiresAt === null
  return key.expiresAt !== null && !isExpired(key, nowMs) && key.expiresAt <= nowMs + Number(wanted) * dayMs
}

/** A key that was never used is unused since it was created. */
const isUnused = (key: KeyState, facts: KeyFacts, wanted: KeyFilter['unused'], nowMs: number): boolean => {
  if (wanted === null) return true
  if (wanted === 'never') return facts.lastUsedAt === null
  return (facts.lastUsedAt ?? key.created.at) <= nowMs - Number(wanted) * dayMs
}

const hasKeyWords = ({ keyId, label, note }: KeyState, words: readonly string[]): boolean => {
  if (words.length === 0) return true
  const text = `${label}\n${note}\nclr_${keyId}_…`.toLowerCase()
  return words.every((word) => text.includes(word))
}

/** The least first. Equal keys stay in the order of their creation, the newest first. */
export const sortValueOf = (key: KeyState, facts: KeyFacts, sort: KeySort): number | string => {
  switch (sort) {
    case 'created':
      return -key.created.at
    case 'label':
      return naturalOrder(key.label)
    case 'used':
      return -(facts.lastUsedAt ?? 0)
    case 'busiest':
      return -facts.share
    case 'expires':
      return key.expiresAt ?? Number.POSITIVE_INFINITY
    case 'cellar':
      return naturalOrder(key.cellar)
    default:
      return assertNever(sort)
  }
}

/** So that `Press 10` comes after `Press 9`. */
const naturalOrder = (text: string): string => text.toLowerCase().replace(/\d+/g, (digits) => digits.padStart(12, '0'))

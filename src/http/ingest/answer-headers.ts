import type { Accepted, Usage } from '../../actors/core.ts'
import type { Limit } from '../../domain/events.ts'
import type { KeyState } from '../../domain/key.ts'
import { jsonHeaders } from '../problem.ts'

export type AnswerHeaders = Record<string, string>

/** On every answer. The request id is always ours: one that a client chose could be anyone's. */
export const plainHeaders = (requestId: string): AnswerHeaders => ({
  ...jsonHeaders,
  'X-Request-Id': requestId,
})

/**
 * On every answer to a valid key: what it may still send (IETF draft "RateLimit header fields"), and the instant from which
 * it is refused, as ISO 8601 in UTC with milliseconds. While the store is away nobody knows what was used.
 */
export const addKeyHeaders = (
  headers: AnswerHeaders,
  key: KeyState,
  window: Usage | { readonly limit: Limit },
): void => {
  headers['RateLimit-Policy'] = policyOf(window.limit)
  if ('used' in window) headers['RateLimit'] = rateLimit(window)
  if (key.expiresAt !== null) headers['X-API-Key-Expires-At'] = expiryOf(key, key.expiresAt)
}

/**
 * Those of a 200 to a single reading, in an object that the next call writes over: whatever is made of it must copy it at
 * once, as `new Response` does. It takes a third of what names and values cost that are read anew for every answer. Readings
 * that were written by one append have one usage, so what that says is written once for all of them.
 */
export const acceptedHeaders = (requestId: string, key: KeyState, reading: Accepted): Headers => {
  const { stream, first, usage, repeats } = reading
  accepted.set('X-Request-Id', requestId)
  accepted.set('X-Receipt', `${stream}@${first}`)
  if (key !== acceptedKey || usage !== acceptedUsage) {
    acceptedKey = key
    acceptedUsage = usage
    accepted.set('RateLimit-Policy', policyOf(usage.limit))
    accepted.set('RateLimit', rateLimit(usage))
    if (key.expiresAt === null) accepted.delete('X-API-Key-Expires-At')
    else accepted.set('X-API-Key-Expires-At', expiryOf(key, key.expiresAt))
  }
  if (repeats === null) return accepted
  const replayed = new Headers(accepted)
  replayed.set(replayedHeader, 'true')
  return replayed
}

/** On an answer that a request with the same `Idempotency-Key` had before. */
export const replayedHeader = 'Idempotent-Replayed'

const accepted = new Headers(jsonHeaders)
let acceptedKey: KeyState | null = null
let acceptedUsage: Usage | null = null

const rateLimit = ({ limit, used, resetMs }: Usage): string =>
  `"default";r=${Math.max(0, limit.readings - used)};t=${seconds(resetMs)}`

const policies = new WeakMap<Limit, string>()

const policyOf = (limit: Limit): string => {
  const known = policies.get(limit)
  if (known !== undefined) return known
  const policy = `"default";q=${limit.readings};w=${seconds(limit.windowMs)}`
  policies.set(limit, policy)
  return policy
}

const expiries = new WeakMap<KeyState, string>()

const expiryOf = (key: KeyState, expiresAtMs: number): string => {
  const known = expiries.get(key)
  if (known !== undefined) return known
  const expiry = new Date(expiresAtMs).toISOString()
  expiries.set(key, expiry)
  return expiry
}

const seconds = (ms: number): number => Math.ceil(ms / 1_000)

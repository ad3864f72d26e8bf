import type { Accepted, Usage } from '../../actors/core-interface.ts'
import type { Limit } from '../../domain/events.ts'
import type { KeyState } from '../../domain/key.ts'
import { jsonHeaders } from '../problem.ts'

/** With this time, a device that sends once a minute keeps its connection. */
export const keepAliveSecondsMin = 75

export type AnswerHeaders = Record<string, string>

/** `requestId` is never the client's: a client could send the id of another request, and make the log lines ambiguous. */
export const plainHeaders = (requestId: string): AnswerHeaders => ({
  ...jsonHeaders,
  'X-Request-Id': requestId,
})

/** As in the IETF draft "RateLimit header fields". Without the store, `used` is not known, and `RateLimit` is left out. */
export const addKeyHeaders = (
  headers: AnswerHeaders,
  key: Pick<KeyState, 'expiresAt'>,
  window: Usage | { readonly limit: Limit },
): void => {
  headers['RateLimit-Policy'] = policyOf(window.limit)
  if ('used' in window) headers['RateLimit'] = rateLimit(window)
  if (key.expiresAt !== null) headers['X-API-Key-Expires-At'] = expiryOf(key, key.expiresAt)
}

/**
 * All calls for new readings return the same object, because a new one would take three times as long. So the caller must
 * copy it at once, as `new Response` does. Readings of one append share `usage`, so only the first sets all headers.
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

export const replayedHeader = 'Idempotent-Replayed'

export const keepAlive = { 'Keep-Alive': `timeout=${keepAliveSecondsMin}` } as const

const accepted = new Headers({ ...jsonHeaders, ...keepAlive })
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

const expiries = new WeakMap<Pick<KeyState, 'expiresAt'>, string>()

const expiryOf = (key: Pick<KeyState, 'expiresAt'>, expiresAtMs: number): string => {
  const known = expiries.get(key)
  if (known !== undefined) return known
  const expiry = new Date(expiresAtMs).toISOString()
  expiries.set(key, expiry)
  return expiry
}

const seconds = (ms: number): number => Math.ceil(ms / 1_000)

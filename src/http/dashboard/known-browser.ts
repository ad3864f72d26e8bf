import type { PasswordClient } from '../../actors/core.ts'
import { siteOf } from '../client-address.ts'
import { readCookie } from './session-cookie.ts'
import type { DashboardDeps, Visit } from './visit.ts'

/** What a browser that has signed in before is counted by: the hash of its device secret. `null` for every other browser. */
export const knownBrowser = ({ core }: DashboardDeps, { request, origin }: Visit, email: string): string | null => {
  const secret = readCookie(request.headers, 'device', origin.trust)
  return secret !== null && core.operators.isKnownDevice(email, secret) ? Bun.SHA256.hash(secret, 'hex') : null
}

/** Whose turn it is when passwords wait to be hashed. */
export const passwordClient = ({ request, origin }: Visit, isKnown: boolean): PasswordClient => ({
  network: siteOf(origin.clientAddress),
  isKnown,
  signal: request.signal,
})

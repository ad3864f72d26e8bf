import type { PasswordClient } from '../../../actors/core.ts'
import { siteOf } from '../../client-address.ts'
import type { DashboardDeps, Visit } from '../visit.ts'
import { readCookie } from './session-cookie.ts'

/**
 * The hash of the browser's device secret, or `null` if the account does not know the browser. Its attempts are counted by
 * that hash.
 */
export const knownBrowser = ({ core }: DashboardDeps, { request, origin }: Visit, email: string): string | null => {
  const secret = readCookie(request.headers, 'device', origin.trust)
  return secret !== null && core.operators.isKnownDevice(email, secret) ? Bun.SHA256.hash(secret, 'hex') : null
}

/** Decides whose password is hashed next. */
export const passwordClient = ({ request, origin }: Visit, isKnown: boolean): PasswordClient => ({
  network: siteOf(origin.clientAddress),
  isKnown,
  signal: request.signal,
})

import Bowser from 'bowser'
import type { PasswordClient, SignInFrom } from '../../../actors/core-interface.ts'
import { withoutSecrets } from '../../../domain/text.ts'
import { siteOf } from '../../client-address.ts'
import type { DashboardDeps, Visit } from '../visit.ts'
import { readCookie } from './cookies.ts'

const userAgentCharsMax = 300
const browserCharsMax = 80

/**
 * `isKnown`: an open session, a one-time link or a known browser. In the queue for passwords these come first
 * (docs/decisions/022-a-flood-of-sign-ins-keeps-nobody-out.md).
 */
export const signInFrom = (visit: Visit, { isKnown }: { readonly isKnown: boolean }): SignInFrom => {
  const { request, origin } = visit
  return {
    client: passwordClient(visit, isKnown),
    address: origin.clientAddress,
    browser: browserName(request.headers.get('user-agent')),
    deviceSecret: readCookie(request.headers, 'device', origin.trust),
    sessionSecret: readCookie(request.headers, 'session', origin.trust),
  }
}

export const passwordClient = ({ request, origin }: Visit, isKnown: boolean): PasswordClient => ({
  network: siteOf(origin.clientAddress),
  isKnown,
  signal: request.signal,
})

/** The hash of the secret in the `device` cookie. `null` if this account was never used in this browser. */
export const knownBrowser = ({ core }: DashboardDeps, { request, origin }: Visit, email: string): string | null => {
  const secret = readCookie(request.headers, 'device', origin.trust)
  return secret !== null && core.operators.isKnownDevice(email, secret) ? Bun.SHA256.hash(secret, 'hex') : null
}

const browserName = (userAgent: string | null): string => {
  const header = (userAgent ?? '').slice(0, userAgentCharsMax)
  if (header === '') return unknownBrowser
  const { browser, os } = Bowser.parse(header)
  if (browser.name === undefined || browser.name === '') return unknownBrowser
  const [version = ''] = (browser.version ?? '').split('.', 1)
  const name = [browser.name, version].filter((word) => word !== '').join(' ')
  const words = os.name === undefined ? name : `${name} on ${os.name}`
  return withoutSecrets(printableAscii(words)).slice(0, browserCharsMax)
}

const unknownBrowser = 'an unknown browser'

/** A client can send any characters as `User-Agent`, and pages show the result. */
const printableAscii = (text: string): string => text.replaceAll(/[^\x20-\x7e]/g, '?')

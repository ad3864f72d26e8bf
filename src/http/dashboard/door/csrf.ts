import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * The token of every form: made from the secret in the cookie, so that it needs no memory, holds on any node, and ends with
 * the session. Before sign-in the secret is a visitor's, of no other use.
 */
export const csrfToken = (cookieSecret: string): string =>
  createHmac('sha256', cookieSecret).update('cellarbook form').digest('base64url')

export const csrfMatches = (token: string, cookieSecret: string): boolean => {
  const given = Buffer.from(token)
  const expected = Buffer.from(csrfToken(cookieSecret))
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/**
 * Whether a browser says that another site's page sent this. The token would refuse it as well; this refuses it even if a
 * token leaked. What says neither is no browser of these years, and has the token to prove itself.
 */
export const isCrossSite = (headers: Headers, ownOrigins: readonly string[]): boolean => {
  const site = headers.get('sec-fetch-site')
  if (site !== null && site !== 'same-origin') return true
  const origin = headers.get('origin')
  return origin !== null && !ownOrigins.includes(origin)
}

import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * Proves that a page of this dashboard made the form in the same browser. It comes from the secret in the session or
 * visitor cookie, so no node stores tokens, and a token ends with its session.
 */
export const csrfToken = (cookieSecret: string): string =>
  createHmac('sha256', cookieSecret).update('cellarbook form').digest('base64url')

export const csrfMatches = (token: string, cookieSecret: string): boolean => {
  const given = Buffer.from(token)
  const expected = Buffer.from(csrfToken(cookieSecret))
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/**
 * Refused even with a valid token, because a token can leak. Without `Sec-Fetch-Site` and `Origin`, only the token decides.
 */
export const isCrossSite = (headers: Headers, ownOrigins: readonly string[]): boolean => {
  const site = headers.get('sec-fetch-site')
  if (site !== null && site !== 'same-origin') return true
  const origin = headers.get('origin')
  return origin !== null && !ownOrigins.includes(origin)
}

import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * Computes the form token, which proves that a page of this dashboard made the form in the same browser. The token comes from
 * the secret in the session or visitor cookie. So no node stores tokens, every node accepts them, and a token ends with its
 * session.
 */
export const csrfToken = (cookieSecret: string): string =>
  createHmac('sha256', cookieSecret).update('cellarbook form').digest('base64url')

export const csrfMatches = (token: string, cookieSecret: string): boolean => {
  const given = Buffer.from(token)
  const expected = Buffer.from(csrfToken(cookieSecret))
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/**
 * True if another site sent the form. Such a form is refused even with a valid token, because a token can leak. If the browser
 * sends neither `Sec-Fetch-Site` nor `Origin`, only the token decides.
 */
export const isCrossSite = (headers: Headers, ownOrigins: readonly string[]): boolean => {
  const site = headers.get('sec-fetch-site')
  if (site !== null && site !== 'same-origin') return true
  const origin = headers.get('origin')
  return origin !== null && !ownOrigins.includes(origin)
}

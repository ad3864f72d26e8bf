import { createHmac, timingSafeEqual } from 'node:crypto'

/** Made from the secret in a cookie. So no node stores tokens, every node accepts them, and they end with the session. */
export const csrfToken = (cookieSecret: string): string =>
  createHmac('sha256', cookieSecret).update('cellarbook form').digest('base64url')

export const csrfMatches = (token: string, cookieSecret: string): boolean => {
  const given = Buffer.from(token)
  const expected = Buffer.from(csrfToken(cookieSecret))
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/** True if another site sent the form, which is refused even if its token has leaked. Without both headers, only the token decides. */
export const isCrossSite = (headers: Headers, ownOrigins: readonly string[]): boolean => {
  const site = headers.get('sec-fetch-site')
  if (site !== null && site !== 'same-origin') return true
  const origin = headers.get('origin')
  return origin !== null && !ownOrigins.includes(origin)
}

import { createHmac, timingSafeEqual } from 'node:crypto'

/** Made from the secret in a cookie. So no node stores tokens, each node accepts them, and they end with the session. */
export const csrfToken = (cookieSecret: string): string =>
  createHmac('sha256', cookieSecret).update('cellarbook form').digest('base64url')

export const csrfMatches = (token: string, cookieSecret: string): boolean => {
  const given = Buffer.from(token)
  const expected = Buffer.from(csrfToken(cookieSecret))
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/** Refuses another site's form even if a token has leaked. Without both headers, the token alone decides. */
export const isCrossSite = (headers: Headers, ownOrigins: readonly string[]): boolean => {
  const site = headers.get('sec-fetch-site')
  if (site !== null && site !== 'same-origin') return true
  const origin = headers.get('origin')
  return origin !== null && !ownOrigins.includes(origin)
}

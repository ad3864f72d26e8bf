import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * Proves that a page of this dashboard made the form in the same browser. It comes from the secret in the session or
 * visitor cookie, so no node stores tokens, and a token ends with its session. Behind the proof, a token names its operator,
 * so that a form can be given back after the session (`kept-form.ts`).
 */
export const csrfToken = (cookieSecret: string, email: string | null): string =>
  email === null ? proofOf(cookieSecret) : `${proofOf(cookieSecret)}.${ownerMark(email)}`

const proofOf = (cookieSecret: string): string =>
  createHmac('sha256', cookieSecret).update('cellarbook form').digest('base64url')

const ownerMark = (email: string): string => Bun.SHA256.hash(email, 'hex')

export const csrfMatches = (token: string, cookieSecret: string): boolean => {
  const [proof = ''] = token.split('.', 1)
  const given = Buffer.from(proof)
  const expected = Buffer.from(proofOf(cookieSecret))
  return given.length === expected.length && timingSafeEqual(given, expected)
}

export const hasOwner = (token: string): boolean => token.includes('.')

export const isOwnedBy = (token: string, email: string): boolean => token.split('.')[1] === ownerMark(email)

/**
 * Refused even with a valid token, because a token can leak. Without `Sec-Fetch-Site` and `Origin`, only the token decides.
 */
export const isCrossSite = (headers: Headers, ownOrigins: readonly string[]): boolean => {
  const site = headers.get('sec-fetch-site')
  if (site !== null && site !== 'same-origin') return true
  const origin = headers.get('origin')
  return origin !== null && !ownOrigins.includes(origin)
}

/** `isCrossSite` lets a form pass that has neither header. A form without a valid token needs this proof. */
export const isFromOwnPage = (headers: Headers, ownOrigins: readonly string[]): boolean =>
  headers.get('sec-fetch-site') === 'same-origin' || ownOrigins.includes(headers.get('origin') ?? '')

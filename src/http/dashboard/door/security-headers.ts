import type { Origin } from './origin.ts'

/**
 * On every answer of the dashboard. Nothing inline, nothing from elsewhere, nothing framed; and nothing kept, since a page
 * can hold a key that exists nowhere else.
 *
 * The referrer is `same-origin`, not `no-referrer`: with that, browsers send `Origin: null` with our own forms, and on
 * plain http, where there is no `Sec-Fetch-Site`, nothing would tell them from another site's. Both tell other sites nothing.
 */
export const securityHeaders = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy':
    'camera=(), microphone=(), geolocation=(), payment=(), usb=(), clipboard-write=(self), clipboard-read=()',
} as const

export const noStore = 'no-store'

/**
 * For a year a browser uses https alone for this name, on every port. After a shorter time, a returning browser could begin with
 * plain http again. Subdomains and preload lists are not named: the owner of the name decides about them.
 */
const strictTransport = 'max-age=31536000'

/** Sets the headers that the answer did not set itself. `origin` is given if the visit used a name of ours. */
export const secured = (response: Response, origin?: Origin): Response => {
  if (origin?.isStrict === true) response.headers.set('Strict-Transport-Security', strictTransport)
  for (const [name, value] of Object.entries(securityHeaders)) response.headers.set(name, value)
  if (!response.headers.has('Cache-Control')) response.headers.set('Cache-Control', noStore)
  return response
}

import type { Origin } from './origin.ts'

/**
 * With `Referrer-Policy: no-referrer`, browsers would send `Origin: null` with our own forms, and `isCrossSite` would
 * refuse them.
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

/** A page can contain a key that is shown only once. */
export const noStore = 'no-store'

/** A year. Without subdomains, about which only the owner of the domain can decide. */
const strictTransport = 'max-age=31536000'

/** Without `origin`, the host name was refused, so the browser must not be told to use https. */
export const secured = (response: Response, origin?: Origin): Response => {
  if (origin?.isStrict === true) response.headers.set('Strict-Transport-Security', strictTransport)
  for (const [name, value] of Object.entries(securityHeaders)) response.headers.set(name, value)
  if (!response.headers.has('Cache-Control')) response.headers.set('Cache-Control', noStore)
  return response
}

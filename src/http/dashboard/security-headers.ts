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

/** Sets what the answer did not set itself. */
export const secured = (response: Response): Response => {
  for (const [name, value] of Object.entries(securityHeaders)) response.headers.set(name, value)
  if (!response.headers.has('Cache-Control')) response.headers.set('Cache-Control', noStore)
  return response
}

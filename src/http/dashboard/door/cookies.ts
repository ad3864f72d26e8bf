import type { SignedIn } from '../../../actors/core-interface.ts'
import { headerPartsMax } from '../../http-bounds.ts'
import type { Visit } from '../visit.ts'
import type { Trust } from './origin.ts'

const deviceMsMax = 400 * 86_400_000

/**
 * - With `__Host-`, other hosts of the domain cannot set the cookie. It needs `Secure`. Over plain http from `localhost` or
 *   127.0.0.1, Chromium keeps such a cookie. Safari drops it, and the next form is refused (`no_cookie`).
 * - `SameSite=Lax`, not `Strict`: who follows a link from a chat is signed in. That is safe, because a GET changes nothing.
 * - `device` marks a browser in which an operator has signed in before. `visitor` holds the secret for form tokens before
 *   sign-in.
 */
export type CookieKind = 'session' | 'visitor' | 'notice' | 'device'

const suffixes: Readonly<Record<CookieKind, string>> = {
  session: '',
  visitor: '-visitor',
  notice: '-notice',
  device: '-device',
}

/**
 * Other names over insecure plain http: an attacker could set a cookie there, and this service would trust it over https.
 */
const nameOf = (kind: CookieKind, trust: Trust): string =>
  `${trust === 'secure' ? '__Host-cellarbook' : 'cellarbook-insecure'}${suffixes[kind]}`

export const readCookie = (headers: Headers, kind: CookieKind, trust: Trust): string | null => {
  const wanted = `${nameOf(kind, trust)}=`
  for (const pair of (headers.get('cookie') ?? '').split(';', headerPartsMax)) {
    const text = pair.trim()
    if (text.startsWith(wanted)) return text.slice(wanted.length)
  }
  return null
}

/**
 * `value` is not escaped: only letters, digits, `-` and `_`. `ageMs` 0 deletes the cookie. Without it, the browser deletes
 * the cookie when it closes.
 */
export const cookieText = (
  { kind, value, ageMs }: { readonly kind: CookieKind; readonly value: string; readonly ageMs?: number },
  trust: Trust,
): string => {
  const age = ageMs === undefined ? '' : `; Max-Age=${Math.floor(ageMs / 1_000)}`
  const secure = trust === 'secure' ? '; Secure' : ''
  return `${nameOf(kind, trust)}=${value}; Path=/; HttpOnly; SameSite=Lax${age}${secure}`
}

export const signedInCookies = (
  { origin, nowMs }: Visit,
  { sessionSecret, deviceSecret, session }: SignedIn,
): readonly string[] => [
  cookieText({ kind: 'session', value: sessionSecret, ageMs: session.expiresAt - nowMs }, origin.trust),
  cookieText({ kind: 'device', value: deviceSecret, ageMs: deviceMsMax }, origin.trust),
  cookieText({ kind: 'visitor', value: '', ageMs: 0 }, origin.trust),
]

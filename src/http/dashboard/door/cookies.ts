import type { SignedIn } from '../../../actors/core-interface.ts'
import { headerPartsMax } from '../../http-bounds.ts'
import type { Visit } from '../visit.ts'
import type { Trust } from './origin.ts'

const deviceMsMax = 400 * 86_400_000

/**
 * The reasons for the names and the attributes of the dashboard's cookies:
 *
 * - The prefix `__Host-` stops other hosts of the domain from setting the cookie. The prefix needs `Secure`. Over plain http
 *   from `localhost` or 127.0.0.1, Chromium keeps such a cookie. Safari drops it, and the next form is refused, because its
 *   cookie is missing (`no_cookie`).
 * - `SameSite=Lax`, not `Strict`, so that an operator who follows a link from a chat is signed in. That is safe, because a GET
 *   changes nothing.
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
 * Over insecure plain http, cookies have other names. Otherwise an attacker could set a cookie over plain http, and this
 * service would trust the cookie over https.
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
 * `value` is not escaped, so it must have only letters, digits, `-` and `_`. `ageMs` 0 deletes the cookie. Without `ageMs`, the
 * browser deletes the cookie when it closes.
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

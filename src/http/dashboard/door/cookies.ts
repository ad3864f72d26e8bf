import type { SignedIn } from '../../../actors/core.ts'
import { deviceMsMax } from '../../../limits.ts'
import type { Visit } from '../visit.ts'
import type { Trust } from './origin.ts'

/**
 * Cookies hold random secrets and the name of a notice, nothing else. The log has what a session may do, under the hash of
 * its secret.
 *
 * - `__Host-` binds a cookie to one host and needs `Secure`. Chromium accepts `Secure` on plain http from `localhost` and
 *   127.0.0.1. Safari is known to drop such a cookie; then the next form has no cookie, and the answer says so.
 * - `SameSite=Lax`, not `Strict`: a link that a colleague sends must open. A GET changes nothing here.
 *
 * `device` marks a browser that has signed in before. `visitor` protects the forms of visitors without a session.
 */
export type CookieKind = 'session' | 'visitor' | 'notice' | 'device'

const suffixes: Readonly<Record<CookieKind, string>> = {
  session: '',
  visitor: '-visitor',
  notice: '-notice',
  device: '-device',
}

/** Insecure cookies have another name, so a cookie set over plain http is never read over https. */
const nameOf = (kind: CookieKind, trust: Trust): string =>
  `${trust === 'secure' ? '__Host-cellarbook' : 'cellarbook-insecure'}${suffixes[kind]}`

export const readCookie = (headers: Headers, kind: CookieKind, trust: Trust): string | null => {
  const wanted = `${nameOf(kind, trust)}=`
  for (const pair of (headers.get('cookie') ?? '').split(';')) {
    const text = pair.trim()
    if (text.startsWith(wanted)) return text.slice(wanted.length)
  }
  return null
}

/** `value`: letters, digits, `-` and `_`. `ageMs`: 0 deletes the cookie; without it, the cookie ends with the browser. */
export const cookieText = (
  { kind, value, ageMs }: { readonly kind: CookieKind; readonly value: string; readonly ageMs?: number },
  trust: Trust,
): string => {
  const age = ageMs === undefined ? '' : `; Max-Age=${Math.floor(ageMs / 1_000)}`
  const secure = trust === 'secure' ? '; Secure' : ''
  return `${nameOf(kind, trust)}=${value}; Path=/; HttpOnly; SameSite=Lax${age}${secure}`
}

/** Set at sign-in: the session and the known browser. The visitor's cookie is deleted. */
export const signedInCookies = (
  { origin, nowMs }: Visit,
  { sessionSecret, deviceSecret, session }: SignedIn,
): readonly string[] => [
  cookieText({ kind: 'session', value: sessionSecret, ageMs: session.expiresAt - nowMs }, origin.trust),
  cookieText({ kind: 'device', value: deviceSecret, ageMs: deviceMsMax }, origin.trust),
  cookieText({ kind: 'visitor', value: '', ageMs: 0 }, origin.trust),
]

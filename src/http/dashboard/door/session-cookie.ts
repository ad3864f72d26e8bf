import type { Trust } from './origin.ts'

/**
 * Cookies hold secrets and nothing else: what a session may do is in the log, under the hash of its secret.
 *
 * `__Host-` binds a cookie to this very host, and needs `Secure`. Chromium takes that on plain http too, from `localhost` and
 * 127.0.0.1; where a browser does not, as Safari is known to, the form that comes back without a cookie says so. `SameSite=Lax`, not `Strict`: a link to a key that
 * a colleague sends should open, and a GET changes nothing here.
 */
/** `device` marks a browser that has signed in before. */
export type CookieKind = 'session' | 'visitor' | 'notice' | 'device'

const suffixes: Readonly<Record<CookieKind, string>> = {
  session: '',
  visitor: '-visitor',
  notice: '-notice',
  device: '-device',
}

/** Another name where it is not secure, so that such a cookie never counts where it should be. */
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

/** `value` is of letters, figures, `-` and `_`; `ageMs` 0 takes the cookie away, and none lets it end with the browser. */
export const cookieText = (
  { kind, value, ageMs }: { readonly kind: CookieKind; readonly value: string; readonly ageMs?: number },
  trust: Trust,
): string => {
  const age = ageMs === undefined ? '' : `; Max-Age=${Math.floor(ageMs / 1_000)}`
  const secure = trust === 'secure' ? '; Secure' : ''
  return `${nameOf(kind, trust)}=${value}; Path=/; HttpOnly; SameSite=Lax${age}${secure}`
}

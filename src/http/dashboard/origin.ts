import { isIP } from 'node:net'
import { cameFrom } from '../client-address.ts'

/** How browsers reach the dashboard, from the environment. */
export type WebConfig = {
  /** An origin, like `https://cellar.example`; `null`: whatever address the service listens on. */
  readonly publicUrl: string | null
  /** IP addresses whose forwarded headers are believed. */
  readonly trustedProxies: readonly string[]
  readonly allowInsecureHttp: boolean
}

/**
 * `secure`: https, or http on this machine alone, where no network can listen. `insecure_allowed`: plain http from
 * elsewhere, and the setting allows it. `insecure`: the same without the setting. `unknown_host`: the `Host` header names
 * nothing of ours, as when a hostile page has its own name resolve to this machine (DNS rebinding).
 */
export type Trust = 'secure' | 'insecure_allowed' | 'insecure' | 'unknown_host'

export type Origin = {
  /** Scheme, host and port as the browser's address bar has them; the contract's `{base_url}`. */
  readonly baseUrl: string
  /** Every value that the `Origin` header of our own pages can have. */
  readonly own: readonly string[]
  readonly clientAddress: string
  readonly trust: Trust
}

/** Where a request came from. `peerAddress` is who holds the other end of its connection; `null` if that is not known. */
export const originOf = (request: Request, peerAddress: string | null, config: WebConfig): Origin => {
  const from = cameFrom(request.headers, peerAddress, config.trustedProxies)
  const host = request.headers.get('host') ?? ''
  const direct = request.url.startsWith('https:') ? 'https' : 'http'
  const scheme = from.scheme ?? direct
  const asked = `${scheme}://${host}`
  return {
    baseUrl: config.publicUrl ?? asked,
    own: config.publicUrl === null ? [asked] : [asked, config.publicUrl],
    clientAddress: from.address,
    trust: trustOf({ host, scheme, isTls: direct === 'https', isForwarded: from.isForwarded }, config),
  }
}

type Way = { readonly host: string; readonly scheme: string; readonly isTls: boolean; readonly isForwarded: boolean }

const trustOf = ({ host, scheme, isTls, isForwarded }: Way, config: WebConfig): Trust => {
  const name = hostName(host)
  // A certificate proves the name, and no page can pretend to an address in figures.
  const isOurs = isTls || isLoopback(name) || isIP(name) !== 0 || host === hostOf(config.publicUrl)
  if (!isOurs) return 'unknown_host'
  if (scheme === 'https') return 'secure'
  // A proxy often calls us by a loopback name, whoever stands before it.
  if (isLoopback(name) && !isForwarded) return 'secure'
  return config.allowInsecureHttp ? 'insecure_allowed' : 'insecure'
}

/** Without port, and without the brackets of IPv6. */
const hostName = (host: string): string => {
  const bracketed = /^\[([0-9A-Fa-f:.]+)\](:\d+)?$/.exec(host)
  if (bracketed !== null) return bracketed[1] ?? ''
  return host.replace(/:\d+$/, '').toLowerCase()
}

const isLoopback = (name: string): boolean =>
  name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'))

const hostOf = (publicUrl: string | null): string | null => (publicUrl === null ? null : new URL(publicUrl).host)

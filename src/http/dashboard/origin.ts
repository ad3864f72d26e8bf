import { isIP } from 'node:net'

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
  const peer = plainAddress(peerAddress ?? '')
  const forwarded = forwardedBy(request.headers, peer, config.trustedProxies)
  const host = request.headers.get('host') ?? ''
  const direct = request.url.startsWith('https:') ? 'https' : 'http'
  const scheme = forwarded.kind === 'believed' ? (forwarded.scheme ?? direct) : direct
  const asked = `${scheme}://${host}`
  return {
    baseUrl: config.publicUrl ?? asked,
    own: config.publicUrl === null ? [asked] : [asked, config.publicUrl],
    clientAddress: forwarded.kind === 'believed' ? (forwarded.clientAddress ?? peer) : peer,
    trust: trustOf({ host, scheme, isTls: direct === 'https', isForwarded: forwarded.kind !== 'none' }, config),
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

type Forwarded =
  | { readonly kind: 'none' }
  /** From a proxy that the setting does not name: believed in nothing but that it is there. */
  | { readonly kind: 'not_believed' }
  | { readonly kind: 'believed'; readonly scheme: 'http' | 'https' | null; readonly clientAddress: string | null }

/** Each proxy adds at the end, so only the last values are the trusted one's own; what stands before anyone can send. */
const forwardedBy = (headers: Headers, peer: string, trustedProxies: readonly string[]): Forwarded => {
  const addresses = headers.get('x-forwarded-for')
  const scheme = lastOf(headers.get('x-forwarded-proto'))
  if (addresses === null && scheme === null) return { kind: 'none' }
  if (!trustedProxies.includes(peer)) return { kind: 'not_believed' }
  const hops = (addresses ?? '').split(',').map((hop) => plainAddress(hop.trim()))
  const clientAddress = hops.findLast((hop) => !trustedProxies.includes(hop)) ?? null
  return {
    kind: 'believed',
    scheme: scheme === 'https' || scheme === 'http' ? scheme : null,
    clientAddress: clientAddress !== null && isIP(clientAddress) !== 0 ? clientAddress : null,
  }
}

const lastOf = (values: string | null): string | null => values?.split(',').at(-1)?.trim().toLowerCase() ?? null

/** An IPv4 address that came over an IPv6 socket is the same client. */
const plainAddress = (address: string): string => (address.startsWith('::ffff:') ? address.slice(7) : address)

/** Without port, and without the brackets of IPv6. */
const hostName = (host: string): string => {
  const bracketed = /^\[([0-9A-Fa-f:.]+)\](:\d+)?$/.exec(host)
  if (bracketed !== null) return bracketed[1] ?? ''
  return host.replace(/:\d+$/, '').toLowerCase()
}

const isLoopback = (name: string): boolean =>
  name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'))

const hostOf = (publicUrl: string | null): string | null => (publicUrl === null ? null : new URL(publicUrl).host)

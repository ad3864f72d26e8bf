import { isIP } from 'node:net'
import { cameFrom, plainAddress } from '../../client-address.ts'

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
  /**
   * True if browsers may be told to use https alone for this name (HSTS). False for a loopback name: other programs on the
   * machine may speak plain http there. False for an IP address: browsers ignore HSTS for it.
   */
  readonly isStrict: boolean
}

/** Where a request came from. `peerAddress` is who holds the other end of its connection; `null` if that is not known. */
export const originOf = (request: Request, peerAddress: string | null, config: WebConfig): Origin => {
  const from = cameFrom(request.headers, peerAddress, config.trustedProxies)
  const host = request.headers.get('host') ?? ''
  const direct = request.url.startsWith('https:') ? 'https' : 'http'
  const scheme = from.scheme ?? direct
  const asked = `${scheme}://${host}`
  const name = hostName(host)
  const way = {
    host,
    name,
    scheme,
    isTls: direct === 'https',
    isLocal: isLoopbackPeer(peerAddress) && !from.isForwarded,
  }
  return {
    baseUrl: config.publicUrl ?? asked,
    own: config.publicUrl === null ? [asked] : [asked, config.publicUrl],
    clientAddress: from.address,
    trust: trustOf(way, config),
    isStrict: scheme === 'https' && isIP(name) === 0 && !isLocalName(name),
  }
}

type Way = {
  readonly host: string
  readonly name: string
  readonly scheme: string
  readonly isTls: boolean
  /** The client itself is on this machine. A proxy here may use a loopback name for clients from elsewhere. */
  readonly isLocal: boolean
}

const trustOf = ({ host, name, scheme, isTls, isLocal }: Way, config: WebConfig): Trust => {
  // A certificate proves the name, and no page can pretend to an address in figures.
  const isOurs = isTls || isLoopback(name) || isIP(name) !== 0 || host === hostOf(config.publicUrl)
  if (!isOurs) return 'unknown_host'
  if (scheme === 'https') return 'secure'
  if (isLoopback(name) && isLocal) return 'secure'
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

/** Any client can send `Host: localhost`. The address of its connection tells whether it is on this machine. */
const isLoopbackPeer = (address: string | null): boolean => address !== null && isLoopback(plainAddress(address))

/** `localhost` and the names below it, which browsers resolve to this machine. */
const isLocalName = (name: string): boolean => /(^|\.)localhost\.?$/.test(name)

const hostOf = (publicUrl: string | null): string | null => (publicUrl === null ? null : new URL(publicUrl).host)

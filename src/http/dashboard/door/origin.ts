import { isIP } from 'node:net'
import { cameFrom, plainAddress } from '../../client-address.ts'

export type WebConfig = {
  /** Like `https://cellar.example`. If it is `null`, the address in the request is used. */
  readonly publicUrl: string | null
  readonly trustedProxies: readonly string[]
  readonly allowInsecureHttp: boolean
}

/**
 * - `secure`: https, or plain http from this machine.
 * - `insecure_allowed`: other plain http, with `ALLOW_INSECURE_HTTP=1`.
 * - `insecure`: the same without the setting.
 * - `unknown_host`: the name in `Host` is not one of this service. It may be the name of a hostile page (DNS rebinding).
 */
export type Trust = 'secure' | 'insecure_allowed' | 'insecure' | 'unknown_host'

export type Origin = {
  /** The address that the browser shows; `{base_url}` in docs/contract.md. */
  readonly baseUrl: string
  /** The values of the `Origin` header that forms of this dashboard may have. */
  readonly own: readonly string[]
  readonly clientAddress: string
  readonly trust: Trust
  /** True if the answer may force https (HSTS). False for a name like `localhost`, where other programs may use plain http. */
  readonly isStrict: boolean
}

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
  /** True if the client itself is on this machine, and not only a proxy. */
  readonly isLocal: boolean
}

const trustOf = ({ host, name, scheme, isTls, isLocal }: Way, config: WebConfig): Trust => {
  // DNS rebinding fails with TLS, whose certificate proves the name, and with an IP address, which needs no DNS.
  const isOurs = isTls || isLoopback(name) || isIP(name) !== 0 || host === hostOf(config.publicUrl)
  if (!isOurs) return 'unknown_host'
  if (scheme === 'https') return 'secure'
  if (isLoopback(name) && isLocal) return 'secure'
  return config.allowInsecureHttp ? 'insecure_allowed' : 'insecure'
}

/** Returns the host without its port, and an IPv6 address without its brackets. */
const hostName = (host: string): string => {
  const bracketed = /^\[([0-9A-Fa-f:.]+)\](:\d+)?$/.exec(host)
  if (bracketed !== null) return bracketed[1] ?? ''
  return host.replace(/:\d+$/, '').toLowerCase()
}

const isLoopback = (name: string): boolean =>
  name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'))

/** The peer's address must be local, too, because any client can send `Host: localhost`. */
const isLoopbackPeer = (address: string | null): boolean => address !== null && isLoopback(plainAddress(address))

const isLocalName = (name: string): boolean => /(^|\.)localhost\.?$/.test(name)

const hostOf = (publicUrl: string | null): string | null => (publicUrl === null ? null : new URL(publicUrl).host)

import { isIP } from 'node:net'
import { cameFrom, plainAddress } from '../../client-address.ts'

export type WebConfig = {
  /** `PUBLIC_URL`. If `null`, links use the host name of the request. */
  readonly publicUrl: string | null
  readonly trustedProxies: readonly string[]
  readonly allowInsecureHttp: boolean
  readonly program: string
}

/**
 * - `secure`: https, or plain http from this machine.
 * - `insecure_allowed`: other plain http, if `ALLOW_INSECURE_HTTP=1` is set.
 * - `insecure`: other plain http, if that setting is missing. Nobody can sign in.
 * - `unknown_host`: a `Host` that this service does not have. With it, a hostile page can reach the service through a
 *   visitor's browser (DNS rebinding).
 */
export type Trust = 'secure' | 'insecure_allowed' | 'insecure' | 'unknown_host'

export type Origin = {
  readonly baseUrl: string
  /** A form with another `Origin` comes from another site. */
  readonly own: readonly string[]
  readonly clientAddress: string
  readonly trust: Trust
  /** The answer has HSTS. Not for a name like `localhost`, where other programs can need plain http. */
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
  /** The client is on this machine. A proxy here is not enough, because its clients can be anywhere. */
  readonly isLocal: boolean
}

const trustOf = ({ host, name, scheme, isTls, isLocal }: Way, config: WebConfig): Trust => {
  // In DNS rebinding, a hostile site lets its own host name point to this service. Over TLS the certificate proves the
  // name. An IP address as host needs no DNS.
  const isOurs = isTls || isLoopback(name) || isIP(name) !== 0 || host === hostOf(config.publicUrl)
  if (!isOurs) return 'unknown_host'
  if (scheme === 'https') return 'secure'
  if (isLoopback(name) && isLocal) return 'secure'
  return config.allowInsecureHttp ? 'insecure_allowed' : 'insecure'
}

const hostName = (host: string): string => {
  const bracketed = /^\[([0-9A-Fa-f:.]+)\](:\d+)?$/.exec(host)
  if (bracketed !== null) return bracketed[1] ?? ''
  return host.replace(/:\d+$/, '').toLowerCase()
}

const isLoopback = (name: string): boolean =>
  name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'))

/** The address of the connection, because any client can send `Host: localhost`. */
const isLoopbackPeer = (address: string | null): boolean => address !== null && isLoopback(plainAddress(address))

const isLocalName = (name: string): boolean => /(^|\.)localhost\.?$/.test(name)

const hostOf = (publicUrl: string | null): string | null => (publicUrl === null ? null : new URL(publicUrl).host)

import { isIP, isIPv6 } from 'node:net'
import { headerPartsMax } from './http-bounds.ts'

export type CameFrom = {
  /** An IP address, or an empty text if the address is not known. */
  readonly address: string
  /**
   * The scheme by which the client reached a trusted proxy. `null`: no trusted proxy has told it, so the scheme of the
   * connection itself counts.
   */
  readonly scheme: 'http' | 'https' | null
  /**
   * True if the request has `X-Forwarded-For` or `X-Forwarded-Proto`, even from a peer that is not trusted. Then the client
   * can be on another machine than the peer, so the request does not count as local.
   */
  readonly isForwarded: boolean
}

/**
 * Finds the client of a request. The peer is the machine that opened the connection. The `X-Forwarded-…` headers count only if
 * the peer is one of `trustedProxies` (IP addresses), because any other peer can invent them. Each proxy adds its value at the
 * end, so the headers are read from the end. Values that a client invented stand before those of the proxies, and are not read:
 * a thousand of them would take 5 ms.
 */
export const cameFrom = (headers: Headers, peerAddress: string | null, trustedProxies: readonly string[]): CameFrom => {
  const peer = plainAddress(peerAddress ?? '')
  const addresses = headers.get('x-forwarded-for')
  const scheme = lastOf(headers.get('x-forwarded-proto'))
  const isForwarded = addresses !== null || scheme !== null
  if (!isForwarded || !trustedProxies.includes(peer)) return { address: peer, scheme: null, isForwarded }
  const client = clientOf(addresses ?? '', trustedProxies)
  return {
    address: isIP(client) === 0 ? peer : withoutZone(client),
    scheme: scheme === 'https' || scheme === 'http' ? scheme : null,
    isForwarded,
  }
}

/** Returns the last address that is not a trusted proxy, or `''` if there is none. */
const clientOf = (addresses: string, trustedProxies: readonly string[]): string => {
  let end = addresses.length
  for (let hops = 0; hops < headerPartsMax && end >= 0; hops += 1) {
    const comma = addresses.lastIndexOf(',', end - 1)
    const hop = plainAddress(withoutPort(addresses.slice(comma + 1, end).trim()))
    if (!trustedProxies.includes(hop)) return hop
    end = comma
  }
  return ''
}

const lastOf = (values: string | null): string | null =>
  values
    ?.slice(values.lastIndexOf(',') + 1)
    .trim()
    .toLowerCase() ?? null

/** Does not change an IPv6 address without brackets, because the last group of `fe80::1` is not a port. */
const withoutPort = (hop: string): string =>
  /^\[([^\]]*)\](:\d{1,5})?$/.exec(hop)?.[1] ?? /^([\d.]+):\d{1,5}$/.exec(hop)?.[1] ?? hop

/**
 * An IPv6 address that begins with one of these texts ends with an IPv4 address. `mapped`: an IPv4 client of an IPv6 socket.
 * `nat64`: an address from a gateway between IPv6 and IPv4 (NAT64).
 */
const mapped = '0:0:0:0:0:ffff'
const nat64 = '64:ff9b:0:0:0:0'

export const plainAddress = (address: string): string => ipv4In(address, mapped) ?? address

const ipv4In = (address: string, firstGroups: string): string | null => {
  if (!isIPv6(address)) return null
  const groups = groupsOf(address)
  if (hexOf(groups.slice(0, 6)) !== firstGroups) return null
  return groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 255])
    .join('.')
}

/**
 * Removes the zone, such as `%eth0` from `fe80::1%eth0`. A client can send any text after the `%`, and pages and log lines
 * would show this text.
 */
const withoutZone = (address: string): string => address.split('%', 1)[0] ?? ''

/**
 * Returns the network that counts as one client: an IPv4 address, or an IPv6 /64, because one device can have a whole /64. All
 * spellings of an IPv6 address give the same text.
 */
export const networkOf = (address: string): string => prefixOf(address, 4)

/** Like `networkOf`, but with an IPv6 /48, because a provider can give a whole /48 to one customer. */
export const siteOf = (address: string): string => prefixOf(address, 3)

/**
 * For an address from a NAT64 gateway, returns the IPv4 address in the last 32 bits. All clients of the gateway have the same
 * first 96 bits, and would otherwise count as one client.
 */
const prefixOf = (address: string, groupCount: number): string => {
  if (!isIPv6(address)) return address
  const network = hexOf(groupsOf(address).slice(0, groupCount))
  return ipv4In(address, nat64) ?? `${network.replace(/(:0)+$/, '')}::/${groupCount * 16}`
}

const hexOf = (groups: readonly number[]): string => groups.map((group) => group.toString(16)).join(':')

const groupsOf = (address: string): readonly number[] => {
  const [left = [], right = []] = withoutZone(address).split('::').map(numbersOf)
  return [...left, ...Array<number>(Math.max(0, 8 - left.length - right.length)).fill(0), ...right]
}

const numbersOf = (text: string): readonly number[] =>
  text === ''
    ? []
    : text.split(':').flatMap((part) => (part.includes('.') ? pairOf(part) : [Number.parseInt(part, 16)]))

const pairOf = (ipv4: string): readonly number[] => {
  const [a = 0, b = 0, c = 0, d = 0] = ipv4.split('.').map(Number)
  return [a * 256 + b, c * 256 + d]
}

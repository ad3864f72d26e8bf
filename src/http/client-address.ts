import { isIP, isIPv6 } from 'node:net'
import { headerPartsMax } from './http-bounds.ts'

type CameFrom = {
  /** Empty if not known. */
  readonly address: string
  /** The scheme that a trusted proxy named. `null`: the scheme of the connection itself counts. */
  readonly scheme: 'http' | 'https' | null
  /** Even by a peer that is not trusted. The client can then be on another machine, so it does not count as local. */
  readonly isForwarded: boolean
}

/**
 * The `X-Forwarded-…` headers count only if the peer is one of `trustedProxies` (IP addresses): any other peer can invent
 * them. Each proxy adds its value at the end, so they are read from the end. Values that a client invented stand at the
 * beginning, and are not read: a thousand of them would take 5 ms.
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

/** The last group of an IPv6 address like `fe80::1` is not a port. */
const withoutPort = (hop: string): string =>
  /^\[([^\]]*)\](:\d{1,5})?$/.exec(hop)?.[1] ?? /^([\d.]+):\d{1,5}$/.exec(hop)?.[1] ?? hop

/**
 * First groups of an IPv6 address that ends with an IPv4 address: of an IPv4 client of an IPv6 socket, or of a NAT64
 * gateway.
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

/** A client can send any text after the `%` of `fe80::1%eth0`, and pages and log lines would show it. */
const withoutZone = (address: string): string => address.split('%', 1)[0] ?? ''

/** The network of a client: one device can have a whole IPv6 /64. All spellings of an address give the same text. */
export const networkOf = (address: string): string => prefixOf(address, 4)

/** The network of a customer: a provider can give a whole IPv6 /48 to one. */
export const siteOf = (address: string): string => prefixOf(address, 3)

/** All clients of a NAT64 gateway have the same first 96 bits, so the IPv4 address in the last 32 counts. */
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

import { isIP, isIPv6 } from 'node:net'

export type CameFrom = {
  /** An IP address, or empty if not known. */
  readonly address: string
  /** How the client reached a trusted proxy; `null` if no such proxy says so. */
  readonly scheme: 'http' | 'https' | null
  /** True if the request has forwarded headers, even if they are not trusted. */
  readonly isForwarded: boolean
}

/**
 * Finds the client of a request. Forwarded headers count only if the peer is one of `trustedProxies` (IP addresses). They are read
 * from the end, where each proxy adds its value: any client can send the values before it.
 */
export const cameFrom = (headers: Headers, peerAddress: string | null, trustedProxies: readonly string[]): CameFrom => {
  const peer = plainAddress(peerAddress ?? '')
  const addresses = headers.get('x-forwarded-for')
  const scheme = lastOf(headers.get('x-forwarded-proto'))
  const isForwarded = addresses !== null || scheme !== null
  if (!isForwarded || !trustedProxies.includes(peer)) return { address: peer, scheme: null, isForwarded }
  const hops = (addresses ?? '').split(',').map((hop) => plainAddress(withoutPort(hop.trim())))
  const client = hops.findLast((hop) => !trustedProxies.includes(hop)) ?? ''
  return {
    address: isIP(client) === 0 ? peer : withoutZone(client),
    scheme: scheme === 'https' || scheme === 'http' ? scheme : null,
    isForwarded,
  }
}

const lastOf = (values: string | null): string | null => values?.split(',').at(-1)?.trim().toLowerCase() ?? null

/** Keeps an IPv6 address without brackets as it is: its last group is not a port. */
const withoutPort = (hop: string): string =>
  /^\[([^\]]*)\](:\d{1,5})?$/.exec(hop)?.[1] ?? /^([\d.]+):\d{1,5}$/.exec(hop)?.[1] ?? hop

/** An IPv6 address with one of these prefixes contains an IPv4 address: on an IPv6 socket, or behind a NAT64 gateway. */
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

/** Removes a zone like `%eth0` from `fe80::1%eth0`, because a client may send any text there. */
const withoutZone = (address: string): string => address.split('%', 1)[0] ?? ''

/** The network that counts as one client: an IPv4 address or an IPv6 /64. An IPv6 text is rebuilt from its numbers. */
export const networkOf = (address: string): string => prefixOf(address, 4)

/** Like `networkOf` with an IPv6 /48, because a provider may give a whole /48 to one customer. */
export const siteOf = (address: string): string => prefixOf(address, 3)

/** All clients behind a NAT64 gateway share their first 96 bits, so only the IPv4 address in the rest counts. */
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

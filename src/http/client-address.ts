import { isIP, isIPv6 } from 'node:net'

export type CameFrom = {
  /** An IP address; empty if it is not known. */
  readonly address: string
  /** By which the browser or device reached the proxy, if a trusted proxy says so. */
  readonly scheme: 'http' | 'https' | null
  /** Whether there are forwarded headers, believed or not. */
  readonly isForwarded: boolean
}

/**
 * Who sent a request. `peerAddress` is the other end of the connection; `null` if it is not known. Forwarded headers are
 * believed only from `trustedProxies` (IP addresses). Each proxy adds its value at the end, so only the last values come from
 * the trusted proxy. Any client can send the values before them.
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

/** Some proxies add the client's port: `192.0.2.1:5678`, `[2001:db8::1]:5678`. Without brackets, IPv6 has no port. */
const withoutPort = (hop: string): string =>
  /^\[([^\]]*)\](:\d{1,5})?$/.exec(hop)?.[1] ?? /^([\d.]+):\d{1,5}$/.exec(hop)?.[1] ?? hop

/** IPv6 addresses whose last 32 bits are an IPv4 address: of an IPv4 client on an IPv6 socket, and of one behind a NAT64. */
const mapped = '0:0:0:0:0:ffff'
const nat64 = '64:ff9b:0:0:0:0'

/** An IPv4 address that came over an IPv6 socket is the same client. */
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

/** In `fe80::1%eth0` the zone `eth0` is an interface of the sender, and may be any text. */
const withoutZone = (address: string): string => address.split('%', 1)[0] ?? ''

/**
 * One client: an IPv4 address, or the /64 network of an IPv6 address, since its owner has all of its 2^64 addresses. The text
 * is made anew from the numbers, so it is short and holds nothing else that was sent.
 */
export const networkOf = (address: string): string => prefixOf(address, 4)

/** An IPv4 address, or the /48 network of an IPv6 address. One customer may have all 65,536 networks of a /48. */
export const siteOf = (address: string): string => prefixOf(address, 3)

/** Every IPv4 client of a NAT64 has the same first 96 bits, so these do not tell them apart. */
const prefixOf = (address: string, groupCount: number): string => {
  if (!isIPv6(address)) return address
  const network = hexOf(groupsOf(address).slice(0, groupCount))
  return ipv4In(address, nat64) ?? `${network.replace(/(:0)+$/, '')}::/${groupCount * 16}`
}

const hexOf = (groups: readonly number[]): string => groups.map((group) => group.toString(16)).join(':')

/** The eight numbers of an IPv6 address. */
const groupsOf = (address: string): readonly number[] => {
  const [left = [], right = []] = withoutZone(address).split('::').map(numbersOf)
  return [...left, ...Array<number>(Math.max(0, 8 - left.length - right.length)).fill(0), ...right]
}

const numbersOf = (text: string): readonly number[] =>
  text === ''
    ? []
    : text.split(':').flatMap((part) => (part.includes('.') ? pairOf(part) : [Number.parseInt(part, 16)]))

/** An IPv4 address at the end takes the place of two numbers. */
const pairOf = (ipv4: string): readonly number[] => {
  const [a = 0, b = 0, c = 0, d = 0] = ipv4.split('.').map(Number)
  return [a * 256 + b, c * 256 + d]
}

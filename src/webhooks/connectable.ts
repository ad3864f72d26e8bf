/**
 * Whoever may set a webhook must not reach machines that only this service can reach, for example the metadata of a cloud.
 * So an address is refused unless it is known as public.
 */
import ipaddr from 'ipaddr.js'

export type PrivateAddresses = 'refuse' | 'allow'

/** Never part of it: link-local addresses, because clouds serve the credentials of a machine there. */
const privateRanges: readonly string[] = ['private', 'carrierGradeNat', 'uniqueLocal', 'loopback']

/** Where clouds serve them elsewhere: Alibaba, Azure, Amazon and Google. */
const metadataNetworks = ['100.100.100.200/32', '168.63.129.16/32', 'fd00:ec2::/32', 'fd20:ce::/32'].map((network) =>
  ipaddr.parseCIDR(network),
)

/** The address in its usual form, or `null` if the service may not connect to it. */
export const connectable = (text: string, privateAddresses: PrivateAddresses): string | null => {
  if (text.includes('%') || !ipaddr.isValid(text)) return null
  const address = ipaddr.process(text)
  const range = rangeOf(address)
  if (range === 'unicast') return address.toString()
  return privateAddresses === 'allow' && privateRanges.includes(range) ? address.toString() : null
}

const rangeOf = (address: ipaddr.IPv4 | ipaddr.IPv6): string => {
  if (ipaddr.subnetMatch(address, { metadata: metadataNetworks }, '') === 'metadata') return 'reserved'
  if (address instanceof ipaddr.IPv4) return address.range()
  // On a network with only IPv6, a resolver gives every name of IPv4 such an address.
  if (address.match(nat64, 96)) return rangeOf(new ipaddr.IPv4(address.toByteArray().slice(12)))
  const range = address.range()
  // The library calls all unassigned addresses unicast, too.
  return range === 'unicast' && !address.match(assigned, 3) ? 'reserved' : range
}

const nat64 = ipaddr.IPv6.parse('64:ff9b::')
const assigned = ipaddr.IPv6.parse('2000::')

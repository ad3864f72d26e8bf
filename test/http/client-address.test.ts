import { describe, expect, test } from 'bun:test'
import { cameFrom, networkOf, siteOf } from '../../src/http/client-address.ts'
import { headerPartsMax } from '../../src/http/http-bounds.ts'

const from = (peer: string | null, headers: Readonly<Record<string, string>>, trusted: readonly string[] = []) =>
  cameFrom(new Headers(headers), peer, trusted)

/** Each row has an address as a proxy writes it, and the client address that the service reads from it. */
const spellings = [
  ['198.51.100.1', '198.51.100.1'],
  ['198.51.100.1:5678', '198.51.100.1'],
  ['198.51.100.1:0', '198.51.100.1'],
  ['198.51.100.1:65535', '198.51.100.1'],
  ['2001:db8::1', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['[2001:db8::1]:5678', '2001:db8::1'],
  ['[::1]:80', '::1'],
  ['2001:db8::1:5678', '2001:db8::1:5678'],
  ['::ffff:198.51.100.1', '198.51.100.1'],
  ['[::ffff:198.51.100.1]:5678', '198.51.100.1'],
  ['::FFFF:198.51.100.1', '198.51.100.1'],
  ['::ffff:c633:6401', '198.51.100.1'],
  ['[::FFFF:C633:6401]:5678', '198.51.100.1'],
  ['0:0:0:0:0:ffff:198.51.100.1', '198.51.100.1'],
  ['0000:0000:0000:0000:0000:ffff:c633:6401', '198.51.100.1'],
  ['::ffff:198.51.100.1%eth0', '198.51.100.1'],
  ['::fffe:c633:6401', '::fffe:c633:6401'],
  ['1::ffff:c633:6401', '1::ffff:c633:6401'],
  ['64:ff9b::c633:6401', '64:ff9b::c633:6401'],
  ['[fe80::1%eth0]:5678', 'fe80::1'],
] as const

const notAddresses = [
  '198.51.100.1:',
  '198.51.100.1:x',
  '198.51.100.1:123456',
  '198.51.100.1:80:80',
  '198.51.100.1 :80',
  ':80',
  '[]',
  '[]:80',
  '[2001:db8::1',
  '2001:db8::1]:80',
  '[2001:db8::1]80',
  '[2001:db8::1]:',
  '[[2001:db8::1]]:80',
  '[evil]:80',
  'evil:80',
  '999.1.1.1:80',
  '1.2.3:80',
  '::ffff:evil',
  '::ffff:198.51.100.256',
]

describe('cameFrom()', () => {
  test('takes the peer without forwarded headers, or with untrusted ones', () => {
    expect(from('::ffff:192.0.2.1', {})).toEqual({ address: '192.0.2.1', scheme: null, isForwarded: false })
    expect(from('192.0.2.1', { 'X-Forwarded-For': '198.51.100.1' }, ['192.0.2.2']).address).toBe('192.0.2.1')
    expect(from(null, {}).address).toBe('')
  })

  test('believes a trusted proxy about the last address that is not a trusted proxy', () => {
    const forwarded = { 'X-Forwarded-For': '203.0.113.9, 198.51.100.1, 192.0.2.2', 'X-Forwarded-Proto': 'https' }
    expect(from('192.0.2.1', forwarded, ['192.0.2.1', '192.0.2.2'])).toEqual({
      address: '198.51.100.1',
      scheme: 'https',
      isForwarded: true,
    })
  })

  test('takes the peer when a trusted proxy forwards no valid address', () => {
    for (const text of ['', 'evil', '"x"', 'unknown', ...notAddresses]) {
      expect(from('192.0.2.1', { 'X-Forwarded-For': text }, ['192.0.2.1']).address).toBe('192.0.2.1')
    }
  })

  const proxy = '192.0.2.1'
  test.each(spellings)('reads %s as %s at any place before trusted proxies', (text, address) => {
    for (const trustedHop of [null, '192.0.2.2', '192.0.2.2:443', '[2001:db8::ffff]', '[2001:db8::ffff]:443']) {
      for (const forged of ['', '6.6.6.6, ', 'evil:1, ', `${text}, `]) {
        const hops = `${forged}${text}${trustedHop === null ? '' : `,${trustedHop}`}`
        const given = from(proxy, { 'X-Forwarded-For': hops }, [proxy, '192.0.2.2', '2001:db8::ffff'])
        expect([hops, given.address]).toEqual([hops, address])
      }
    }
  })

  test('does not trust a proxy because of its port', () => {
    expect(from('192.0.2.9', { 'X-Forwarded-For': `198.51.100.1, ${proxy}:80` }, [proxy]).address).toBe('192.0.2.9')
  })

  test('reads no address before the last one that is not a trusted proxy', () => {
    const compared: string[] = []
    const includes = (hop: string): boolean => {
      compared.push(hop)
      return hop === proxy
    }
    const forwarded = { 'X-Forwarded-For': `${'6.6.6.6, '.repeat(1_000)}198.51.100.1, ${proxy}` }
    expect(from(proxy, forwarded, Object.assign([proxy], { includes })).address).toBe('198.51.100.1')
    expect(compared).toEqual([proxy, proxy, '198.51.100.1'])
  })

  test('reads at most 200 addresses', () => {
    const behind = (proxies: number) => ({ 'X-Forwarded-For': `198.51.100.1${`,${proxy}`.repeat(proxies)}` })
    expect(from(proxy, behind(headerPartsMax - 1), [proxy]).address).toBe('198.51.100.1')
    expect(from(proxy, behind(headerPartsMax), [proxy]).address).toBe(proxy)
  })

  test('removes the zone of a forwarded IPv6 address', () => {
    const forwarded = { 'X-Forwarded-For': 'fe80::1%any-text' }
    expect(from('192.0.2.1', forwarded, ['192.0.2.1']).address).toBe('fe80::1')
  })
})

describe('networkOf()', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:0001:0::6', '2001:db8:1::/64'],
    ['2001:db8::', '2001:db8::/64'],
    ['::1', '0::/64'],
    ['64:ff9b::192.0.2.1', '192.0.2.1'],
    ['64:FF9B::c000:201', '192.0.2.1'],
    ['64:ff9b:1::192.0.2.1', '64:ff9b:1::/64'],
    ['64:ff9b::1:192.0.2.1', '64:ff9b::/64'],
    ['1:2:3:4:5:6:192.0.2.1', '1:2:3:4::/64'],
    [`fe80::1%${'x'.repeat(1_000)}`, 'fe80::/64'],
  ])('takes %s for one client with %s', (address, network) => expect(networkOf(address)).toBe(network))
})

describe('siteOf()', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
    ['2001:DB8:0001:ffff::6', '2001:db8:1::/48'],
    ['2001:db8::', '2001:db8::/48'],
    ['::1', '0::/48'],
    ['64:ff9b::192.0.2.1', '192.0.2.1'],
    ['1:2:3:4:5:6:192.0.2.1', '1:2:3::/48'],
    [`fe80::1%${'x'.repeat(1_000)}`, 'fe80::/48'],
    ['', ''],
  ])('takes %s for one customer with %s', (address, site) => expect(siteOf(address)).toBe(site))
})

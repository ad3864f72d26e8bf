import { describe, expect, test } from 'bun:test'
import { cameFrom, networkOf } from '../../src/http/client-address.ts'

const from = (peer: string | null, headers: Readonly<Record<string, string>>, trusted: readonly string[] = []) =>
  cameFrom(new Headers(headers), peer, trusted)

describe('cameFrom()', () => {
  test('takes the peer when nothing is forwarded, or its forwarded headers are not trusted', () => {
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

  test('takes the peer when a trusted proxy forwards something that is no address', () => {
    for (const text of ['', 'evil', '"x"', '198.51.100.1:80', 'unknown']) {
      expect(from('192.0.2.1', { 'X-Forwarded-For': text }, ['192.0.2.1']).address).toBe('192.0.2.1')
    }
  })

  test('leaves out the zone of a forwarded IPv6 address, which may be any text', () => {
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
    ['64:ff9b::192.0.2.1', '64:ff9b::/64'],
    ['1:2:3:4:5:6:192.0.2.1', '1:2:3:4::/64'],
    [`fe80::1%${'x'.repeat(1_000)}`, 'fe80::/64'],
  ])('takes %s for one client with %s', (address, network) => expect(networkOf(address)).toBe(network))
})

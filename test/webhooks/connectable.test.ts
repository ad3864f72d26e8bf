import { describe, expect, test } from 'bun:test'
import { connectable } from '../../src/webhooks/connectable.ts'

describe('connectable()', () => {
  test.each([
    ['93.184.216.34', '93.184.216.34'],
    ['2606:2800:220:1:0248::1', '2606:2800:220:1:248::1'],
    ['::ffff:93.184.216.34', '93.184.216.34'],
    ['64:ff9b::5db8:d822', '64:ff9b::5db8:d822'],
  ])('lets %s pass, as %s', (text, address) => {
    expect(connectable(text, 'refuse')).toBe(address)
  })

  test.each([
    ['127.0.0.1', '127.0.0.1'],
    ['127.9.9.9', '127.9.9.9'],
    ['10.0.0.1', '10.0.0.1'],
    ['172.16.0.1', '172.16.0.1'],
    ['172.31.255.255', '172.31.255.255'],
    ['192.168.1.1', '192.168.1.1'],
    ['100.64.0.1', '100.64.0.1'],
    ['::1', '::1'],
    ['fd00::1', 'fd00::1'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['64:ff9b::a00:1', '64:ff9b::a00:1'],
  ])('lets private %s pass only where it is allowed', (text, address) => {
    expect(connectable(text, 'refuse')).toBeNull()
    expect(connectable(text, 'allow')).toBe(address)
  })

  test.each([
    '0.0.0.0',
    '0.1.2.3',
    '169.254.169.254',
    '192.0.0.192',
    '100.100.100.200',
    '168.63.129.16',
    'fd00:ec2::254',
    'fd20:ce::254',
    '64:ff9b::6464:64c8',
    '192.0.2.1',
    '198.18.0.1',
    '203.0.113.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    'fe80::1',
    'fe80::1%eth0',
    '2606:2800::1%eth0',
    'fec0::1',
    'ff02::1',
    '::7f00:1',
    '::ffff:169.254.169.254',
    '::ffff:0:a00:1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::a00:1',
    '2001::1',
    '2001:db8::1',
    '2002:a00:1::1',
    '3fff::1',
    '4000::1',
    'hooks.example',
    '',
  ])('refuses %s in any case', (text) => {
    expect(connectable(text, 'refuse')).toBeNull()
    expect(connectable(text, 'allow')).toBeNull()
  })
})

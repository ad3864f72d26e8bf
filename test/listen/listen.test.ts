import { describe, expect, test } from 'bun:test'
import { listenFault } from '../../src/listen/listen.ts'

const fault = (host: string, message: string, code = 'no code'): string =>
  listenFault(Object.assign(new Error(message), code === 'no code' ? {} : { code }), host)

describe('listenFault()', () => {
  // Different machines and versions of Bun have reported these errors for a name that does not exist.
  test.each([
    ['EINVAL', 'EINVAL: invalid argument, listen'],
    ['ENOTCONN', 'ENOTCONN: socket is not connected, listen'],
    ['ENOENT', 'ENOENT: no such file or directory, listen'],
    ['EAGAIN', 'EAGAIN: resource temporarily unavailable, listen'],
    ['EMSGSIZE', 'EMSGSIZE: message too long, listen'],
    ['ENOTFOUND', 'getaddrinfo ENOTFOUND nosuch.invalid'],
    ['EAI_AGAIN', 'getaddrinfo EAI_AGAIN nosuch.invalid'],
    ['EADDRNOTAVAIL', 'EADDRNOTAVAIL: address not available, listen'],
    ['no code', 'Failed to listen at nosuch.invalid'],
    ['no code', 'Failed to start server'],
  ])('says for a name, at %s, that it is not a name of this machine', (code, message) => {
    expect(fault('nosuch.invalid', message, code)).toBe('HOST "nosuch.invalid" is not a name of this machine')
  })

  test.each([
    ['192.0.2.1', 'EADDRNOTAVAIL'],
    ['2001:db8::1', 'EADDRNOTAVAIL'],
    ['fe80::1', 'EINVAL'],
    ['::1', 'EAFNOSUPPORT'],
  ])('says of %s, at %s, that it is not an address of this machine', (host, code) => {
    const said = `HOST "${host}" is not an address of this machine`
    expect(fault(host, `${code}: some words, listen`, code)).toBe(said)
    expect(fault(host, `${code}: some words, listen`)).toBe(said)
  })

  test('blames the port, not the host, when the port is in use or forbidden', () => {
    for (const host of ['192.0.2.1', 'cellar.example']) {
      expect(fault(host, 'Failed to start server. Is port 3000 in use?', 'EADDRINUSE')).toStartWith(
        'the port is in use',
      )
      expect(fault(host, 'Failed to start server. Is port 3000 in use?')).toStartWith('the port is in use')
      expect(fault(host, 'permission denied 0.0.0.0:80', 'EACCES')).toStartWith('this user may not use the port')
    }
  })

  test('repeats errors of the process, and unknown errors of an address', () => {
    expect(fault('cellar.example', 'EMFILE: too many open files, listen', 'EMFILE')).toStartWith('EMFILE: too many')
    expect(fault('192.0.2.1', 'EIO: i/o error, listen', 'EIO')).toBe('EIO: i/o error, listen')
  })
})

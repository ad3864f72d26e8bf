import { dlopen, ptr } from 'bun:ffi'
import { describe, expect, test } from 'bun:test'
import { SharedPort } from '../../src/listen/shared-port.ts'

/** RLIMIT_NOFILE of Linux. */
const openFiles = 7
const libraryOf = () =>
  dlopen('libc.so.6', {
    getrlimit: { args: ['i32', 'ptr'], returns: 'i32' },
    setrlimit: { args: ['i32', 'ptr'], returns: 'i32' },
  }).symbols

describe.skipIf(process.platform !== 'linux')('SharedPort', () => {
  test('stops a server that it has opened with the last file descriptor', () => {
    const { getrlimit, setrlimit } = libraryOf()
    const limits = new BigUint64Array(2)
    getrlimit(openFiles, ptr(limits))
    const [softMax = 0n, hardMax = 0n] = limits
    const open = (port: number) => Bun.serve({ hostname: '127.0.0.1', port, fetch: () => new Response('') })
    let port = 0
    const openLast = () => {
      const server = open(0)
      port = server.port ?? 0
      setrlimit(openFiles, ptr(new BigUint64Array([0n, hardMax])))
      return server
    }
    try {
      expect(() => new SharedPort().opened(openLast)).toThrow(/EMFILE/)
    } finally {
      setrlimit(openFiles, ptr(new BigUint64Array([softMax, hardMax])))
    }
    // The port is free again.
    open(port).stop(true)
  })
})

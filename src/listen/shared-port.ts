/**
 * Bun cannot change the certificate of a server (tried with 1.4.5: `reload` ignores `tls`). So a second server takes the port
 * over. When two sockets of Linux share a port, each gets a part of the new connections. Closing one resets those that its
 * queue holds. So a filter first sends all new connections to the second socket (docs/decisions/036-a-renewed-certificate-takes-the-port-over.md).
 */
import { dlopen, ptr } from 'bun:ffi'
import { readdirSync } from 'node:fs'

/** The numbers of Linux on x64 and arm64. */
const socketLevel = 1
const reusePort = 15
const acceptsConnections = 30
const attachReusePortFilter = 51

/** `null`: not on this system, so only a restart can change the certificate. */
const openLibrary = () => {
  try {
    return dlopen('libc.so.6', {
      getsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'ptr'], returns: 'i32' },
      setsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'u32'], returns: 'i32' },
    }).symbols
  } catch {
    return null
  }
}

export type Descriptor = number | null

/** This system never can: trying again has no use. */
export class CannotHandOver extends Error {}

export class SharedPort {
  readonly #library = openLibrary()

  /** `open` opens one listening socket. Returns its descriptor, too, which Bun does not tell. */
  opened<T extends Pick<Bun.Server<unknown>, 'stop'>>(
    open: () => T,
  ): { readonly server: T; readonly descriptor: Descriptor } {
    const before = this.#listening()
    const server = open()
    try {
      return { server, descriptor: this.#listening().find((descriptor) => !before.includes(descriptor)) ?? null }
    } catch (error) {
      // Without free descriptors. Nobody else knows this server, so it would get connections for ever.
      server.stop(true)
      throw error
    }
  }

  /** Lets another socket of this user listen on the port, too. @throws CannotHandOver */
  share(descriptor: Descriptor): void {
    this.#set(descriptor, reusePort, new Int32Array([1]))
  }

  /** The second of the two sockets gets all new connections. @throws CannotHandOver */
  takeOver(descriptor: Descriptor): void {
    // One buffer, so that no part can be collected before the call: the length of the program, its address, and its only
    // instruction. It returns 1, the place of the second socket.
    const filter = new BigUint64Array([1n, 0n, 0x06n | (1n << 32n)])
    filter[1] = BigInt(ptr(filter)) + 16n
    this.#set(descriptor, attachReusePortFilter, filter.subarray(0, 2))
  }

  #set(descriptor: Descriptor, option: number, value: Int32Array | BigUint64Array): void {
    const isSet =
      descriptor !== null &&
      this.#library?.setsockopt(descriptor, socketLevel, option, ptr(value), value.byteLength) === 0
    if (!isSet) throw new CannotHandOver('this system cannot hand the port over. Restart the service')
  }

  #listening(): readonly number[] {
    const library = this.#library
    if (library === null) return []
    const accepts = new Int32Array(1)
    const size = new Int32Array([accepts.byteLength])
    return readdirSync('/proc/self/fd')
      .map(Number)
      .filter(
        (descriptor) =>
          library.getsockopt(descriptor, socketLevel, acceptsConnections, ptr(accepts), ptr(size)) === 0 &&
          accepts[0] === 1,
      )
  }
}

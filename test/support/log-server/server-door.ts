import { connect, createServer, type Server, type Socket } from 'node:net'

/**
 * A TCP proxy in front of the gRPC server. It cuts or silences connections below the gRPC library, as failing machines
 * and networks do.
 */
export class Door {
  readonly #innerPort: number
  readonly #sockets = new Set<Socket>()
  #listener: Server | null = null
  #port = 0
  #isSilent = false

  constructor(innerPort: number) {
    this.#innerPort = innerPort
  }

  get port(): number {
    return this.#port
  }

  /** Listens again on its earlier port, if it had one, so that clients find the restarted server. */
  open(): Promise<void> {
    const listener = createServer((client) => this.#accept(client))
    this.#listener = listener
    return new Promise((resolve, reject) => {
      listener.once('error', reject)
      listener.listen(this.#port, '127.0.0.1', () => {
        const address = listener.address()
        if (address === null || typeof address === 'string') throw new Error('a TCP listener has no port')
        this.#port = address.port
        resolve()
      })
    })
  }

  close(): Promise<void> {
    const listener = this.#listener
    this.#listener = null
    this.cut()
    return new Promise((resolve) => (listener === null ? resolve() : listener.close(() => resolve())))
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Keeps connections open, but passes no bytes on until `speak`. */
  silence(): void {
    this.#isSilent = true
    for (const socket of this.#sockets) socket.pause()
  }

  speak(): void {
    this.#isSilent = false
    for (const socket of this.#sockets) socket.resume()
  }

  #accept(client: Socket): void {
    const inner = connect(this.#innerPort, '127.0.0.1')
    this.#join(client, inner)
    this.#join(inner, client)
  }

  #join(from: Socket, to: Socket): void {
    this.#sockets.add(from)
    from.setNoDelay(true)
    if (this.#isSilent) from.pause()
    from.on('data', (bytes) => {
      if (!to.write(bytes)) from.pause()
    })
    from.on('drain', () => {
      if (!this.#isSilent) to.resume()
    })
    from.on('end', () => to.end())
    // An error also closes the socket, and the handler of `close` then closes the other side.
    from.on('error', () => {})
    from.on('close', () => {
      this.#sockets.delete(from)
      to.destroy()
    })
  }
}

import { connect, createServer, type Server, type Socket } from 'node:net'

/**
 * The socket that clients see, in front of the one that serves them. It fails as machines and networks do, which nothing
 * behind a protocol's library can: it falls silent without even answering a ping, cuts, goes away and comes back.
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

  /** On the port it had, if it had one. */
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

  /** Nobody listens any more, and every connection is cut. */
  close(): Promise<void> {
    const listener = this.#listener
    this.#listener = null
    this.cut()
    return new Promise((resolve) => (listener === null ? resolve() : listener.close(() => resolve())))
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Connections are accepted and kept, and nothing passes in either direction. What waits passes when it is over. */
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
    // A reset is an end like any other here; the other side learns of it by `close`.
    from.on('error', () => {})
    from.on('close', () => {
      this.#sockets.delete(from)
      to.destroy()
    })
  }
}

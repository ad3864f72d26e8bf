import { connect, createServer, type Server, type Socket } from 'node:net'

/** The socket in front of the server. It fails like machines and networks, below the gRPC library. */
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

  /** On its earlier port, if it had one. */
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

  /** Holds all bytes until the silence ends. */
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
    // The other side learns of a reset by `close`.
    from.on('error', () => {})
    from.on('close', () => {
      this.#sockets.delete(from)
      to.destroy()
    })
  }
}

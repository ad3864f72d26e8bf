import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2'
import type { EventStoreEndpoint } from '../../eventstore-url.ts'
import {
  eventStoreKeepAliveMs,
  eventStoreKeepAliveTimeoutMs,
  eventStoreMessageBytesMax,
} from './eventstoredb-bounds.ts'
import type { Access } from './store-link.ts'

const eventStoreHearingBytes = 1024 * 1024

export type StreamReceiver = {
  /** A part of a larger buffer, valid only during this call. */
  onMessage(bytes: Buffer): void
  onEnd(): void
}

/**
 * Reads HTTP/2 itself, because the gRPC library would be most of the cost of a received reading. On any failure this stream
 * ends, and `StoreSubscription` opens a new one.
 */
export class SubscriptionStream {
  readonly #session: ClientHttp2Session
  readonly #stream: ClientHttp2Stream
  readonly #receiver: StreamReceiver
  readonly #keepAlive: ReturnType<typeof setInterval>
  /** The pieces of a message of which not all `#wantedBytes` have arrived. */
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #wantedBytes = headBytes
  #isEnded = false

  constructor({ host, port }: EventStoreEndpoint, access: Access, receiver: StreamReceiver, request: Uint8Array) {
    this.#receiver = receiver
    const name = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
    const settings = { initialWindowSize: eventStoreHearingBytes }
    this.#session =
      access.tls === null
        ? connect(`http://${name}`, { settings })
        : connect(`https://${name}`, { settings, ...access.tls, ALPNProtocols: ['h2'] })
    this.#session.on('error', () => this.end())
    this.#session.on('close', () => this.end())
    this.#stream = this.#session.request({
      ':method': 'POST',
      ':path': '/event_store.client.streams.Streams/Read',
      'content-type': 'application/grpc',
      te: 'trailers',
      ...access.metadata.getMap(),
    })
    this.#stream.on('data', (chunk: Buffer) => this.#receive(chunk))
    for (const end of ['error', 'end', 'close']) this.#stream.on(end, () => this.end())
    this.#stream.end(framed(request))
    this.#keepAlive = setInterval(() => this.#ping(), eventStoreKeepAliveMs)
    this.#keepAlive.unref()
  }

  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    clearInterval(this.#keepAlive)
    this.#session.destroy()
    this.#receiver.onEnd()
  }

  #receive(chunk: Buffer): void {
    this.#waiting.push(chunk)
    this.#waitingBytes += chunk.length
    if (this.#waitingBytes < this.#wantedBytes) return
    const bytes = this.#waiting.length === 1 ? chunk : Buffer.concat(this.#waiting)
    let at = 0
    while (!this.#isEnded) {
      const leftBytes = bytes.length - at
      this.#wantedBytes = headBytes + (leftBytes < headBytes ? 0 : bytes.readUInt32BE(at + 1))
      if (this.#wantedBytes > eventStoreMessageBytesMax) this.end()
      if (this.#isEnded || leftBytes < this.#wantedBytes) break
      this.#receiver.onMessage(bytes.subarray(at + headBytes, at + this.#wantedBytes))
      at += this.#wantedBytes
    }
    this.#waiting = at < bytes.length ? [bytes.subarray(at)] : []
    this.#waitingBytes = bytes.length - at
  }

  #ping(): void {
    // Bun throws if a destroyed session is pinged.
    if (this.#session.destroyed) {
      this.end()
      return
    }
    const overdue = setTimeout(() => this.end(), eventStoreKeepAliveTimeoutMs)
    overdue.unref()
    const isSent = this.#session.ping((error) => {
      clearTimeout(overdue)
      if (error) this.end()
    })
    if (!isSent) this.end()
  }
}

/** One byte, 0 for "not compressed", and four for the length of the rest. */
const headBytes = 5

const framed = (message: Uint8Array): Buffer => {
  const bytes = Buffer.alloc(headBytes + message.length)
  bytes.writeUInt32BE(message.length, 1)
  bytes.set(message, headBytes)
  return bytes
}

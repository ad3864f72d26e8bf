import type { RecordedEvent } from '../../domain/events.ts'
import type { LogItem } from '../../domain/reading/recorded-run.ts'
import type { EventStoreEndpoint } from '../../eventstore-url.ts'
import { eventStoreRetryPauseMs } from '../../limits.ts'
import { type Subscriber, UndecodableEvent } from '../event-log.ts'
import type { Connection } from './connection.ts'
import { eventStoreReadMsMax } from './eventstoredb-bounds.ts'
import { readAll, readEvents, subscribeToAll } from './requests.ts'
import { decodeResponse, MalformedAnswer, type Response } from './responses.ts'
import type { Link } from './store-link.ts'
import { streamOfMetadata } from './store-streams.ts'
import type { StoredEvent } from './stored-events.ts'
import { SubscriptionStream } from './subscription-stream.ts'

/** Without a confirmation in this time, the node reports a failure. */
const eventStoreUnheardMsMax = 5_000

export type StoreSubscriptionParts = {
  readonly connection: Connection
  readonly subscriber: Subscriber
  readonly after: number | null
  readonly prefixes: readonly string[]
  decode(stored: StoredEvent): RecordedEvent
  /** All events up to here have arrived. */
  onReached(position: number, by: 'event' | 'checkpoint'): void
  onTruncated(streamName: string): void
  onEnd(cause: unknown): void
}

/**
 * A connection of its own, so that a slow subscriber delays no append
 * (docs/decisions/002-eventstoredb-without-its-client-object.md).
 */
export class StoreSubscription {
  readonly #parts: StoreSubscriptionParts
  readonly #stopListening: () => void
  #after: number | null
  /** Of the server that this subscription reads. Others use it, too, so it is not closed here. */
  #link: Link | null = null
  #stream: SubscriptionStream | null = null
  #delivery: LogItem[] = []
  #isDelivering = false
  #isCaughtUp = false
  /** Events that wait come first. */
  #mustTellCaughtUp = false
  #isEnded = false
  #fault: string | null = null
  /**
   * By `performance.now()`; after a long wait, `fault` reports it. `null`: a message has arrived, or no leader is
   * connected.
   */
  #silentSinceMs: number | null = null

  constructor(parts: StoreSubscriptionParts) {
    this.#parts = parts
    this.#after = parts.after
    this.#stopListening = parts.connection.listen({ onUp: ({ endpoint }) => this.#moveTo(endpoint), onAway: () => {} })
    // The caller must be able to unsubscribe before its first event.
    setImmediate(() => this.#connect())
  }

  /** Why no usable events arrive. */
  get fault(): string | null {
    const silentMs = this.#silentSinceMs === null ? 0 : performance.now() - this.#silentSinceMs
    return this.#fault ?? (silentMs > eventStoreUnheardMsMax ? 'it sends nothing to the subscription' : null)
  }

  end(): void {
    this.#isEnded = true
    this.#stopListening()
    this.#disconnect()
  }

  drop(cause: unknown): void {
    if (this.#isEnded) return
    this.end()
    this.#parts.onEnd(cause)
    try {
      this.#parts.subscriber.onDropped?.(cause)
    } catch {
      // The subscription has ended already.
    }
  }

  #connect(): void {
    if (this.#isEnded) return
    const { link } = this.#parts.connection
    if (link === null) {
      this.#silentSinceMs = null
      this.#reconnectLater()
    } else void this.#open(link)
  }

  #moveTo({ host, port }: EventStoreEndpoint): void {
    const at = this.#link?.endpoint
    if (at !== undefined && (at.host !== host || at.port !== port)) this.#reconnectLater()
  }

  #reconnectLater(): void {
    this.#deliver()
    this.#disconnect()
    if (!this.#isEnded) setTimeout(() => this.#connect(), eventStoreRetryPauseMs).unref()
  }

  #disconnect(): void {
    this.#mustTellCaughtUp = false
    const stream = this.#stream
    this.#stream = null
    stream?.end()
    this.#link = null
  }

  async #open(link: Link): Promise<void> {
    this.#link = link
    this.#silentSinceMs ??= performance.now()
    try {
      await this.#passGap(link)
    } catch (cause) {
      if (this.#link !== link) return
      if (cause instanceof UndecodableEvent) this.drop(cause)
      else {
        if (cause instanceof MalformedAnswer) this.#fault = cause.message
        this.#reconnectLater()
      }
      return
    }
    if (this.#isEnded || this.#link !== link) return
    const receiver = {
      onMessage: (bytes: Buffer) => this.#receive(bytes),
      onEnd: () => {
        if (this.#stream === stream) this.#reconnectLater()
      },
    }
    const request = subscribeToAll(this.#after, this.#parts.prefixes).serializeBinary()
    const stream = new SubscriptionStream(link.endpoint, this.#parts.connection.access, receiver, request)
    this.#stream = stream
  }

  /**
   * EventStoreDB skips the first event at or after the given position. If the last delivered event was deleted, that is a
   * new one, which is read here.
   */
  async #passGap(link: Link): Promise<void> {
    if (this.#after === null) return
    const page = readAll({ from: this.#after, limit: 1 }, 'forwards', null)
    const [event] = await readEvents(link, page, { of: 'any', msMax: eventStoreReadMsMax })
    if (event === undefined || event.position === this.#after || this.#isEnded) return
    if (this.#parts.prefixes.some((prefix) => event.streamName.startsWith(prefix))) this.#take(event)
    else this.#after = event.position
  }

  #receive(bytes: Buffer): void {
    this.#silentSinceMs = null
    const response = this.#decoded(bytes)
    if (response === null) return
    if (response.kind === 'event') this.#take(response.event)
    else if (response.kind === 'checkpoint') this.#passTo(response.position)
    else if (response.kind === 'caught_up') {
      this.#mustTellCaughtUp = !this.#isCaughtUp
      this.#deliverSoon()
    }
  }

  /** `null`: undecodable. The subscription continues on a new connection. */
  #decoded(bytes: Buffer): Response | null {
    try {
      const response = decodeResponse(bytes)
      if (response.kind !== 'other') this.#fault = null
      return response
    } catch (cause) {
      if (!(cause instanceof MalformedAnswer)) throw cause
      this.#fault = cause.message
      this.#reconnectLater()
      return null
    }
  }

  /** After a failure, events of other programs need not be passed again. */
  #passTo(position: number): void {
    if (position <= (this.#after ?? -1)) return
    this.#after = position
    this.#parts.onReached(position, 'checkpoint')
  }

  #take(stored: StoredEvent): void {
    const { position, streamName } = stored
    if (position <= (this.#after ?? -1)) return
    const truncated = streamOfMetadata(streamName)
    if (truncated !== null) {
      this.#parts.onTruncated(truncated)
      this.#after = position
      return
    }
    try {
      this.#delivery.push(this.#parts.decode(stored))
      this.#after = position
      this.#parts.onReached(position, 'event')
    } catch (cause) {
      this.#deliver()
      this.drop(cause)
      return
    }
    this.#deliverSoon()
  }

  /** One call of the subscriber for each turn of the event loop. */
  #deliverSoon(): void {
    if (this.#isDelivering) return
    this.#isDelivering = true
    setImmediate(() => {
      this.#isDelivering = false
      this.#deliver()
    })
  }

  #deliver(): void {
    const events = this.#delivery
    this.#delivery = []
    if (this.#isEnded) return
    try {
      if (events.length > 0) this.#parts.subscriber.onEvents(events)
      if (!this.#mustTellCaughtUp || this.#isEnded) return
      this.#mustTellCaughtUp = false
      this.#isCaughtUp = true
      this.#parts.subscriber.onCaughtUp?.()
    } catch (cause) {
      // A subscriber that throws could have missed events.
      this.drop(cause)
    }
  }
}

import type { RecordedEvent } from '../../domain/events.ts'
import type { EventStoreEndpoint } from '../../eventstore-url.ts'
import { eventStoreReadMsMax, eventStoreRetryPauseMs, eventStoreUnheardMsMax } from '../../limits.ts'
import { type Subscriber, UndecodableEvent } from '../event-log.ts'
import type { Connection } from './connection.ts'
import { Hearing } from './hearing.ts'
import { readAll, readEvents, subscribeToAll } from './requests.ts'
import { decodeResponse, MalformedAnswer, type Response } from './responses.ts'
import { Link } from './store-link.ts'
import type { StoredEvent } from './stored-events.ts'

export type FollowingParts = {
  readonly connection: Connection
  readonly subscriber: Subscriber
  readonly after: number | null
  /** Of stream names. */
  readonly prefixes: readonly string[]
  decode(stored: StoredEvent): RecordedEvent
  /** Told once, when it has ended for good. */
  onEnd(cause: unknown): void
}

/**
 * One subscription that outlives its connections: whatever ends it on the way, a server that goes away or one that finds it
 * too slow, it is taken up again after the last event that was delivered. Each has a connection of its own, so that one that
 * lags holds up neither appends nor another. It goes where the connection goes: a node that has lost its office, and the
 * others, may answer every ping and never send another event. It ends when it is told to, and when its subscriber or an event is faulty.
 */
export class Following {
  readonly #parts: FollowingParts
  readonly #stopListening: () => void
  #after: number | null
  #link: Link | null = null
  #hearing: Hearing | null = null
  #delivery: RecordedEvent[] = []
  #isDelivering = false
  #isCaughtUp = false
  /** The mark has come, and is told behind what waits. */
  #mustTellCaughtUp = false
  #isEnded = false
  #fault: string | null = null
  /** Since when it was asked for and nothing at all came, by the monotonic clock. */
  #unheardSinceMs: number | null = null

  constructor(parts: FollowingParts) {
    this.#parts = parts
    this.#after = parts.after
    this.#stopListening = parts.connection.listen({ onUp: ({ endpoint }) => this.#moveTo(endpoint), onAway: () => {} })
    // Not at once: the caller must hold the subscription before its first event can make it unsubscribe.
    setImmediate(() => this.#begin())
  }

  /** Why nothing can be heard though the server speaks; `null` as soon as it can be understood again. */
  get fault(): string | null {
    const unheardMs = this.#unheardSinceMs === null ? 0 : performance.now() - this.#unheardSinceMs
    return this.#fault ?? (unheardMs > eventStoreUnheardMsMax ? 'it gives no subscription to what is written' : null)
  }

  end(): void {
    this.#isEnded = true
    this.#stopListening()
    this.#letGo()
  }

  /** Ends it, and tells the subscriber why. */
  drop(cause: unknown): void {
    if (this.#isEnded) return
    this.end()
    this.#parts.onEnd(cause)
    try {
      this.#parts.subscriber.onDropped?.(cause)
    } catch {
      // It was told, and nobody else waits for its answer.
    }
  }

  #begin(): void {
    if (this.#isEnded) return
    const { connection } = this.#parts
    if (connection.link === null) {
      this.#unheardSinceMs = null
      this.#beginLater()
    } else void this.#open(new Link(connection.link.endpoint, connection.access))
  }

  #moveTo({ host, port }: EventStoreEndpoint): void {
    const at = this.#link?.endpoint
    if (at !== undefined && (at.host !== host || at.port !== port)) this.#beginLater()
  }

  /** What was heard is delivered first: it goes on behind that. */
  #beginLater(): void {
    this.#deliver()
    this.#letGo()
    if (!this.#isEnded) setTimeout(() => this.#begin(), eventStoreRetryPauseMs).unref()
  }

  #letGo(): void {
    this.#mustTellCaughtUp = false
    const hearing = this.#hearing
    this.#hearing = null
    hearing?.end()
    this.#link?.close()
    this.#link = null
  }

  async #open(link: Link): Promise<void> {
    this.#link = link
    this.#unheardSinceMs ??= performance.now()
    try {
      await this.#passGap(link)
    } catch (cause) {
      if (this.#link !== link) return
      if (cause instanceof UndecodableEvent) this.drop(cause)
      else {
        if (cause instanceof MalformedAnswer) this.#fault = cause.message
        this.#beginLater()
      }
      return
    }
    if (this.#isEnded || this.#link !== link) return
    const hearer = {
      onMessage: (bytes: Buffer) => this.#hear(bytes),
      onEnd: () => {
        if (this.#hearing === hearing) this.#beginLater()
      },
    }
    const request = subscribeToAll(this.#after, this.#parts.prefixes).serializeBinary()
    const hearing = new Hearing(link.endpoint, this.#parts.connection.access, hearer, request)
    this.#hearing = hearing
  }

  /**
   * The server begins behind the first event at or after the place it is given. When the one that lay there was scavenged,
   * that is one too many: it would be skipped. So it is looked at before.
   */
  async #passGap(link: Link): Promise<void> {
    if (this.#after === null) return
    const page = readAll({ from: this.#after, limit: 1 }, 'forwards', null)
    const [event] = await readEvents(link, page, { of: 'any', msMax: eventStoreReadMsMax })
    if (event === undefined || event.position === this.#after || this.#isEnded) return
    if (this.#parts.prefixes.some((prefix) => event.streamName.startsWith(prefix))) this.#take(event)
    else this.#after = event.position
  }

  #hear(bytes: Buffer): void {
    this.#unheardSinceMs = null
    const response = this.#understood(bytes)
    if (response === null) return
    if (response.kind === 'event') this.#take(response.event)
    else if (response.kind === 'caught_up') {
      this.#mustTellCaughtUp = !this.#isCaughtUp
      this.#deliverSoon()
    }
  }

  /** What can't be read tells of no event, so it ends nothing for good: it is asked for again. */
  #understood(bytes: Buffer): Response | null {
    try {
      const response = decodeResponse(bytes)
      if (response.kind !== 'other') this.#fault = null
      return response
    } catch (cause) {
      if (!(cause instanceof MalformedAnswer)) throw cause
      this.#fault = cause.message
      this.#beginLater()
      return null
    }
  }

  #take(stored: StoredEvent): void {
    if (stored.position <= (this.#after ?? -1)) return
    try {
      this.#delivery.push(this.#parts.decode(stored))
      this.#after = stored.position
    } catch (cause) {
      this.#deliver()
      this.drop(cause)
      return
    }
    this.#deliverSoon()
  }

  /** Together what came in one turn, which is no more than the socket held: so a long catch-up holds up nobody. */
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
      // A subscriber that throws has lost its place, and neither the log nor its neighbours notice.
      this.drop(cause)
    }
  }
}

import { countOf } from '../../domain/reading/columns.ts'
import { type ReadingRun, RecordedRun } from '../../domain/reading/recorded-run.ts'
import { isUuid, readingId } from '../../domain/uuid.ts'
import { eventStoreOwnReadingsMax } from '../../limits.ts'
import { positionOfExpected } from './responses.ts'
import type { StoredEvent } from './stored-events.ts'

export type OwnRun = {
  readonly run: ReadingRun
  readonly stream: string
  /** The name includes the prefix from the settings. */
  readonly streamName: string
  readonly revision: number
}

/**
 * Remembers the runs that this node appends. When the subscription returns their events, the run is delivered, and its
 * readings need no decoding. The run is not delivered earlier, because other nodes can have written events before it. The
 * position of a delivered item says that all events before it were delivered too.
 */
export class OwnRuns {
  /** The key is the id of the run's first event. */
  readonly #runs = new Map<string, OwnRun>()
  #readings = 0
  readonly #added = new WeakSet<ReadingRun>()

  /**
   * Call this before the append is sent, because its events can return before its answer. A run that is sent again is not
   * remembered: its first event can have returned already, and then nothing would remove the run from memory.
   */
  add(own: OwnRun): void {
    if (this.#added.has(own.run)) return
    this.#added.add(own.run)
    const { requests, count } = own.run
    const first = requests[0]?.requestId
    if (first === undefined || !requests.every(({ requestId }) => isUuid(requestId))) return
    this.forget(first)
    // The oldest runs return first. So they are kept, and this run is decoded when it returns.
    if (this.#readings + count > eventStoreOwnReadingsMax) return
    this.#runs.set(first, own)
    this.#readings += count
  }

  forget(firstId: string): void {
    const known = this.#runs.get(firstId)
    if (known === undefined) return
    this.#runs.delete(firstId)
    this.#readings -= known.run.count
  }

  beginningWith({ id, streamName, revision, position }: StoredEvent): ReturningRun | null {
    const own = this.#runs.get(id)
    if (own === undefined || own.streamName !== streamName || own.revision !== revision) return null
    return new ReturningRun(own, position)
  }
}

/** A run whose events a subscription is returning. EventStoreDB stores an append whole, so they follow each other. */
export class ReturningRun {
  readonly firstId: string
  readonly #own: OwnRun
  readonly #positions: Float64Array
  readonly #expected: { readonly streamName: Uint8Array; readonly id: Buffer; revision: number }
  #returned = 1
  #request = 0
  #ofRequest = 1

  constructor(own: OwnRun, position: number) {
    this.#own = own
    this.#positions = new Float64Array(own.run.count)
    this.#positions[0] = position
    this.firstId = own.run.requests[0]?.requestId ?? ''
    const id = Buffer.from(this.firstId)
    this.#expected = { streamName: Buffer.from(own.streamName), id, revision: own.revision }
    this.#expectNext()
  }

  get isComplete(): boolean {
    return this.#returned === this.#own.run.count
  }

  /**
   * Returns the position of the next event of the run, or `null` if the message holds something else.
   * @throws MalformedAnswer
   */
  take(message: Buffer): number | null {
    const position = positionOfExpected(message, this.#expected)
    if (position === null) return null
    this.#positions[this.#returned] = position
    this.#returned += 1
    this.#ofRequest += 1
    this.#expectNext()
    return position
  }

  recorded(): RecordedRun {
    const { run, stream, revision } = this.#own
    return new RecordedRun(run, { stream, revision, position: this.#positions[0] ?? 0, positions: this.#positions })
  }

  #expectNext(): void {
    const { requests } = this.#own.run
    let request = requests[this.#request]
    if (request !== undefined && this.#ofRequest === countOf(request.readings)) {
      this.#request += 1
      this.#ofRequest = 0
      request = requests[this.#request]
    }
    if (request === undefined) return
    this.#expected.revision = this.#own.revision + this.#returned
    this.#expected.id.write(readingId(request.requestId, this.#ofRequest), 'latin1')
  }
}

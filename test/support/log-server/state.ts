/**
 * The test log server: it speaks EventStoreDB's protocol over a real socket, keeps its log in memory, and fails as a
 * test asks (`server-faults.ts`). This file stores events and accepts or refuses appends. It knows neither the protocol
 * nor the time.
 */

export type ProposedEvent = {
  readonly id: string
  readonly type: string
  readonly contentType: string
  readonly data: Uint8Array
  readonly metadata: Uint8Array
}

export type StoredEvent = ProposedEvent & {
  readonly stream: string
  readonly revision: number
  readonly position: number
}

export type ExpectedRevision = 'any' | 'none' | 'exists' | number

export type Append = {
  readonly stream: string
  readonly expected: ExpectedRevision
  readonly events: readonly ProposedEvent[]
}

export type Judgement =
  /** The revision and position of the last event. A repeated append is a success with the same values. */
  | { readonly outcome: 'success'; readonly revision: number; readonly position: number }
  | { readonly outcome: 'wrong_expected_revision'; readonly currentRevision: number | null }

export class LogState {
  /** The events in order of their positions. */
  #all: StoredEvent[] = []
  /** The event at index i has revision i, because truncated events stay in these arrays. */
  readonly #streams = new Map<string, StoredEvent[]>()
  readonly #truncatedBefore = new Map<string, number>()
  readonly #listeners = new Set<() => void>()
  /**
   * Positions of all events ever written. `scavenge` removes truncated events but not their positions, because a client
   * may still read from there.
   */
  readonly #boundaries = new Set<number>()
  #endPosition = 0

  constructor() {
    // A real log begins with the server's own events, which clients must ignore.
    this.append({ stream: '$$$scavenges', expected: 'none', events: [systemEvent()] })
  }

  append(append: Append): Judgement {
    const stored = this.#streams.get(append.stream) ?? []
    const currentRevision = stored.length - 1
    const expected = this.#exactRevision(append, stored)
    if (expected === null || expected > currentRevision) return wrongRevision(currentRevision)
    if (expected < currentRevision) {
      const there = stored.slice(expected + 1, expected + 1 + append.events.length)
      const last = there.at(-1)
      const isSame = there.length === append.events.length && there.every(({ id }, at) => id === append.events[at]?.id)
      if (!isSame || last === undefined) return wrongRevision(currentRevision)
      return { outcome: 'success', revision: last.revision, position: last.position }
    }
    return this.#write(append, stored)
  }

  /** `null` means that the stream does not exist. */
  stream(name: string): readonly StoredEvent[] | null {
    const stored = this.#streams.get(name)
    return stored === undefined ? null : stored.slice(this.#truncatedBefore.get(name) ?? 0)
  }

  /** All events, also truncated ones until `scavenge` removes them. */
  get all(): readonly StoredEvent[] {
    return this.#all
  }

  get endPosition(): number {
    return this.#endPosition
  }

  /** The index in `all` of the first event at or after the position. */
  indexFrom(position: number): number {
    let [low, high] = [0, this.#all.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#all[middle]?.position ?? 0) < position) low = middle + 1
      else high = middle
    }
    return low
  }

  /**
   * True if an event began or will begin at this position. A read from any other position fails, as on a real server.
   */
  isBoundary(position: number): boolean {
    return position >= this.#endPosition || this.#boundaries.has(position)
  }

  /** Removes truncated events from the log. The other events keep their positions and revisions. */
  scavenge(): void {
    this.#all = this.#all.filter(({ stream, revision }) => revision >= (this.#truncatedBefore.get(stream) ?? 0))
  }

  /** Returns a function that removes the listener. */
  onAppended(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * The revision after which the append wants its events. -1 means a new stream. `null` means that the append must
   * fail.
   */
  #exactRevision({ expected, events }: Append, stored: readonly StoredEvent[]): number | null {
    if (expected === 'none') return -1
    if (typeof expected === 'number') return expected
    if (expected === 'exists' && stored.length === 0) return null
    // The append names no revision. If its first event is stored already, it is a repeat and belongs where that event
    // is.
    const earlier = stored.findIndex(({ id }) => id === events[0]?.id)
    return earlier === -1 ? stored.length - 1 : earlier - 1
  }

  #write({ stream, events }: Append, stored: StoredEvent[]): Judgement {
    for (const event of events) {
      const position = this.#endPosition
      const written = { ...event, stream, revision: stored.length, position }
      stored.push(written)
      this.#all.push(written)
      this.#boundaries.add(position)
      this.#endPosition = position + recordBytes(written)
    }
    this.#streams.set(stream, stored)
    if (stream.startsWith('$$')) this.#readMetadata(stream.slice('$$'.length), stored)
    for (const listener of this.#listeners) listener()
    const last = stored.at(-1)
    return { outcome: 'success', revision: stored.length - 1, position: last?.position ?? 0 }
  }

  #readMetadata(stream: string, stored: readonly StoredEvent[]): void {
    const metadata: unknown = JSON.parse(new TextDecoder().decode(stored.at(-1)?.data))
    if (typeof metadata !== 'object' || metadata === null || !('$tb' in metadata)) this.#truncatedBefore.delete(stream)
    else this.#truncatedBefore.set(stream, Number(metadata.$tb))
  }
}

const wrongRevision = (current: number): Judgement => ({
  outcome: 'wrong_expected_revision',
  currentRevision: current === -1 ? null : current,
})

/** As on a real server, positions are bytes: the next event begins where this one ends. */
const recordBytes = ({ stream, type, data, metadata }: StoredEvent): number =>
  96 + stream.length + type.length + data.length + metadata.length

const systemEvent = (): ProposedEvent => ({
  id: crypto.randomUUID(),
  type: '$metadata',
  contentType: 'application/json',
  data: new TextEncoder().encode('{}'),
  metadata: new Uint8Array(),
})

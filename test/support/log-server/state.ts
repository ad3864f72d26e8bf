/**
 * The test log server: it speaks EventStoreDB's protocol over a real socket, keeps its log in memory, and fails as a
 * test asks (`server-faults.ts`).
 *
 * This file stores events and judges appends. It knows no wire and no time.
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
  /** Of the last event. A repeated append is a success. */
  | { readonly outcome: 'success'; readonly revision: number; readonly position: number }
  | { readonly outcome: 'wrong_expected_revision'; readonly currentRevision: number | null }

export class LogState {
  /** By position. */
  #all: StoredEvent[] = []
  /** By revision, truncated or not. */
  readonly #streams = new Map<string, StoredEvent[]>()
  readonly #truncatedBefore = new Map<string, number>()
  readonly #listeners = new Set<() => void>()
  /** Positions of all events ever written. A scavenge keeps them. */
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

  /** `null`: no such stream. */
  stream(name: string): readonly StoredEvent[] | null {
    const stored = this.#streams.get(name)
    return stored === undefined ? null : stored.slice(this.#truncatedBefore.get(name) ?? 0)
  }

  /** Also truncated events that no scavenge has removed. */
  get all(): readonly StoredEvent[] {
    return this.#all
  }

  get endPosition(): number {
    return this.#endPosition
  }

  /** The first event at or after the position. */
  indexFrom(position: number): number {
    let [low, high] = [0, this.#all.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#all[middle]?.position ?? 0) < position) low = middle + 1
      else high = middle
    }
    return low
  }

  /** An event began there, or will. Elsewhere a read fails. */
  isBoundary(position: number): boolean {
    return position >= this.#endPosition || this.#boundaries.has(position)
  }

  /** Positions and revisions of the rest stay. */
  scavenge(): void {
    this.#all = this.#all.filter(({ stream, revision }) => revision >= (this.#truncatedBefore.get(stream) ?? 0))
  }

  /** Returns a function that ends it. */
  onAppended(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The last revision before the events. -1: a new stream; `null`: impossible. */
  #exactRevision({ expected, events }: Append, stored: readonly StoredEvent[]): number | null {
    if (expected === 'none') return -1
    if (typeof expected === 'number') return expected
    if (expected === 'exists' && stored.length === 0) return null
    // Without an exact revision, the ids may be anywhere.
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

/** Positions grow by an event's bytes. */
const recordBytes = ({ stream, type, data, metadata }: StoredEvent): number =>
  96 + stream.length + type.length + data.length + metadata.length

const systemEvent = (): ProposedEvent => ({
  id: crypto.randomUUID(),
  type: '$metadata',
  contentType: 'application/json',
  data: new TextEncoder().encode('{}'),
  metadata: new Uint8Array(),
})

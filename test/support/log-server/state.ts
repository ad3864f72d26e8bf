/**
 * The test log server: it speaks the protocol of `@eventstore/db-client` over a real socket, keeps its log in memory, and
 * can be told to misbehave in every way that the adapter claims to survive. It is a stand-in for tests and nothing else.
 * `server.ts` starts one and `cluster.ts` several over one state; `server-faults.ts` is what a test sets; `conformance.test.ts` beside
 * its test holds what it must answer, and asks a real server the same when there is one.
 *
 * Here is the log itself: what is stored, and how an append is judged. No wire, no time.
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
  /** `revision` and `position` are those of the last event. The same ids at the same place are a success again. */
  | { readonly outcome: 'success'; readonly revision: number; readonly position: number }
  | { readonly outcome: 'wrong_expected_revision'; readonly currentRevision: number | null }

export class LogState {
  /** In position order. */
  #all: StoredEvent[] = []
  /** The event at revision r lies at index r, truncated or not. */
  readonly #streams = new Map<string, StoredEvent[]>()
  /** By stream: its first revision that is still shown. */
  readonly #truncatedBefore = new Map<string, number>()
  readonly #listeners = new Set<() => void>()
  /** Of all that was ever written: a scavenge leaves places as they were. */
  readonly #boundaries = new Set<number>()
  #endPosition = 0

  constructor() {
    // A real log begins with the server's own events, which a client must know to leave alone.
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

  /** `null` if there is no such stream; without what was truncated. */
  stream(name: string): readonly StoredEvent[] | null {
    const stored = this.#streams.get(name)
    return stored === undefined ? null : stored.slice(this.#truncatedBefore.get(name) ?? 0)
  }

  /** In position order, with the truncated ones that no scavenge has removed yet. */
  get all(): readonly StoredEvent[] {
    return this.#all
  }

  /** Where the next event will lie. */
  get endPosition(): number {
    return this.#endPosition
  }

  /** Index in `all` of the first event at or past the position. */
  indexFrom(position: number): number {
    let [low, high] = [0, this.#all.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#all[middle]?.position ?? 0) < position) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Whether something begins, began or would begin there: elsewhere, a read finds the middle of something. */
  isBoundary(position: number): boolean {
    return position >= this.#endPosition || this.#boundaries.has(position)
  }

  /** Removes what was truncated from `all` too. Positions and revisions of the rest stay. */
  scavenge(): void {
    this.#all = this.#all.filter(({ stream, revision }) => revision >= (this.#truncatedBefore.get(stream) ?? 0))
  }

  /** Called after each append. Returns what ends it. */
  onAppended(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The revision after which the events must lie; -1 for a new stream, `null` if there can't be one. */
  #exactRevision({ expected, events }: Append, stored: readonly StoredEvent[]): number | null {
    if (expected === 'none') return -1
    if (typeof expected === 'number') return expected
    if (expected === 'exists' && stored.length === 0) return null
    // Without an exact revision it looks for the ids wherever they lie in the stream.
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

/** Positions are places in a file, so they grow by more than one from event to event. */
const recordBytes = ({ stream, type, data, metadata }: StoredEvent): number =>
  96 + stream.length + type.length + data.length + metadata.length

const systemEvent = (): ProposedEvent => ({
  id: crypto.randomUUID(),
  type: '$metadata',
  contentType: 'application/json',
  data: new TextEncoder().encode('{}'),
  metadata: new Uint8Array(),
})

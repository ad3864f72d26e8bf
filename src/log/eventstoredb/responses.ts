/** By hand, because every node receives every reading (docs/decisions/002-eventstoredb-without-its-client-object.md). */
import type { StoredEvent } from './stored-events.ts'

export type Response =
  | { readonly kind: 'event'; readonly event: StoredEvent }
  | { readonly kind: 'caught_up' }
  /** A filtered subscription has passed all events up to this position. */
  | { readonly kind: 'checkpoint'; readonly position: number }
  /** For example the confirmation of a subscription, or "stream not found". */
  | { readonly kind: 'other' }

/** A new connection may help. */
export class MalformedAnswer extends Error {
  override readonly name = 'MalformedAnswer'
}

/** @throws MalformedAnswer if a field goes past the end of its message, or if an event has no id */
export const decodeResponse = (bytes: Buffer): Response => {
  const reader = new Reader(bytes, 0, bytes.length)
  const field = reader.next()
  if (field === content.caughtUp) return { kind: 'caught_up' }
  if (field === content.checkpoint) return checkpointIn(reader.inner())
  const event = field === content.event ? recordedEventIn(reader.inner()) : null
  return event === null ? { kind: 'other' } : { kind: 'event', event }
}

// From EventStoreDB's streams.proto and shared.proto.
const content = { event: 1, checkpoint: 3, caughtUp: 8 } as const
const checkpoint = { commitPosition: 1 } as const
const readEvent = { event: 1 } as const
const recorded = {
  id: 1,
  streamIdentifier: 2,
  revision: 3,
  commitPosition: 5,
  metadata: 6,
  customMetadata: 7,
  data: 8,
} as const
const streamIdentifier = { name: 3 } as const
const uuid = { text: 2 } as const
const mapEntry = { key: 1, value: 2 } as const

const checkpointIn = (reader: Reader): Response =>
  reader.skipTo(checkpoint.commitPosition) ? { kind: 'checkpoint', position: reader.number() } : { kind: 'other' }

const recordedEventIn = (response: Reader): StoredEvent | null =>
  response.skipTo(readEvent.event) ? storedEvent(response.inner()) : null

const storedEvent = (reader: Reader): StoredEvent => {
  let [id, streamName, type, metadata, data] = ['', '', '(unknown)', '', '']
  let [revision, position] = [0, 0]
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === recorded.id) id = uuidIn(reader.inner())
    else if (field === recorded.streamIdentifier) streamName = nameIn(reader.inner())
    else if (field === recorded.revision) revision = reader.number()
    else if (field === recorded.commitPosition) position = reader.number()
    else if (field === recorded.metadata) type = typeIn(reader.inner()) ?? type
    else if (field === recorded.customMetadata) metadata = reader.text()
    else if (field === recorded.data) data = reader.text()
    else reader.skip()
  }
  return { id, type, streamName, revision, position, metadata, data }
}

const nameIn = (reader: Reader): string => (reader.skipTo(streamIdentifier.name) ? reader.text() : '')

const typeIn = (reader: Reader): string | null => {
  let [key, value] = ['', '']
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === mapEntry.key) key = reader.text()
    else if (field === mapEntry.value) value = reader.text()
    else reader.skip()
  }
  return key === 'type' ? value : null
}

/** `requests.ts` asks for texts. EventStoreDB could also send two 64-bit numbers. */
const uuidIn = (reader: Reader): string => {
  if (reader.skipTo(uuid.text)) return reader.text()
  throw new MalformedAnswer('Cannot read what the server sent: the id of an event is not a text')
}

/** After each `next`, call exactly one other method, or `next` reads a part of the value. */
class Reader {
  readonly #bytes: Buffer
  readonly #end: number
  #at: number
  #wireType = 0

  constructor(bytes: Buffer, start: number, end: number) {
    this.#bytes = bytes
    this.#at = start
    this.#end = end
  }

  /** A field number, or 0 at the end. */
  next(): number {
    if (this.#at >= this.#end) return 0
    const tag = this.number()
    this.#wireType = tag & 7
    return tag >>> 3
  }

  /** False: the message has no such field. */
  skipTo(field: number): boolean {
    for (let found = this.next(); found !== 0; found = this.next()) {
      if (found === field) return true
      this.skip()
    }
    return false
  }

  /** Exact up to 2^53. */
  number(): number {
    let value = 0
    for (let unit = 1; ; unit *= 128) {
      const byte = this.#bytes[this.#at++] ?? 0
      value += (byte & 127) * unit
      if (byte < 128) return value
    }
  }

  inner(): Reader {
    const end = this.#past(this.number())
    const reader = new Reader(this.#bytes, this.#at, end)
    this.#at = end
    return reader
  }

  text(): string {
    const end = this.#past(this.number())
    const begin = this.#at
    this.#at = end
    return this.#bytes.toString('utf8', begin, this.#at)
  }

  skip(): void {
    if (this.#wireType === 0) this.number()
    else if (this.#wireType === 2) this.#at = this.#past(this.number())
    else this.#at = this.#past(this.#wireType === 1 ? 8 : 4)
  }

  #past(bytes: number): number {
    const end = this.#at + bytes
    if (end > this.#end)
      throw new MalformedAnswer('Cannot read what the server sent: a field goes past the end of its message')
    return end
  }
}

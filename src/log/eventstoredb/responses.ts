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

/** @throws MalformedAnswer if a field goes past the end of its message */
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
const uuid = { structured: 1, text: 2 } as const
const structured = { mostSignificant: 1, leastSignificant: 2 } as const
const mapEntry = { key: 1, value: 2 } as const

const checkpointIn = (reader: Reader): Response => {
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === checkpoint.commitPosition) return { kind: 'checkpoint', position: reader.number() }
    reader.skip()
  }
  return { kind: 'other' }
}

const recordedEventIn = (response: Reader): StoredEvent | null => {
  for (let field = response.next(); field !== 0; field = response.next()) {
    if (field === readEvent.event) return storedEvent(response.inner())
    response.skip()
  }
  return null
}

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

const nameIn = (reader: Reader): string => {
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === streamIdentifier.name) return reader.text()
    reader.skip()
  }
  return ''
}

const typeIn = (reader: Reader): string | null => {
  let [key, value] = ['', '']
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === mapEntry.key) key = reader.text()
    else if (field === mapEntry.value) value = reader.text()
    else reader.skip()
  }
  return key === 'type' ? value : null
}

/** EventStoreDB can send a UUID as text or as two 64-bit numbers. */
const uuidIn = (reader: Reader): string => {
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === uuid.text) return reader.text()
    if (field === uuid.structured) return uuidOfHalves(reader.inner())
    reader.skip()
  }
  return ''
}

const uuidOfHalves = (reader: Reader): string => {
  const halves = [0n, 0n]
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === structured.mostSignificant) halves[0] = reader.bits()
    else if (field === structured.leastSignificant) halves[1] = reader.bits()
    else reader.skip()
  }
  const hex = halves.map((half) => half.toString(16).padStart(16, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
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

  /** Exact up to 2^53. Use `bits` for numbers of 64 bits. */
  number(): number {
    let value = 0
    for (let unit = 1; ; unit *= 128) {
      const byte = this.#bytes[this.#at++] ?? 0
      value += (byte & 127) * unit
      if (byte < 128) return value
    }
  }

  bits(): bigint {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.#bytes[this.#at++] ?? 0
      value |= BigInt(byte & 127) << shift
      if (byte < 128) return BigInt.asUintN(64, value)
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

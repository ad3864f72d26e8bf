/**
 * The generated encoder creates about twenty objects for each event
 * (docs/decisions/002-eventstoredb-without-its-client-object.md).
 */
import type { ExpectedRevision } from '../event-log.ts'
import type { ProposedEvent } from './stored-events.ts'

export const encodeRun = (messages: readonly ProposedEvent[]): Buffer => {
  const pieces = messages.map(pieceOf)
  const writer = new Writer(pieces.reduce((sum, piece) => sum + fieldBytes(piece.bytes), 0))
  for (const piece of pieces) writePiece(writer, piece)
  return writer.buffer
}

export const encodeAppend = (
  correlationId: string,
  place: { readonly streamName: string; readonly expected: ExpectedRevision },
  run: Buffer,
): Buffer => {
  const name = Buffer.from(place.streamName)
  const identifierBytes = fieldBytes(name.length)
  const revisionBytes = place.expected === 'none' ? fieldBytes(0) : 1 + varintBytes(place.expected)
  const optionsBytes = fieldBytes(identifierBytes) + revisionBytes
  const writer = new Writer(fieldBytes(uuidBytes) + fieldBytes(optionsBytes) + run.length + 2)
  writer.begin(request.correlationId, uuidBytes)
  writer.text(uuid.string, correlationId, uuidChars)
  writer.begin(request.options, optionsBytes)
  writer.begin(options.streamIdentifier, identifierBytes)
  writer.bytes(streamIdentifier.name, name)
  if (place.expected === 'none') writer.begin(options.noStream, 0)
  else writer.number(options.streamPosition, place.expected)
  writer.raw(run)
  writer.number(request.isFinal, 1)
  return writer.buffer
}

// From EventStoreDB's streams.proto and shared.proto.
const request = { correlationId: 1, options: 2, proposedMessages: 3, isFinal: 4 } as const
const options = { streamIdentifier: 1, streamPosition: 2, noStream: 3 } as const
const streamIdentifier = { name: 3 } as const
const uuid = { string: 2 } as const
const proposed = { id: 1, metadata: 2, customMetadata: 3, data: 4 } as const
const mapEntry = { key: 1, value: 2 } as const

const uuidChars = 36
/** With tag and length. */
const uuidBytes = 2 + uuidChars

type Piece = {
  readonly message: ProposedEvent
  readonly head: Buffer
  readonly metadataBytes: number
  readonly dataBytes: number
  /** Without tag and length. */
  readonly bytes: number
}

const pieceOf = (message: ProposedEvent): Piece => {
  const head = headOf(message.type)
  const metadataBytes = Buffer.byteLength(message.metadata)
  const dataBytes = Buffer.byteLength(message.data)
  const bytes = fieldBytes(uuidBytes) + head.length + fieldBytes(metadataBytes) + fieldBytes(dataBytes)
  return { message, head, metadataBytes, dataBytes, bytes }
}

const writePiece = (writer: Writer, { message, head, metadataBytes, dataBytes, bytes }: Piece): void => {
  writer.begin(request.proposedMessages, bytes)
  writer.begin(proposed.id, uuidBytes)
  writer.text(uuid.string, message.id, uuidChars)
  writer.raw(head)
  writer.text(proposed.customMetadata, message.metadata, metadataBytes)
  writer.text(proposed.data, message.data, dataBytes)
}

const heads = new Map<string, Buffer>()

const headOf = (type: string): Buffer => {
  const known = heads.get(type)
  if (known !== undefined) return known
  const head = Buffer.concat([encodeEntry('type', type), encodeEntry('content-type', 'application/json')])
  heads.set(type, head)
  return head
}

const encodeEntry = (key: string, value: string): Buffer => {
  const [keyBytes, valueBytes] = [Buffer.byteLength(key), Buffer.byteLength(value)]
  const bytes = fieldBytes(keyBytes) + fieldBytes(valueBytes)
  const writer = new Writer(fieldBytes(bytes))
  writer.begin(proposed.metadata, bytes)
  writer.text(mapEntry.key, key, keyBytes)
  writer.text(mapEntry.value, value, valueBytes)
  return writer.buffer
}

/** A tag takes one byte: all field numbers here are below 16. */
const fieldBytes = (bytes: number): number => 1 + varintBytes(bytes) + bytes

const varintBytes = (value: number): number => {
  let count = 1
  for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) count += 1
  return count
}

/** The caller has computed the size, so the buffer never grows. */
class Writer {
  readonly buffer: Buffer
  #at = 0

  constructor(bytes: number) {
    this.buffer = Buffer.allocUnsafe(bytes)
  }

  /** Exactly `bytes` bytes must follow. */
  begin(field: number, bytes: number): void {
    this.buffer[this.#at++] = field * 8 + 2
    this.#varint(bytes)
  }

  text(field: number, text: string, bytes: number): void {
    this.begin(field, bytes)
    this.#at +=
      bytes === text.length ? this.buffer.write(text, this.#at, 'latin1') : this.buffer.write(text, this.#at, 'utf8')
  }

  bytes(field: number, bytes: Buffer): void {
    this.begin(field, bytes.length)
    this.raw(bytes)
  }

  number(field: number, value: number): void {
    this.buffer[this.#at++] = field * 8
    this.#varint(value)
  }

  raw(bytes: Buffer): void {
    this.buffer.set(bytes, this.#at)
    this.#at += bytes.length
  }

  #varint(value: number): void {
    let rest = value
    while (rest > 127) {
      this.buffer[this.#at++] = (rest % 128) | 128
      rest = Math.floor(rest / 128)
    }
    this.buffer[this.#at++] = rest
  }
}

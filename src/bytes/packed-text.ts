/**
 * One number holds the kind and the length in bytes. The bytes follow. UTF-8 cannot hold half of a surrogate pair, so such
 * a text is stored as UTF-16, and nothing is lost.
 */
import type { SeededMap } from '../seeded-map.ts'
import type { ByteReader, ByteWriter } from './bytes.ts'

const internedNamesMax = 8_192
const internedNameBytesMax = 512

export const kinds = { utf8: 0, seenBefore: 1, utf16: 2 } as const
const kindBits = 4

/** The names of a row, numbered from 0. A repeated name is written as its number. */
export type WrittenTexts = SeededMap<number>

export const writeText = (writer: ByteWriter, text: string): void => {
  const begin = writer.length
  writer.varint(text.length * kindBits + kinds.utf8)
  if (writer.ascii(text)) return
  writer.backTo(begin)
  const isUtf8 = text.isWellFormed()
  const bytes = Buffer.from(text, isUtf8 ? 'utf8' : 'utf16le')
  writer.varint(bytes.length * kindBits + (isUtf8 ? kinds.utf8 : kinds.utf16))
  writer.bytes(bytes)
}

export const writeUtf8 = (writer: ByteWriter, utf8: Uint8Array): void => {
  writer.varint(utf8.length * kindBits + kinds.utf8)
  writer.bytes(utf8)
}

export const writeNumber = (writer: ByteWriter, number: number): void =>
  writer.varint(number * kindBits + kinds.seenBefore)

export const writeName = (writer: ByteWriter, name: string, seen: WrittenTexts): void => {
  const number = seen.get(name)
  if (number !== undefined) {
    writeNumber(writer, number)
    return
  }
  seen.set(name, seen.size)
  writeText(writer, name)
}

/** @throws RangeError if the bytes are not a packed text */
export const readText = (reader: ByteReader): string => {
  const { kind, from, length } = readHeader(reader)
  return decodeText(reader.bytes.subarray(from, from + length), kind)
}

/** @throws RangeError if the bytes are not a packed text, or refer to a name that is not in `seen` */
export const readName = (reader: ByteReader, seen: string[]): string => {
  const { kind, from, length } = readHeader(reader)
  if (kind === kinds.seenBefore) {
    const name = seen[length]
    if (name === undefined) throw new RangeError('a name in it refers to no earlier name')
    return name
  }
  const name =
    kind === kinds.utf8
      ? interned(reader.bytes, from, length)
      : decodeText(reader.bytes.subarray(from, from + length), kind)
  seen.push(name)
  return name
}

type Header = { readonly kind: number; readonly from: number; readonly length: number }

/** `length` is in bytes. For a repeated name, it is the number of the earlier one, and no bytes follow. */
export const readHeader = (reader: ByteReader): Header => {
  const header = reader.varint()
  const kind = header % kindBits
  const length = Math.floor(header / kindBits)
  return { kind, from: reader.skip(kind === kinds.seenBefore ? 0 : length), length }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** @throws RangeError if the bytes are not such a text */
export const decodeText = (bytes: Uint8Array, kind: number): string => {
  if (kind === kinds.utf16) return Buffer.from(bytes).toString('utf16le')
  if (kind !== kinds.utf8) throw new RangeError('a text in it is of an unknown kind')
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    throw new RangeError('a text in it is not UTF-8', { cause })
  }
}

type Interned = { readonly bytes: Uint8Array; readonly text: string }

// A replay reads the same names a million times. A look-up is faster than decoding, and all readings with a name share one
// string.
const internTable = new Array<Interned | undefined>(internedNamesMax).fill(undefined)

const interned = (bytes: Uint8Array, from: number, length: number): string => {
  let hash = length
  for (let index = from; index < from + length; index++) hash = (Math.imul(hash, 31) + (bytes[index] ?? 0)) | 0
  const index = (hash >>> 0) % internedNamesMax
  const there = internTable[index]
  if (there !== undefined && there.bytes.length === length && isSame(there.bytes, bytes, from)) return there.text

  const own = bytes.slice(from, from + length)
  const text = decodeText(own, kinds.utf8)
  if (length <= internedNameBytesMax) internTable[index] = { bytes: own, text }
  return text
}

const isSame = (own: Uint8Array, bytes: Uint8Array, from: number): boolean => {
  for (let index = 0; index < own.length; index++) if (own[index] !== bytes[from + index]) return false
  return true
}

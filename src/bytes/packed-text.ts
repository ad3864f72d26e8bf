/**
 * Texts inside packed bytes: a header that says kind and length (in bytes), then the bytes. Kinds are what makes it exact:
 * UTF-8 can't hold half a surrogate pair, so such a text goes as UTF-16.
 */
import { internedNameBytesMax, internedNamesMax } from '../limits.ts'
import type { ByteReader, ByteWriter } from './bytes.ts'

const kinds = { utf8: 0, seenBefore: 1, utf16: 2 } as const
const kindBits = 4

/** Texts of one row in the order of their first coming, so that a later one is a number. */
export type WrittenTexts = Map<string, number>

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

/** Like `writeText`, and a text that the row has already is written as its number. */
export const writeName = (writer: ByteWriter, name: string, seen: WrittenTexts): void => {
  const number = seen.get(name)
  if (number !== undefined) {
    writer.varint(number * kindBits + kinds.seenBefore)
    return
  }
  seen.set(name, seen.size)
  writeText(writer, name)
}

/** @throws RangeError if the bytes are no such text. */
export const readText = (reader: ByteReader): string => {
  const { kind, from, length } = readHeader(reader)
  return decode(reader.bytes.subarray(from, from + length), kind)
}

/** @throws RangeError if the bytes are no such name. */
export const readName = (reader: ByteReader, seen: string[]): string => {
  const { kind, from, length } = readHeader(reader)
  if (kind === kinds.seenBefore) {
    const name = seen[length]
    if (name === undefined) throw new RangeError('a name in it points nowhere')
    return name
  }
  const name =
    kind === kinds.utf8
      ? interned(reader.bytes, from, length)
      : decode(reader.bytes.subarray(from, from + length), kind)
  seen.push(name)
  return name
}

type Header = { readonly kind: number; readonly from: number; readonly length: number }

/** Of a text seen before, `length` is its number, and no bytes follow. */
const readHeader = (reader: ByteReader): Header => {
  const header = reader.varint()
  const kind = header % kindBits
  const length = Math.floor(header / kindBits)
  return { kind, from: reader.skip(kind === kinds.seenBefore ? 0 : length), length }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const decode = (bytes: Uint8Array, kind: number): string => {
  if (kind === kinds.utf16) return Buffer.from(bytes).toString('utf16le')
  if (kind !== kinds.utf8) throw new RangeError('a text in it is of an unknown kind')
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    throw new RangeError('a text in it is not UTF-8', { cause })
  }
}

type Interned = { readonly bytes: Uint8Array; readonly text: string }

// Each slot keeps the last text whose bytes hash to it. A replay meets the same few thousand names a million times: looking
// one up costs less than decoding it, and all readings then share one string.
const slots = new Array<Interned | undefined>(internedNamesMax).fill(undefined)

const interned = (bytes: Uint8Array, from: number, length: number): string => {
  let hash = length
  for (let index = from; index < from + length; index++) hash = (Math.imul(hash, 31) + (bytes[index] ?? 0)) | 0
  const slot = (hash >>> 0) % internedNamesMax
  const there = slots[slot]
  if (there !== undefined && there.bytes.length === length && isSame(there.bytes, bytes, from)) return there.text

  const own = bytes.slice(from, from + length)
  const text = decode(own, kinds.utf8)
  // A name is at most a few hundred bytes; anything longer is not worth keeping.
  if (length <= internedNameBytesMax) slots[slot] = { bytes: own, text }
  return text
}

/** Whether `own` lies in `bytes` at that place. */
const isSame = (own: Uint8Array, bytes: Uint8Array, from: number): boolean => {
  for (let index = 0; index < own.length; index++) if (own[index] !== bytes[from + index]) return false
  return true
}

import { secondText } from '../../domain/calendar.ts'
import { Name, type ReadingOfBatch } from '../../domain/reading/columns.ts'
import type { Reading } from '../../domain/reading/fields.ts'
import { hashStep, type NameCache } from '../../domain/reading/name-cache.ts'
import { parseTimestamp } from '../../domain/reading/parse-timestamp.ts'
import { nameCodePointsMax } from '../../limits.ts'

/** Encoders write at most 25 characters. */
export const scannedNumberBytesMax = 32
/** With more, `readingStructuralCharsMax` could be exceeded: a reading has 11, and each other field adds 2. */
export const scannedOtherFieldsMax = 10

/** May be valid all the same. */
export const odd = -1

const none = new Name('')

/** Fields of this object hold what was found: a new object for each reading would take more time than the scan. */
export class ReadingScanner implements ReadingOfBatch {
  readonly #names: NameCache
  #body: Uint8Array = none.utf8
  #cellar: Uint8Array = none.utf8
  rack = none
  keg = none
  value = 0
  timeMs = 0
  text: string | null = null
  /** Ignored, but the bounds of the whole body count them. */
  otherFields = 0
  /**
   * Digits of the year, of month and day, and midnight in ms. Begins with a date that exists: zeros would equal four NUL
   * bytes, which are no date.
   */
  #year = firstYear
  #monthAndDay = firstMonthAndDay
  #midnightMs = 0

  constructor(names: NameCache) {
    this.#names = names
  }

  begin(body: Uint8Array, cellar: Uint8Array): void {
    this.#body = body
    this.#cellar = cellar
  }

  reading(cellar: string): Reading {
    const timestamp = this.text ?? secondText(this.timeMs)
    return { cellar, rack: this.rack.text, keg: this.keg.text, value: this.value, timestamp }
  }

  scan(from: number): number {
    const body = this.#body
    if (body[from] !== openBrace) return odd
    let at = from
    let found = 0
    this.otherFields = 0
    for (;;) {
      at = pastSpace(body, at + 1)
      if (body[at] !== quote) return odd
      const field = fieldAt(body, at + 1)
      // The bounds of the whole body count each of its names and structural characters.
      if ((found & field) !== 0) return odd
      found |= field
      const end = field === noField ? pastPlainText(body, at) : at + nameBytes(field) + 2
      if (end === odd) return odd
      at = pastSpace(body, end)
      if (body[at] !== colon) return odd
      at = this.#readValue(field, pastSpace(body, at + 1))
      if (at === odd) return odd
      at = pastSpace(body, at)
      if (body[at] === comma) continue
      return body[at] === closeBrace && found === allFields ? at + 1 : odd
    }
  }

  #readValue(field: number, at: number): number {
    switch (field) {
      case value:
        return this.#readNumber(at)
      case timestamp:
        return this.#readTimestamp(at)
      case cellar:
        return this.#readCellar(at)
      case noField:
        return this.#passOtherValue(at)
      default:
        return this.#readName(field, at)
    }
  }

  #passOtherValue(at: number): number {
    const body = this.#body
    this.otherFields += 1
    if (this.otherFields > scannedOtherFieldsMax) return odd
    if (body[at] === quote) return pastPlainText(body, at)
    for (const word of words) if (body[at] === word[0]) return pastWord(body, at, word)
    const { value } = this
    const end = this.#readNumber(at)
    this.value = value
    return end
  }

  #readCellar(at: number): number {
    const body = this.#body
    const expected = this.#cellar
    const { length } = expected
    if (body[at] !== quote || body[at + length + 1] !== quote) return odd
    for (let index = 0; index < length; index += 1) {
      // Quotes and backslashes of a name are escaped in JSON, so the bytes differ.
      const byte = expected[index] ?? 0
      if (body[at + 1 + index] !== byte || byte === quote || byte === backslash) return odd
    }
    return at + length + 2
  }

  #readName(field: number, at: number): number {
    const body = this.#body
    if (body[at] !== quote) return odd
    const from = at + 1
    const before = field === rack ? this.rack : this.keg
    const next = this.#names.findNext(body, from, before)
    if (next !== null) {
      if (field === rack) this.rack = next
      else this.keg = next
      return from + next.utf8.length + 1
    }
    let end = from
    let hash = 0
    for (;;) {
      const byte = body[end] ?? 0
      if (byte === quote) break
      if (byte < 0x20 || byte === backslash || end - from === nameBytesMax) return odd
      hash = hashStep(hash, byte)
      end += 1
    }
    const name = this.#names.find(body, from, end, hash)
    if (name === null) return odd
    this.#names.follow(before, name)
    if (field === rack) this.rack = name
    else this.keg = name
    return end + 1
  }

  /**
   * At most 15 digits are an integer that a double holds exactly. So is the power of ten, and the division rounds once, as
   * `JSON.parse` does.
   */
  #readNumber(from: number): number {
    const body = this.#body
    const isNegative = body[from] === minus
    const first = isNegative ? from + 1 : from
    let at = first
    let digits = 0
    while (isDigit(body[at] ?? 0) && at - first < exactDigits) {
      digits = digits * 10 + ((body[at] ?? 0) - zero)
      at += 1
    }
    // JSON has no number like `01`.
    if (at === first || (at > first + 1 && body[first] === zero)) return odd
    let places = 0
    if (body[at] === dot) {
      const point = at
      at += 1
      while (isDigit(body[at] ?? 0) && at - first <= exactDigits) {
        digits = digits * 10 + ((body[at] ?? 0) - zero)
        at += 1
      }
      places = at - point - 1
      if (places === 0) return this.#readLongNumber(from)
    }
    const next = body[at] ?? 0
    if (isDigit(next) || (next | 0x20) === letterE) return this.#readLongNumber(from)
    const magnitude = places === 0 ? digits : digits / (powersOfTen[places] ?? 1)
    this.value = isNegative ? -magnitude : magnitude
    return at
  }

  /** `Number` rounds as `JSON.parse` does, but accepts more forms, such as `.5`. */
  #readLongNumber(from: number): number {
    const body = this.#body
    const first = body[from] === minus ? from + 1 : from
    let at = pastDigits(body, first)
    if (at === first || (at > first + 1 && body[first] === zero)) return odd
    if (body[at] === dot) {
      const places = at + 1
      at = pastDigits(body, places)
      if (at === places) return odd
    }
    if (((body[at] ?? 0) | 0x20) === letterE) {
      at += 1
      if (body[at] === plus || body[at] === minus) at += 1
      const exponent = at
      at = pastDigits(body, exponent)
      if (at === exponent) return odd
    }
    if (at - from > scannedNumberBytesMax) return odd
    this.value = Number(latin1(body, from, at))
    return Number.isFinite(this.value) ? at : odd
  }

  #readTimestamp(at: number): number {
    const body = this.#body
    if (body[at] !== quote) return odd
    const from = at + 1
    if (body[from + 20] !== quote || body[from + 19] !== letterZ) return this.#readLongTimestamp(from)
    const year = intAt(body, from)
    const monthAndDay = ((body[from + 5] ?? 0) << 24) | ((body[from + 6] ?? 0) << 16) | shortAt(body, from + 8)
    if (body[from + 4] !== minus || body[from + 7] !== minus || body[from + 10] !== letterT) return odd
    if (year !== this.#year || monthAndDay !== this.#monthAndDay) {
      const midnightMs = parseTimestamp(`${latin1(body, from, from + 10)}T00:00:00Z`)
      if (typeof midnightMs === 'string') return odd
      this.#year = year
      this.#monthAndDay = monthAndDay
      this.#midnightMs = midnightMs
    }
    if (body[from + 13] !== colon || body[from + 16] !== colon) return odd
    const hour = twoDigits(body, from + 11)
    const minute = twoDigits(body, from + 14)
    const second = twoDigits(body, from + 17)
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return odd
    this.timeMs = this.#midnightMs + (hour * 3_600 + minute * 60 + second) * 1_000
    this.text = null
    return from + 21
  }

  /** With a fraction, or with `+00:00` instead of `Z`. */
  #readLongTimestamp(from: number): number {
    const body = this.#body
    let end = from + 19
    while (end <= from + longTimestampChars && body[end] !== quote) end += 1
    if (body[end] !== quote) return odd
    const text = latin1(body, from, end)
    const timeMs = parseTimestamp(text)
    if (typeof timeMs === 'string') return odd
    this.timeMs = timeMs
    this.text = text
    return end + 1
  }
}

const latin1 = (body: Uint8Array, from: number, end: number): string =>
  Buffer.prototype.latin1Slice.call(body, from, end)

export const pastSpace = (body: Uint8Array, from: number): number => {
  let at = from
  for (let byte = body[at]; byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09; byte = body[at]) at += 1
  return at
}

/** Only ASCII without escapes. `at` is its first quote. */
const pastPlainText = (body: Uint8Array, at: number): number => {
  let end = at + 1
  for (let byte = body[end] ?? 0; byte !== quote; byte = body[end] ?? 0) {
    if (byte < 0x20 || byte > 0x7e || byte === backslash) return odd
    end += 1
  }
  return end + 1
}

const pastWord = (body: Uint8Array, at: number, word: Uint8Array): number => {
  for (let index = 0; index < word.length; index += 1) if (body[at + index] !== word[index]) return odd
  return at + word.length
}

const words = [Buffer.from('true'), Buffer.from('false'), Buffer.from('null')]

const noField = 0
const cellar = 1
const rack = 2
const keg = 4
const value = 8
const timestamp = 16
const allFields = 31

const fieldAt = (body: Uint8Array, at: number): number => {
  switch (body[at]) {
    case 0x63:
      return intAt(body, at + 1) === ella && shortAt(body, at + 5) === rQuote ? cellar : noField
    case 0x72:
      return intAt(body, at + 1) === ackQuote ? rack : noField
    case 0x6b:
      return shortAt(body, at + 1) === eg && body[at + 3] === quote ? keg : noField
    case 0x76:
      return intAt(body, at + 1) === alue && body[at + 5] === quote ? value : noField
    case 0x74:
      return intAt(body, at + 1) === imes && intAt(body, at + 5) === tamp && body[at + 9] === quote
        ? timestamp
        : noField
    default:
      return noField
  }
}

const nameBytes = (field: number): number => {
  switch (field) {
    case cellar:
      return 6
    case rack:
      return 4
    case keg:
      return 3
    case value:
      return 5
    default:
      return 9
  }
}

const intAt = (body: Uint8Array, at: number): number => (shortAt(body, at) << 16) | shortAt(body, at + 2)
const shortAt = (body: Uint8Array, at: number): number => ((body[at] ?? 0) << 8) | (body[at + 1] ?? 0)

const firstYear = intAt(Buffer.from('1970'), 0)
const firstMonthAndDay = intAt(Buffer.from('0101'), 0)
const ella = intAt(Buffer.from('ella'), 0)
const rQuote = shortAt(Buffer.from('r"'), 0)
const ackQuote = intAt(Buffer.from('ack"'), 0)
const eg = shortAt(Buffer.from('eg'), 0)
const alue = intAt(Buffer.from('alue'), 0)
const imes = intAt(Buffer.from('imes'), 0)
const tamp = intAt(Buffer.from('tamp'), 0)

const twoDigits = (body: Uint8Array, at: number): number => {
  const tens = body[at] ?? 0
  const ones = body[at + 1] ?? 0
  return isDigit(tens) && isDigit(ones) ? (tens - zero) * 10 + ones - zero : -1
}

const isDigit = (byte: number): boolean => byte >= zero && byte <= 0x39

const pastDigits = (body: Uint8Array, from: number): number => {
  let at = from
  while (isDigit(body[at] ?? 0)) at += 1
  return at
}

const [quote, plus, comma, minus, dot, zero, colon] = [0x22, 0x2b, 0x2c, 0x2d, 0x2e, 0x30, 0x3a]
const [letterT, letterZ, letterE, backslash] = [0x54, 0x5a, 0x65, 0x5c]
const [openBrace, closeBrace] = [0x7b, 0x7d]

const exactDigits = 15
const powersOfTen = Float64Array.from({ length: exactDigits + 1 }, (_, places) => 10 ** places)
/** A longer name is invalid, so it is not worth a hash. */
const nameBytesMax = 4 * nameCodePointsMax
const longTimestampChars = '2026-03-01T12:00:00.123456789+00:00'.length

/**
 * The error of `JSON.parse` names neither the byte nor the fault. This search never goes back, so its time is linear: at
 * most 2 ms for a megabyte within the bounds of `json-structure.ts`. A function that reads a part of JSON returns the index
 * behind the part, or the fault.
 */
import { assertNever, type JsonFault, type JsonPart } from '../../../domain/refusal.ts'

/** `byte`: the first byte that cannot stand there. For `ends_early`: the length of the body. */
type Fault = { readonly byte: number } & (
  | { readonly fault: JsonFault }
  | { readonly fault: 'ends_early'; readonly inside: JsonPart }
)

/** `item`: index of the last begun item of `readings`, `null` outside of that list. */
type FoundFault = Fault & { readonly item: number | null }

/** `null` if the body is one JSON value. Does not check UTF-8. */
export const findFault = (body: Uint8Array): FoundFault | null => {
  const finder = new FaultFinder(body)
  const fault = finder.find()
  return fault === null ? null : { ...fault, item: finder.item }
}

type Expected = 'value' | 'first_item' | 'first_name' | 'name' | 'colon' | 'end_of_value'

class FaultFinder {
  readonly #body: Uint8Array
  readonly #closers: number[] = []
  #expected: Expected = 'value'
  #isNumberBefore = false
  #isReadings = false
  #itemsBegun: number | null = null

  constructor(body: Uint8Array) {
    this.#body = body
  }

  get item(): number | null {
    return this.#itemsBegun === null || this.#itemsBegun === 0 ? null : this.#itemsBegun - 1
  }

  find(): Fault | null {
    const body = this.#body
    let at = pastSpace(body, pastMark(body))
    while (at < body.length) {
      const step = this.#step(at)
      if (typeof step !== 'number') return step
      at = pastSpace(body, step)
    }
    const closer = this.#closers.at(-1)
    if (closer === undefined && this.#expected === 'end_of_value') return null
    return endsEarly(body, closer === closeBracket ? 'list' : 'object')
  }

  #step(at: number): number | Fault {
    const byte = this.#body[at] ?? 0
    switch (this.#expected) {
      case 'first_item':
        return byte === closeBracket ? this.#close(at) : this.#value(at, byte)
      case 'value':
        return this.#value(at, byte)
      case 'first_name':
        return byte === closeBrace ? this.#close(at) : this.#name(at, byte)
      case 'name':
        return this.#name(at, byte)
      case 'colon':
        if (byte !== colon) return { fault: byte === nul ? 'nul_inside' : 'no_colon', byte: at }
        this.#expected = 'value'
        return at + 1
      case 'end_of_value':
        return this.#endOfValue(at, byte)
      default:
        return assertNever(this.#expected)
    }
  }

  #value(at: number, byte: number): number | Fault {
    const body = this.#body
    const depth = this.#closers.length
    if (byte === comma || byte === closeBrace || byte === closeBracket) {
      return { fault: this.#missingValue(byte), byte: at }
    }
    if (depth === itemDepth && this.#itemsBegun !== null) this.#itemsBegun += 1
    this.#isNumberBefore = false
    if (byte === openBrace || byte === openBracket) {
      if (byte === openBracket && depth === 1 && this.#isReadings) this.#itemsBegun = 0
      this.#closers.push(byte === openBrace ? closeBrace : closeBracket)
      this.#expected = byte === openBrace ? 'first_name' : 'first_item'
      return at + 1
    }
    this.#expected = 'end_of_value'
    if (byte === quote) return pastText(body, at)
    if (byte === minus || isDigit(byte)) {
      this.#isNumberBefore = true
      return pastNumber(body, at)
    }
    return pastWord(body, at) ?? { fault: valueFault(body, at, depth), byte: at }
  }

  #missingValue(byte: number): JsonFault {
    const closer = this.#closers.at(-1)
    if (closer === closeBrace) return 'no_value'
    const isBehindComma = this.#expected === 'value'
    return closer === closeBracket && (isBehindComma || byte === comma) ? 'extra_comma' : 'unexpected'
  }

  #name(at: number, byte: number): number | Fault {
    if (byte !== quote) return { fault: this.#nameFault(byte), byte: at }
    const end = pastText(this.#body, at)
    if (typeof end === 'number' && this.#closers.length === 1) this.#isReadings = startsWith(this.#body, at, readings)
    this.#expected = 'colon'
    return end
  }

  #nameFault(byte: number): JsonFault {
    if (this.#isNumberBefore && isDigit(byte)) return 'decimal_comma'
    const isBehindComma = this.#expected === 'name'
    if (byte === comma || (isBehindComma && (byte === closeBrace || byte === closeBracket))) return 'extra_comma'
    if (byte === nul) return 'nul_inside'
    return isLetter(byte) || isDigit(byte) || otherQuotes.includes(byte) ? 'no_quotes' : 'unexpected'
  }

  #endOfValue(at: number, byte: number): number | Fault {
    const closer = this.#closers.at(-1)
    if (closer === undefined) return { fault: byte === nul ? 'nul_behind' : 'bytes_behind', byte: at }
    if (byte === closer) return this.#close(at)
    if (byte !== comma) return { fault: byte === nul ? 'nul_inside' : 'no_comma', byte: at }
    this.#expected = closer === closeBrace ? 'name' : 'value'
    return at + 1
  }

  #close(at: number): number {
    this.#closers.pop()
    if (this.#closers.length < itemDepth) this.#itemsBegun = null
    this.#isNumberBefore = false
    this.#expected = 'end_of_value'
    return at + 1
  }
}

const pastText = (body: Uint8Array, from: number): number | Fault => {
  for (let at = from + 1; at < body.length; at += 1) {
    const byte = body[at] ?? 0
    if (byte === quote) return at + 1
    if (byte < space) return { fault: byte === nul ? 'nul_inside' : 'control_character', byte: at }
    if (byte !== backslash) continue
    at += 1
    if (at === body.length) break
    if (isEscapable[body[at] ?? 0] !== 1) return { fault: 'escape', byte: at }
    if (body[at] !== letterU) continue
    for (const end = at + 4; at < end; at += 1) {
      if (at + 1 >= body.length) return endsEarly(body, 'text')
      if (!isHexDigit(body[at + 1] ?? 0)) return { fault: 'escape', byte: at + 1 }
    }
  }
  return endsEarly(body, 'text')
}

const pastNumber = (body: Uint8Array, from: number): number | Fault => {
  const whole = body[from] === minus ? from + 1 : from
  const first = body[whole] ?? nothing
  if (!isDigit(first)) {
    if (first === nothing) return endsEarly(body, 'number')
    return { fault: isNoNumber(body, whole) ? 'not_a_number' : first === dot ? 'dot_first' : 'number', byte: whole }
  }
  let at = first === zero ? whole + 1 : pastDigits(body, whole)
  if (first === zero && isDigit(body[at] ?? nothing)) return { fault: 'leading_zero', byte: at }
  if (body[at] === dot) {
    const fraction = at + 1
    at = pastDigits(body, fraction)
    // Old C libraries of Windows print `1.#INF` and `-1.#IND`.
    if (at === fraction) return missingDigit(body, at, body[at] === hash ? 'not_a_number' : 'dot_last')
  }
  if (((body[at] ?? 0) | lowerCase) === letterE) {
    const sign = body[at + 1]
    const exponent = sign === plus || sign === minus ? at + 2 : at + 1
    at = pastDigits(body, exponent)
    if (at === exponent) return missingDigit(body, at, 'number')
  }
  return isPartOfNumber(body[at] ?? nothing) ? { fault: 'number', byte: at } : at
}

const missingDigit = (body: Uint8Array, at: number, fault: JsonFault): Fault =>
  at >= body.length ? endsEarly(body, 'number') : { fault, byte: at }

const pastWord = (body: Uint8Array, from: number): number | Fault | null => {
  for (const word of words) {
    if (startsWith(body, from, word)) return from + word.length
    const rest = body.length - from
    if (rest < word.length && startsWith(body, from, word.subarray(0, rest))) return endsEarly(body, 'word')
  }
  return null
}

const valueFault = (body: Uint8Array, at: number, depth: number): JsonFault => {
  const byte = body[at] ?? 0
  const isSigned = byte === plus
  if (isNoNumber(body, isSigned ? at + 1 : at)) return 'not_a_number'
  if (isSigned) return 'plus_sign'
  if (byte === dot) return 'dot_first'
  if (byte === nul) return 'nul_inside'
  if (depth === 0) return 'unexpected'
  if (isLetter(byte)) return 'word'
  return otherQuotes.includes(byte) ? 'no_quotes' : 'unexpected'
}

/** In upper or lower case, also as the beginning of `Infinity` or `nan(ind)`. */
const isNoNumber = (body: Uint8Array, from: number): boolean => {
  const letters = [from, from + 1, from + 2].map((at) => String.fromCharCode((body[at] ?? 0) | lowerCase)).join('')
  return letters === 'nan' || letters === 'inf'
}

const endsEarly = (body: Uint8Array, inside: JsonPart): Fault => ({ fault: 'ends_early', inside, byte: body.length })

const startsWith = (body: Uint8Array, from: number, word: Uint8Array): boolean => {
  for (let at = 0; at < word.length; at += 1) if (body[from + at] !== word[at]) return false
  return true
}

/** A byte order mark may stand at the beginning (RFC 8259, section 8.1). */
const pastMark = (body: Uint8Array): number => (startsWith(body, 0, byteOrderMark) ? byteOrderMark.length : 0)

const pastSpace = (body: Uint8Array, from: number): number => {
  let at = from
  for (let byte = body[at]; byte === space || byte === tab || byte === lineFeed || byte === carriageReturn; ) {
    at += 1
    byte = body[at]
  }
  return at
}

const pastDigits = (body: Uint8Array, from: number): number => {
  let at = from
  while (isDigit(body[at] ?? nothing)) at += 1
  return at
}

const isDigit = (byte: number): boolean => byte >= zero && byte <= 0x39
const isLetter = (byte: number): boolean => (byte | lowerCase) >= 0x61 && (byte | lowerCase) <= 0x7a
const isHexDigit = (byte: number): boolean =>
  isDigit(byte) || ((byte | lowerCase) >= 0x61 && (byte | lowerCase) <= 0x66)
const isPartOfNumber = (byte: number): boolean => isLetter(byte) || isDigit(byte) || signsOfNumbers.includes(byte)

const itemDepth = 2
/** The byte behind the end: it is no digit and no letter. */
const nothing = -1
/** This bit is set in lower-case letters of ASCII. */
const lowerCase = 0x20

const [nul, tab, lineFeed, carriageReturn, space, quote, hash] = [0x00, 0x09, 0x0a, 0x0d, 0x20, 0x22, 0x23]
const [plus, comma, minus, dot, zero, colon] = [0x2b, 0x2c, 0x2d, 0x2e, 0x30, 0x3a]
const [openBracket, backslash, closeBracket, openBrace, closeBrace] = [0x5b, 0x5c, 0x5d, 0x7b, 0x7d]
const [letterE, letterU] = [0x65, 0x75]

const byteOrderMark = Buffer.from('\ufeff')
const readings = Buffer.from('"readings"')
const words = ['true', 'false', 'null'].map((word) => Buffer.from(word))
/** Searches in a list would take 10 ms for a megabyte of escapes. */
const isEscapable = Uint8Array.from({ length: 256 }, (_, byte) =>
  '"\\/bfnrtu'.includes(String.fromCharCode(byte)) ? 1 : 0,
)
const signsOfNumbers = Buffer.from(".+-_'%")
/** For instance the curved quotes of word processors. */
const otherQuotes = Buffer.from("'`\u201c").subarray(0, 3)

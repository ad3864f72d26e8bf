import { isUtf8 } from 'node:buffer'
import { fieldNames, readingFields } from '../../../domain/reading/fields.ts'
import { jsonNestingMax } from '../../http-bounds.ts'

export const batchNamesMax = 3_000

type StructureFault = 'too_deep' | 'too_many' | 'too_many_names'

/**
 * Bounds the time of `JSON.parse` before it runs (docs/decisions/018-authentication-and-cost-budgets.md). Returns the
 * number of bytes that were checked, or a fault. Overwrites texts in `body` that no reading uses. The engine keeps short
 * texts in a hash table, and an attacker can find texts with equal hashes. Invalid strings stay, so that `JSON.parse`
 * refuses them.
 */
export const limitStructure = (body: Uint8Array, structuralCharsMax: number): number | StructureFault =>
  limitPart(body, structuralCharsMax, { depth: 0, structural: 0, names: 0 })

export type StructureCounts = { depth: number; structural: number; names: number }

/** Goes on from `counts`. Changes `counts` if no bound is passed. */
export const limitPart = (
  body: Uint8Array,
  structuralCharsMax: number,
  counts: StructureCounts,
): number | StructureFault => {
  const { length } = body
  let { depth, structural, names } = counts
  let field = unused
  let isBehindString = false
  for (let at = 0; at < length; at += 1) {
    const role = roles[body[at] ?? 0]
    if (role === none) continue
    if (role === quote) {
      // `JSON.parse` refuses two strings in a row. Going on would be slow: a megabyte of quotes is half a million strings.
      if (isBehindString) return at
      isBehindString = true
      const from = at + 1
      at = endOfString(body, from)
      if (field === unused && isName(body, at)) {
        field = fieldNamed(body, from, at)
        if (field === unused) overwrite(body, from, at)
      } else if (field === name) {
        names += 1
        if (names > batchNamesMax) return 'too_many_names'
      } else if (field !== timestamp || at - from < timestampBytesMin) overwrite(body, from, at)
      continue
    }
    isBehindString = false
    structural += 1
    if (structural > structuralCharsMax) return 'too_many'
    if (role === colon) continue
    field = unused
    if (role === opens) {
      depth += 1
      if (depth > jsonNestingMax) return 'too_deep'
    } else if (role === closes) depth -= 1
  }
  counts.depth = depth
  counts.structural = structural
  counts.names = names
  return length
}

/**
 * The index behind the value. If the value does not end before `end`: `end`, or the index behind the body if a string goes
 * on. Only counts brackets, so the caller must parse the value.
 */
export const endOfValue = (body: Uint8Array, from: number, end: number): number => {
  let depth = 0
  for (let at = from; at < end; at += 1) {
    const role = roles[body[at] ?? 0]
    if (role === quote) {
      at = endOfString(body, at + 1)
      if (depth === 0) return at + 1
    } else if (role === opens) depth += 1
    else if (role === closes) {
      depth -= 1
      if (depth === 0) return at + 1
    }
    if (depth <= 0 && (role === comma || role === closes)) return at
  }
  return end
}

const none = 0
const opens = 1
const closes = 2
const colon = 3
const comma = 4
const quote = 5

const roles = Uint8Array.from({ length: 256 }, (_, byte) => {
  const char = String.fromCharCode(byte)
  if ('{['.includes(char)) return opens
  if ('}]'.includes(char)) return closes
  if (char === ':') return colon
  if (char === ',') return comma
  return char === '"' ? quote : none
})

const quoteMark = 0x22
const backslash = 0x5c
const space = 0x20
const letterU = 0x75
const filler = 0x78

/** Looks at single bytes, because the bytes of longer UTF-8 characters never equal a quote. */
const endOfString = (body: Uint8Array, from: number): number => {
  const { length } = body
  let at = from
  for (; at < length; at += 1) {
    const byte = body[at]
    if (byte === quoteMark) return at
    if (byte === backslash) at += 1
  }
  return at
}

const isName = (body: Uint8Array, end: number): boolean => {
  let at = end + 1
  if (roles[body[at] ?? 0] === colon) return true
  for (let byte = body[at]; byte === space || (byte !== undefined && byte >= 0x09 && byte <= 0x0d); byte = body[at])
    at += 1
  return roles[body[at] ?? 0] === colon
}

const unused = 0
const name = 1
const timestamp = 2
const noText = 3

const roleOf = { name, timestamp, number: noText } as const
const fields = new Map([
  ['readings', noText],
  ...fieldNames.map((field) => [field, roleOf[readingFields[field].kind]] as const),
])
const nameCharsMax = Math.max(...Array.from(fields.keys(), ({ length }) => length))
const fieldsByLength = Array.from({ length: nameCharsMax + 1 }, (_, length) =>
  Array.from(fields, ([text, role]) => ({ utf8: Buffer.from(text), role })).filter(
    ({ utf8 }) => utf8.length === length,
  ),
)

const fieldNamed = (body: Uint8Array, from: number, end: number): number => {
  const known = fieldsByLength[end - from]
  if (known !== undefined) for (const { utf8, role } of known) if (isAt(body, from, utf8)) return role
  return fieldEscaped(body, from, end)
}

const isAt = (body: Uint8Array, from: number, utf8: Uint8Array): boolean => {
  for (let at = 0; at < utf8.length; at += 1) if (body[from + at] !== utf8[at]) return false
  return true
}

/** Finds names with escapes: `"c\u0065llar"` means `"cellar"`. */
const fieldEscaped = (body: Uint8Array, from: number, end: number): number => {
  if (end - from > escapedNameBytesMax || !hasEscape(body, from, end)) return unused
  let text = ''
  for (let at = from; at < end; at += 1) {
    let code = body[at] ?? 0
    if (code === backslash) {
      if (body[at + 1] !== letterU) return unused
      code = hexAt(body, at + 2)
      at += 5
    }
    text += String.fromCharCode(code)
  }
  return fields.get(text) ?? unused
}

const hasEscape = (body: Uint8Array, from: number, end: number): boolean => {
  for (let at = from; at < end; at += 1) if (body[at] === backslash) return true
  return false
}

/** Each character can be an escape of 6 bytes. */
const escapedNameBytesMax = nameCharsMax * 6

/** The code of four hexadecimal digits. Negative if one of them is not a hexadecimal digit. */
const hexAt = (body: Uint8Array, from: number): number =>
  (digitAt(body, from) << 12) |
  (digitAt(body, from + 1) << 8) |
  (digitAt(body, from + 2) << 4) |
  digitAt(body, from + 3)

const digitAt = (body: Uint8Array, at: number): number => hexDigits[body[at] ?? 0] ?? -1

/** By character code; -1 is no digit. */
const hexDigits = Int8Array.from({ length: 256 }, (_, byte) => {
  const digit = Number.parseInt(String.fromCharCode(byte), 16)
  return Number.isNaN(digit) ? -1 : digit
})

const timestampBytesMin = 20

const overwrite = (body: Uint8Array, from: number, end: number): void => {
  if (end < body.length && isValidString(body, from, end)) body.fill(filler, from, end)
}

const isValidString = (body: Uint8Array, from: number, end: number): boolean => {
  let isAscii = true
  for (let at = from; at < end; at += 1) {
    const byte = body[at] ?? 0
    if (byte < space) return false
    if (byte > 0x7e) isAscii = false
    if (byte !== backslash) continue
    at += 1
    const escaped = body[at] ?? 0
    if (escaped !== letterU && !escapable.includes(escaped)) return false
    if (escaped !== letterU) continue
    if (hexAt(body, at + 1) < 0) return false
    at += 4
  }
  return isAscii || isUtf8(body.subarray(from, end))
}

/** `u` may follow a backslash, too, but four digits must follow it. */
const escapable = Buffer.from('"\\/bfnrt')

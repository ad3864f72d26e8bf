import { jsonNestingMax } from '../../limits.ts'

export type StructureFault = 'too_deep' | 'too_many'

/**
 * Counts the structure of a JSON body, byte by byte: levels of nesting, and the characters `{}[]:,` outside strings.
 * `JSON.parse` needs up to 290 ms for a megabyte of opening brackets, so every body is looked at first (decisions, "Cost is
 * bounded, not only count"). The look stops at the first fault.
 *
 * The answer is the number of bytes looked at, or what is wrong. Whether the body is valid JSON is left to `JSON.parse`.
 */
export const lookAtStructure = (body: Uint8Array, structuralCharsMax: number): number | StructureFault => {
  const { length } = body
  let depth = 0
  let structural = 0
  for (let at = 0; at < length; at += 1) {
    const role = roles[body[at] ?? 0]
    if (role === none) continue
    if (role === quote) {
      at = endOfString(body, at + 1)
      continue
    }
    structural += 1
    if (structural > structuralCharsMax) return 'too_many'
    if (role === opens) {
      depth += 1
      if (depth > jsonNestingMax) return 'too_deep'
    } else if (role === closes) depth -= 1
  }
  return length
}

const none = 0
const opens = 1
const closes = 2
const separates = 3
const quote = 4

/** The role of each byte, by its value. */
const roles = Uint8Array.from({ length: 256 }, (_, byte) => {
  const char = String.fromCharCode(byte)
  if ('{['.includes(char)) return opens
  if ('}]'.includes(char)) return closes
  if (':,'.includes(char)) return separates
  return char === '"' ? quote : none
})

/** Where the closing quote lies; the end of the body if there is none. A byte of a longer UTF-8 character is never a quote. */
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

const quoteMark = 0x22
const backslash = 0x5c

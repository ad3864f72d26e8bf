import { encodedReadingBytesBesideData } from '../../limits.ts'
import type { Reading } from './reading.ts'

/**
 * A quick estimate, never below `encodedBytes`. `length` counts UTF-16 code units, and each takes at most 3 bytes in UTF-8.
 * Names have no control characters and no lone surrogates, so JSON escapes only quotes and backslashes. These then take 2
 * bytes. A number takes at most 24 bytes.
 */
export const encodedBytesAtMost = ({ cellar, rack, keg, timestamp }: Reading): number =>
  bytesAtMost(1, { nameChars: cellar.length + rack.length + keg.length, timestampChars: timestamp.length })

/** The same for several readings, from the sums of the lengths of their texts. */
export const bytesAtMost = (
  readings: number,
  { nameChars, timestampChars }: { readonly nameChars: number; readonly timestampChars: number },
): number => 3 * nameChars + timestampChars + readings * (24 + fieldNameBytes + encodedReadingBytesBesideData)

const fieldNameBytes = '{"cellar":"","rack":"","keg":"","value":,"timestamp":""}'.length

/** Counts without writing the JSON: writing 1 MB would stop all other requests for 26 ms. */
export const encodedBytes = ({ cellar, rack, keg, value, timestamp }: Reading): number =>
  jsonBytes(cellar) +
  jsonBytes(rack) +
  jsonBytes(keg) +
  String(value).length +
  timestamp.length +
  fieldNameBytes +
  encodedReadingBytesBesideData

/**
 * Counts quotes and backslashes twice, because JSON writes a backslash before each. JSON also escapes control characters
 * and lone surrogates, but names with such characters are refused before.
 */
const jsonBytes = (name: string): number => {
  let escapes = 0
  for (let at = 0; at < name.length; at += 1) {
    const code = name.charCodeAt(at)
    if (code === quote || code === backslash) escapes += 1
  }
  return Buffer.byteLength(name) + escapes
}

const [quote, backslash] = [0x22, 0x5c]

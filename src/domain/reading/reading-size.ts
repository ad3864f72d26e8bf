import { encodedReadingBytesBesideData } from '../../limits.ts'
import type { Reading } from './reading.ts'

/** Measures the size as JSON, the largest stored form. So the embedded log and EventStoreDB have the same bound. */
export const encodedBytesExceed = (readings: readonly Reading[], bytesMax: number): boolean => {
  // This cheap estimate is never too low, and is enough for nearly every batch.
  if (sumOf(readings, encodedBytesAtMost) <= bytesMax) return false
  return sumOf(readings, encodedBytes) > bytesMax
}

/**
 * A quick estimate, never below `encodedBytes`. `length` counts UTF-16 code units, and each takes at most 3 bytes in UTF-8.
 * Names have no control characters and no lone surrogates, so JSON escapes only quotes and backslashes. These then take 2
 * bytes. A number takes at most 24 bytes.
 */
export const encodedBytesAtMost = ({ cellar, rack, keg, timestamp }: Reading): number =>
  3 * (cellar.length + rack.length + keg.length) +
  timestamp.length +
  24 +
  fieldNameBytes +
  encodedReadingBytesBesideData

const fieldNameBytes = '{"cellar":"","rack":"","keg":"","value":,"timestamp":""}'.length

/** Counts without writing the JSON: writing 1 MB would stop all other requests for 26 ms. */
const encodedBytes = ({ cellar, rack, keg, value, timestamp }: Reading): number =>
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

export const sumOf = (readings: readonly Reading[], bytesOf: (reading: Reading) => number): number => {
  let bytes = 0
  for (const reading of readings) bytes += bytesOf(reading)
  return bytes
}

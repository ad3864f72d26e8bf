import { encodedReadingBytesBesideData } from '../../limits.ts'
import type { Reading } from './reading.ts'

/**
 * What readings take in an append, in the most spacious form that any engine has, JSON: so that the bounds are the same
 * wherever the log lies, and a receipt never depends on the engine.
 */
export const encodedBytesExceed = (readings: readonly Reading[], bytesMax: number): boolean => {
  // Nearly every batch is far below the bound, and then no reading has to be written out.
  if (sumOf(readings, encodedBytesAtMost) <= bytesMax) return false
  return sumOf(readings, encodedBytes) > bytesMax
}

/** Never less than `encodedBytes`: UTF-8 takes at most 3 bytes a code unit, an escaped one 2, and a number 24 characters. */
export const encodedBytesAtMost = ({ cellar, rack, keg, timestamp }: Reading): number =>
  3 * (cellar.length + rack.length + keg.length) +
  timestamp.length +
  24 +
  fieldNameBytes +
  encodedReadingBytesBesideData

const fieldNameBytes = '{"cellar":"","rack":"","keg":"","value":,"timestamp":""}'.length

/** Counts without writing: writing a megabyte of names as JSON holds the event loop for 26 ms. */
const encodedBytes = ({ cellar, rack, keg, value, timestamp }: Reading): number =>
  jsonBytes(cellar) +
  jsonBytes(rack) +
  jsonBytes(keg) +
  String(value).length +
  timestamp.length +
  fieldNameBytes +
  encodedReadingBytesBesideData

/** A name holds no control character and no lone surrogate, so JSON escapes only the quote and the backslash in it. */
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

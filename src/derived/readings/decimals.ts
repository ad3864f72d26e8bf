import type { ByteReader, ByteWriter } from '../../bytes/bytes.ts'

// Most values have few decimals, and most times are whole. So a number that is a whole number of thousandths, or of ms, is
// written as that, in 3 bytes, not 8. The lowest bit tells the two apart.
const thousandths = 1_000
const wholeMax = 2 ** 50

/** A negative zero becomes zero. */
export const writeDecimal = (bytes: ByteWriter, value: number): void => write(bytes, value, thousandths)
export const writeTime = (bytes: ByteWriter, ms: number): void => write(bytes, ms, 1)

export const readDecimal = (reader: ByteReader): number => read(reader, thousandths)
export const readTime = (reader: ByteReader): number => read(reader, 1)

const write = (bytes: ByteWriter, value: number, parts: number): void => {
  const whole = Math.round(value * parts)
  if (whole / parts === value && Math.abs(whole) < wholeMax) {
    bytes.varint((whole < 0 ? -2 * whole - 1 : 2 * whole) * 2)
    return
  }
  bytes.byte(1)
  bytes.float64(value)
}

const read = (reader: ByteReader, parts: number): number => {
  const number = reader.varint()
  if (number === 1) return reader.float64()
  const whole = number / 2
  return (whole % 2 === 0 ? whole / 2 : -(whole + 1) / 2) / parts
}

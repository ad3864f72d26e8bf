import type { ByteReader, ByteWriter } from '../../bytes/bytes.ts'

// Most values have few decimals, and most times are whole. So a number that is a whole number of thousandths is written as
// that, in 3 bytes, not 8. The lowest bit tells the two apart.
const thousandths = 1_000
const thousandthsMax = 2 ** 50

/** A negative zero becomes zero. */
export const writeDecimal = (bytes: ByteWriter, value: number): void => {
  const whole = Math.round(value * thousandths)
  if (whole / thousandths === value && Math.abs(whole) < thousandthsMax) {
    bytes.varint((whole < 0 ? -2 * whole - 1 : 2 * whole) * 2)
    return
  }
  bytes.byte(1)
  bytes.float64(value)
}

export const readDecimal = (reader: ByteReader): number => {
  const number = reader.varint()
  if (number === 1) return reader.float64()
  const whole = number / 2
  return (whole % 2 === 0 ? whole / 2 : -(whole + 1) / 2) / thousandths
}

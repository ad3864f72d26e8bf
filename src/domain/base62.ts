export const base62Digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/**
 * Reads the bytes as one number, highest byte first, and writes the number in base 62. Zeros in front fill the text up to
 * `chars` digits, because keys have a fixed length.
 */
export const base62 = (bytes: Uint8Array, chars: number): string => {
  let rest = 0n
  for (const byte of bytes) rest = rest * 256n + BigInt(byte)
  let text = ''
  while (rest > 0n) {
    text = base62Digits[Number(rest % 62n)] + text
    rest /= 62n
  }
  return text.padStart(chars, '0')
}

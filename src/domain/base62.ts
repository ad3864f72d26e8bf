export const base62Digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Highest byte first. Zeros fill the text, because keys have a fixed length. */
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

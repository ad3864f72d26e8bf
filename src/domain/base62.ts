export const base62Digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Writes the bytes as one big-endian number. Zeros in front make its text at least `chars` digits long. */
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

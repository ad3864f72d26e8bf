/** The result of the last `hashText`. An object for each hash would take most of the time. */
export const textHash = { low: 0, high: 0 }

/** Two hashes of 32 bits. `Bun.hash` returns a bigint, which is five times slower for a short text. */
export const hashText = (text: string): void => {
  let low = 0x811c9dc5
  let high = 0x2545f491
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    low = Math.imul(low ^ code, 0x01000193)
    high = Math.imul(((high << 13) | (high >>> 19)) ^ code, 0x5bd1e995)
  }
  textHash.low = mixed(low)
  textHash.high = mixed(high)
}

/** Each bit of the result depends on all bits of `bits`. */
export const mixed = (bits: number): number => {
  const once = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35)
  return twice ^ (twice >>> 16)
}

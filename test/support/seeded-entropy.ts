import type { Entropy } from '../../src/entropy.ts'

/** Random numbers for tests: the same seed gives the same ids. They come from the generator mulberry32. */
export const seededEntropy = (seed = 1): Entropy => {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  const bytes = (count: number): Uint8Array => Uint8Array.from({ length: count }, () => next() & 0xff)
  return {
    bytes,
    uuid: () => {
      const hex = Buffer.from(bytes(16)).toString('hex')
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`
    },
  }
}

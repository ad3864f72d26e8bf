import type { Entropy } from '../../src/entropy.ts'

/** Whole numbers from 0 up to, but without, 2 ** 32, by the generator mulberry32. The same seed gives the same numbers. */
export const seededNumbers = (seed: number): (() => number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
}

/** Chance for tests: the same seed gives the same ids. */
export const seededEntropy = (seed = 1): Entropy => {
  const next = seededNumbers(seed)
  const bytes = (count: number): Uint8Array => Uint8Array.from({ length: count }, () => next() & 0xff)
  const hex = (count: number): string => Buffer.from(bytes(count)).toString('hex')
  return {
    bytes,
    uuid: () => uuidOf(hex(16), 4),
    requestId: (atMs) => uuidOf(atMs.toString(16).padStart(12, '0') + hex(16).slice(12), 7),
  }
}

const uuidOf = (hex: string, version: 4 | 7): string =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${version}${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`

import { describe, expect, test } from 'bun:test'
import { ByteReader, ByteWriter } from '../../src/bytes/bytes.ts'
import { seededEntropy } from '../support/seeded-entropy.ts'

/** The format in the simplest form. Stored rows depend on it, so it must never change. */
const naive = (value: number): number[] =>
  value > 127 ? [(value % 128) + 128, ...naive(Math.floor(value / 128))] : [value]

const naiveSigned = (value: number): number[] => naive(value < 0 ? -2 * value - 1 : 2 * value)

const written = (write: (writer: ByteWriter) => void): number[] => {
  const writer = new ByteWriter()
  write(writer)
  return [...writer.written]
}

/** Numbers beside each power of two up to `bitsMax`, and random numbers of each length. */
const samples = (bitsMax: number): readonly number[] => {
  const edges = Array.from({ length: bitsMax + 1 }, (_, bits) => [2 ** bits - 1, 2 ** bits, 2 ** bits + 1]).flat()
  const bytes = Buffer.from(seededEntropy(17).bytes(80_000))
  const random = Array.from({ length: 10_000 }, (_, index) =>
    Math.floor((bytes.readUIntBE(index * 8, 6) * 2 ** (bitsMax - 48)) / 2 ** (index % bitsMax)),
  )
  return [0, ...edges, ...random].filter((value) => value < 2 ** bitsMax)
}

describe('a varint', () => {
  test('has the same bytes as the simplest form, up to 2^53 - 1', () => {
    const numbers = samples(53)
    expect(numbers).toContain(Number.MAX_SAFE_INTEGER)
    for (const value of numbers) {
      const bytes = written((writer) => writer.varint(value))
      expect(bytes).toEqual(naive(value))
      expect(new ByteReader(Uint8Array.from(bytes)).varint()).toBe(value)
    }
  })

  test('with a sign has the same bytes as the simplest form, from -2^52', () => {
    const numbers = samples(52).flatMap((value) => [value, -value - 1])
    expect(numbers).toContain(-(2 ** 52))
    for (const value of numbers) {
      const bytes = written((writer) => writer.signedVarint(value))
      expect(bytes).toEqual(naiveSigned(value))
      expect(new ByteReader(Uint8Array.from(bytes)).signedVarint()).toBe(value)
    }
  })
})

import { describe, expect, test } from 'bun:test'
import { readingId } from '../src/domain/uuid.ts'
import { requestIds, systemEntropy } from '../src/entropy.ts'
import { batchReadingsMax } from '../src/limits.ts'
import { seededEntropy } from './support/seeded-entropy.ts'

const atMs = 0x019ca8df0403

/** The request ids of a process that draws its random parts with a seed of its own. */
const processOf = (seed: number) => requestIds(seededEntropy(seed).bytes)

const partAt = 'xxxxxxxx-xxxx-7xxx-'.length
const partOf = (id: string): string => id.slice(partAt, -3)

describe('requestIds()', () => {
  test('writes the instant, a counter, the part of the process, and a 0', () => {
    const id = requestIds(() => Uint8Array.of(0xff, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc))
    const ids = [id(atMs), id(atMs), id(atMs + 1), id(2 ** 48 - 1)]
    expect(ids).toEqual([
      '019ca8df-0403-7000-bf12-3456789ab000',
      '019ca8df-0403-7001-bf12-3456789ab000',
      '019ca8df-0404-7000-bf12-3456789ab000',
      'ffffffff-ffff-7000-bf12-3456789ab000',
    ])
  })

  test('sorts 4,096 ids of a millisecond, then draws a new part', () => {
    const id = processOf(1)
    const ids = Array.from({ length: 4_096 }, () => id(atMs))
    expect(ids.toSorted()).toEqual(ids)
    expect(new Set(ids.map(partOf)).size).toBe(1)
    const next = id(atMs)
    expect(next.slice(0, partAt)).toBe(ids[0]?.slice(0, partAt) ?? '')
    expect(partOf(next)).not.toBe(partOf(ids[0] ?? ''))
  })

  test('keeps its part while the clock goes on', () => {
    const id = processOf(1)
    const ids = Array.from({ length: 10_000 }, (_, index) => id(atMs + Math.floor(index / 3)))
    expect(new Set(ids.map(partOf)).size).toBe(1)
    expect(ids.toSorted()).toEqual(ids)
  })

  test('makes no id twice when the clock was set back', () => {
    const id = processOf(1)
    const instants = [0, 0, 1, 2, 0, 0, 1, 2, -5, 0, 1, 0].map((laterMs) => atMs + laterMs)
    const ids = instants.map(id)
    expect(new Set(ids).size).toBe(ids.length)
    // The clock went back three times.
    expect(new Set(ids.map(partOf)).size).toBe(4)
  })

  test('makes no id of another process, or of the process before a restart', () => {
    const ids = [1, 2, 3].flatMap((seed) => {
      const id = processOf(seed)
      return Array.from({ length: 5_000 }, () => id(atMs))
    })
    expect(new Set(ids).size).toBe(15_000)
  })

  test('leaves room for the readings of the largest batches in one millisecond', () => {
    const id = processOf(1)
    const ids = Array.from({ length: 20 }, () => id(atMs)).flatMap((requestId) =>
      Array.from({ length: batchReadingsMax }, (_, index) => readingId(requestId, index)),
    )
    expect(new Set(ids).size).toBe(20 * batchReadingsMax)
    expect(ids.toSorted()).toEqual(ids)
  })
})

test('each process of the system draws a part of its own', async () => {
  const script = `import { systemEntropy } from '${import.meta.resolve('../src/entropy.ts')}'
    console.log(systemEntropy.requestId(${atMs}))`
  const idOf = async (): Promise<string> => {
    const { stdout } = Bun.spawn([process.execPath, '-e', script])
    return (await new Response(stdout).text()).trim()
  }
  const ids = await Promise.all([idOf(), idOf(), systemEntropy.requestId(atMs)])
  expect(new Set(ids.map(partOf)).size).toBe(3)
})

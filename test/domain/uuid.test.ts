import { describe, expect, test } from 'bun:test'
import { readingId } from '../../src/domain/uuid.ts'
import { batchReadingsMax } from '../../src/limits.ts'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

describe('the id of a reading', () => {
  test("is the request's id for the first reading", () => {
    expect(readingId('00112233-4455-4677-8899-aabbccddeeff', 0)).toBe('00112233-4455-4677-8899-aabbccddeeff')
    expect(readingId('request 1', 0)).toBe('request 1')
  })

  test('adds 1 to the last 12 bits for each further reading, and wraps around', () => {
    const requestId = '00112233-4455-4677-8899-aabbccddeffe'
    expect([1, 2, 3].map((index) => readingId(requestId, index))).toEqual([
      '00112233-4455-4677-8899-aabbccddefff',
      '00112233-4455-4677-8899-aabbccdde000',
      '00112233-4455-4677-8899-aabbccdde001',
    ])
  })

  test('is another UUID for each reading of the largest batch', () => {
    for (const requestId of ['00112233-4455-4677-8899-aabbccddefff', '00112233-4455-4677-8899-aabbccdde000']) {
      const ids = Array.from({ length: batchReadingsMax }, (_, index) => readingId(requestId, index))
      expect(new Set(ids).size).toBe(batchReadingsMax)
      for (const id of ids) expect(id).toMatch(uuid)
    }
  })

  test('is the same in any order, and between those of other requests', () => {
    const requestIds = ['00112233-4455-4677-8899-aabbccddefff', 'ffeeddcc-4455-4677-8899-aabbccdde00a']
    const idsOf = (requestId: string) => [5, 1, 4_095, 2, 0, 5].map((index) => readingId(requestId, index).slice(-3))
    const alone = requestIds.map(idsOf)
    expect(alone[0]).toEqual(['004', '000', 'ffe', '001', 'fff', '004'])
    const between = [5, 1, 4_095, 2, 0, 5].map((index) => requestIds.map((id) => readingId(id, index).slice(-3)))
    expect(requestIds.map((_, which) => between.map((pair) => pair[which]))).toEqual(alone)
  })

  test('throws for an id that does not end in hex digits', () => {
    for (const id of ['request 1', '1g2', 'FFF', '']) {
      expect(() => readingId(id, 1)).toThrow('does not end in hex digits')
    }
  })
})

import { describe, expect, test } from 'bun:test'
import { meaningsOf } from '../../../src/domain/search/what-to-find.ts'
import { batchReadingsMax } from '../../../src/limits.ts'

const id = '019ca8df-0403-7000-8000-000000000000'
const stream = 'readings-7Qp2mZ4k'

describe('meaningsOf()', () => {
  test.each([
    ['the receipt of a reading', `${stream}@976`, [{ kind: 'receipt', stream, first: 976, last: 976 }]],
    ['the receipt of a batch', ` ${stream}@976-980 `, [{ kind: 'receipt', stream, first: 976, last: 980 }]],
    ['a place in another stream', 'key-7Qp2mZ4k@0', [{ kind: 'receipt', stream: 'key-7Qp2mZ4k', first: 0, last: 0 }]],
    ['the id of a request', id, [{ kind: 'id', id }]],
    ['an id in upper case', id.toUpperCase(), [{ kind: 'id', id }]],
    ['the id of a key', '7Qp2mZ4k', [{ kind: 'key', keyId: '7Qp2mZ4k' }]],
    ['the beginning of a key', 'clr_7Qp2mZ4k', [{ kind: 'key', keyId: '7Qp2mZ4k' }]],
    ['a key as pages show it', 'clr_7Qp2mZ4k_…', [{ kind: 'key', keyId: '7Qp2mZ4k' }]],
    ['a position', '976', [{ kind: 'position', position: 976 }]],
    ['a position as pages show it', '18,204,117', [{ kind: 'position', position: 18_204_117 }]],
    ['an instant', '2026-03-01T10:14:07Z', [{ kind: 'instant', atMs: Date.UTC(2026, 2, 1, 10, 14, 7) }]],
  ] as const)('recognizes %s', (_, text, meanings) => {
    expect(meaningsOf(text)).toEqual([...meanings])
  })

  test('gives all meanings of a number', () => {
    expect(meaningsOf('1772360047')).toEqual([
      { kind: 'position', position: 1_772_360_047 },
      { kind: 'instant', atMs: 1_772_360_047_000 },
    ])
    expect(meaningsOf('12345678')).toEqual([
      { kind: 'position', position: 12_345_678 },
      { kind: 'key', keyId: '12345678' },
    ])
  })

  test.each([
    '',
    'yesterday',
    '1,23',
    '1234,567',
    'wine-berlin',
    'strangers-7Qp2mZ4k@1',
    `${stream}@`,
    `${stream}@9-8`,
    `${stream}@1-${1 + batchReadingsMax}`,
    '9007199254740993',
    '-1',
  ])('finds no meaning in %p', (text) => {
    expect(meaningsOf(text)).toEqual([])
  })

  test('takes a receipt of the largest batch', () => {
    expect(meaningsOf(`${stream}@1-${batchReadingsMax}`)).toHaveLength(1)
  })
})

import { expect, test } from 'bun:test'
import { askRowsPerPart } from '../../../src/limits.ts'
import { buffersOf, packedParts, unpackedPart } from '../../../src/log/ask-index/packed-change.ts'
import type { AskChange } from '../../../src/log/ask-index.ts'
import { changeTo, oneOfEach } from './sample-change.ts'

const texts = ['', 'kælder', '地下室', '🍷\n', '\ud83c', 'plain']
const textAt = (index: number): string => `${texts[index % texts.length]}${index}`

/** What the thread gets of a change: its head, all rows, and the number of rows in each part. */
const sentOf = (change: AskChange) => {
  const parts = [...packedParts(change)].map((part) =>
    unpackedPart(structuredClone(part, { transfer: [...buffersOf(part)] })),
  )
  const heads = parts.map(({ head }) => head)
  expect(heads.map((head) => head === null)).toEqual(heads.map((_, index) => index > 0))
  expect(parts.map(({ isLast }) => isLast)).toEqual(parts.map((_, index) => index === parts.length - 1))
  const hourCounts = parts.flatMap((part) => [...part.hourCounts])
  const seen = parts.flatMap((part) => [...part.seen])
  const rowsOf = (part: (typeof parts)[number]): number => [...part.hourCounts, ...part.seen].length
  return { change: { ...heads[0], hourCounts, seen }, rows: parts.map(rowsOf) }
}

test('a change says the same after it was sent to a thread in parts', () => {
  const sizes = [0, 6, askRowsPerPart - 1, askRowsPerPart, askRowsPerPart + 1, 2 * askRowsPerPart + 7]
  for (const hours of sizes) {
    for (const racks of sizes) {
      const change: AskChange = {
        ...oneOfEach(9),
        hourCounts: Array.from({ length: hours }, (_, index) => ({
          cellar: `c${index % 2}`,
          key: textAt(index),
          hour: 5,
          code: textAt(index % 7),
          count: 2 ** 50 + index,
        })),
        seen: Array.from({ length: racks }, (_, minute) => ({ key: `k ${minute}`, rack: textAt(minute), minute })),
      }
      const sent = sentOf(change)
      expect<unknown>(sent.change).toEqual(change)
      expect(Math.max(...sent.rows)).toBeLessThanOrEqual(askRowsPerPart)
    }
  }
  expect<unknown>(sentOf(changeTo(9, 3)).change).toEqual(changeTo(9, 3))
})

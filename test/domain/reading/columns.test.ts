import { describe, expect, test } from 'bun:test'
import {
  ColumnsBuilder,
  columnSlabReadingsMin,
  Name,
  type ReadingColumns,
  unusedColumnSlabsMax,
} from '../../../src/domain/reading/columns.ts'
import { batchReadingsMax } from '../../../src/limits.ts'

const cellar = new Name('wine')

const pushMany = (builder: ColumnsBuilder, count: number, name: string): void => {
  builder.begin(cellar)
  for (let index = 0; index < count; index += 1) {
    builder.push({ rack: new Name(name), keg: new Name(name), value: index, timeMs: 0, text: null })
  }
}

const columnsWith = (count: number, builder = new ColumnsBuilder()): ReadingColumns => {
  pushMany(builder, count, 'r')
  return builder.finish()
}

const manyColumns = (many: number): readonly ReadingColumns[] =>
  Array.from({ length: many }, () => columnsWith(columnSlabReadingsMin))

/** So that each test begins without unused slabs. */
const useAllSlabs = (): void => void manyColumns(unusedColumnSlabsMax)

const usedAgain = (before: readonly ReadingColumns[], after: readonly ReadingColumns[]): number => {
  const lists = new Set(before.map(({ values }) => values))
  return after.filter(({ values }) => lists.has(values)).length
}

describe('the lists of a large batch', () => {
  test('serve a later batch after they were given back, and not before', () => {
    useAllSlabs()
    const first = columnsWith(columnSlabReadingsMin)
    expect(usedAgain([first], [columnsWith(batchReadingsMax)])).toBe(0)
    first.giveBack()
    const later = columnsWith(batchReadingsMax)
    expect([later.values, later.timesMs]).toEqual([first.values, first.timesMs])
    expect(later.values).toBe(first.values)
    expect(later.racks).toBe(first.racks)
  })

  test('serve one later batch only, even if they are given back twice', () => {
    useAllSlabs()
    const first = columnsWith(columnSlabReadingsMin)
    first.giveBack()
    first.giveBack()
    expect(usedAgain([first], manyColumns(2))).toBe(1)
  })

  test('are not used again for a batch below the bound', () => {
    useAllSlabs()
    const small = columnsWith(columnSlabReadingsMin - 1)
    small.giveBack()
    expect(small.racks[0]?.text).toBe('r')
    expect(small.values.length).toBe(columnSlabReadingsMin - 1)
    expect(usedAgain([small], manyColumns(1))).toBe(0)
  })

  test('keep no names while they are unused, not even those of earlier batches', () => {
    const builder = new ColumnsBuilder()
    pushMany(builder, batchReadingsMax, 'of a refused batch')
    const columns = columnsWith(columnSlabReadingsMin, builder)
    columns.giveBack()
    expect(columns.racks.length).toBe(batchReadingsMax)
    for (const list of [columns.racks, columns.kegs]) expect(list.filter(({ text }) => text !== '')).toEqual([])
  })

  test.each([
    [unusedColumnSlabsMax, unusedColumnSlabsMax],
    [unusedColumnSlabsMax + 1, unusedColumnSlabsMax],
  ])('that are given back by %d batches serve %d later batches', (many, kept) => {
    useAllSlabs()
    const before = manyColumns(many)
    for (const columns of before) columns.giveBack()
    expect(usedAgain(before, manyColumns(many))).toBe(kept)
  })
})

test('copy() does nothing for an index behind the batch, where lists hold other readings', () => {
  const builder = new ColumnsBuilder()
  pushMany(builder, batchReadingsMax, 'of a refused batch')
  const columns = columnsWith(columnSlabReadingsMin, builder)
  const other = new ColumnsBuilder()
  other.begin(cellar)
  other.copy(columns, columnSlabReadingsMin)
  expect(other.count).toBe(0)
  other.copy(columns, columnSlabReadingsMin - 1)
  expect(other.count).toBe(1)
})

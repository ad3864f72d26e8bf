import { describe, expect, test } from 'bun:test'
import { ToldRacks } from '../../../src/domain/ask/told-racks.ts'
import { ColumnsBuilder, Name, type ReadingColumns } from '../../../src/domain/reading/columns.ts'
import { toldListReadingsMin } from '../../../src/limits.ts'

describe('ToldRacks', () => {
  test('tells a pair once a minute, whether the rack has a name or not', () => {
    const told = new ToldRacks()
    const first = told.keyMinute('k1', 10)
    const rack = new Name('rack-1')
    expect(told.isNew(rack, first)).toBe(true)
    expect(told.isNew(rack, first)).toBe(false)
    expect(told.isNew(new Name('rack-1'), first)).toBe(false)
    expect(told.isNewText('rack-1', first)).toBe(false)
    expect(told.isNewText('rack-2', first)).toBe(true)
    expect(told.isNew(rack, told.keyMinute('k2', 10))).toBe(true)
    expect(told.isNew(rack, first)).toBe(false)
    expect(told.isNew(rack, told.keyMinute('k1', 11))).toBe(true)
  })

  test('tells all again after clear(), and shares nothing with another table', () => {
    const told = new ToldRacks()
    const rack = new Name('rack-1')
    expect(told.isNew(rack, told.keyMinute('k1', 10))).toBe(true)
    expect(new ToldRacks().isNew(rack, new ToldRacks().keyMinute('k1', 10))).toBe(true)
    told.clear()
    expect(told.isNew(rack, told.keyMinute('k1', 10))).toBe(true)
  })

  test('takes no pair for another one', () => {
    const told = new ToldRacks()
    for (let key = 0; key < 300; key += 1) {
      const minute = told.keyMinute(`key${key}`, 10)
      for (let rack = 0; rack < 1_000; rack += 1) {
        if (!told.isNewText(`rack-${rack}`, minute)) throw new Error(`rack-${rack} of key${key} is not new`)
      }
    }
  })

  test('tells each list of racks once a minute for each key', () => {
    const told = new ToldRacks()
    const first = told.keyMinute('k1', 10)
    const racks = Array.from({ length: toldListReadingsMin }, (_, index) => `rack-${index}`)
    expect(told.isNewList(batchOf(racks), first)).toBe(true)
    expect(told.isNewList(batchOf(racks), first)).toBe(false)
    expect(told.isNewList(batchOf(racks.toReversed()), first)).toBe(true)
    expect(told.isNewList(batchOf([...racks, 'rack-0']), first)).toBe(true)
    expect(told.isNewList(batchOf(racks.with(7, 'other')), first)).toBe(true)
    expect(told.isNewList(batchOf(racks), told.keyMinute('k2', 10))).toBe(true)
    expect(told.isNewList(batchOf(racks), told.keyMinute('k1', 11))).toBe(true)
    told.clear()
    expect(told.isNewList(batchOf(racks), told.keyMinute('k1', 10))).toBe(true)
  })

  test('always looks at each rack of a small batch', () => {
    const told = new ToldRacks()
    const batch = batchOf(Array.from({ length: toldListReadingsMin - 1 }, (_, index) => `rack-${index}`))
    expect(told.isNewList(batch, told.keyMinute('k1', 10))).toBe(true)
    expect(told.isNewList(batch, told.keyMinute('k1', 10))).toBe(true)
  })

  test('takes no list for another one', () => {
    const told = new ToldRacks()
    const minute = told.keyMinute('k1', 10)
    const racks = Array.from({ length: toldListReadingsMin }, (_, index) => `rack-${index}`)
    for (let first = 0; first < racks.length; first += 1) {
      for (let second = 0; second < racks.length; second += 1) {
        const changed = racks.with(first, `a${second}`).with(second, `b${first}`)
        if (!told.isNewList(batchOf(changed), minute)) throw new Error(`The list of ${first} and ${second} is not new`)
      }
    }
  })

  test('forgets the oldest pairs of a full set, and only tells them again', () => {
    const told = new ToldRacks(0)
    const minute = told.keyMinute('k1', 10)
    const racks = Array.from({ length: 11 }, (_, index) => `rack-${index}`)
    for (const rack of racks) expect(told.isNewText(rack, minute)).toBe(true)
    for (const rack of racks.slice(1)) expect(told.isNewText(rack, minute)).toBe(false)
    expect(told.isNewText('rack-0', minute)).toBe(true)
  })
})

const batchOf = (racks: readonly string[]): ReadingColumns => {
  const builder = new ColumnsBuilder()
  builder.begin(new Name('cellar'))
  for (const rack of racks) builder.push(new Name(rack), new Name('temperature'), 1, 0, null)
  return builder.finish()
}

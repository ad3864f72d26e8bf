import { expect, test } from 'bun:test'
import { BoundedMap } from '../../src/domain/bounded-map.ts'

const filled = (entriesMax: number): BoundedMap<string, number> => {
  const map = new BoundedMap<string, number>(entriesMax)
  for (let entry = 0; entry < entriesMax; entry += 1) map.set(`key-${entry}`, entry)
  return map
}

const keptOf = (map: BoundedMap<string, number>, count: number): readonly string[] =>
  Array.from({ length: count }, (_, entry) => `key-${entry}`).filter((key) => map.has(key))

test('A bounded map drops the oldest entry only past its bound', () => {
  const map = filled(3)
  expect(keptOf(map, 4)).toEqual(['key-0', 'key-1', 'key-2'])
  map.set('key-3', 3)
  expect(keptOf(map, 4)).toEqual(['key-1', 'key-2', 'key-3'])
})

test('A bounded map keeps an entry longer that is set again, not read', () => {
  const map = filled(3)
  map.set('key-0', 7)
  expect(map.get('key-1')).toBe(1)
  map.set('key-3', 3)
  expect(keptOf(map, 4)).toEqual(['key-0', 'key-2', 'key-3'])
  expect(map.get('key-0')).toBe(7)
})

test('A bounded map drops the next entry if the oldest must stay', () => {
  const staying = new Set([0, 1])
  const map = new BoundedMap<string, number>(3, (value) => staying.has(value))
  for (let entry = 0; entry < 4; entry += 1) map.set(`key-${entry}`, entry)
  expect(keptOf(map, 4)).toEqual(['key-0', 'key-1', 'key-3'])
  staying.clear()
  // It counts as set when it was to be dropped, so the entry that was set after that goes later.
  map.set('key-4', 4)
  expect(keptOf(map, 5)).toEqual(['key-0', 'key-1', 'key-4'])
  map.set('key-5', 5)
  expect(keptOf(map, 6)).toEqual(['key-1', 'key-4', 'key-5'])
})

test('A bounded map is larger only while all its entries must stay', () => {
  let mustStay = true
  const map = new BoundedMap<string, number>(2, () => mustStay)
  for (let entry = 0; entry < 4; entry += 1) map.set(`key-${entry}`, entry)
  expect(keptOf(map, 4)).toHaveLength(4)
  mustStay = false
  map.set('key-4', 4)
  expect(keptOf(map, 5)).toEqual(['key-3', 'key-4'])
})

test('A bounded map has room again after an entry is deleted', () => {
  const map = filled(3)
  map.delete('key-1')
  map.set('key-3', 3)
  expect(keptOf(map, 4)).toEqual(['key-0', 'key-2', 'key-3'])
  map.clear()
  expect(keptOf(map, 4)).toEqual([])
})

test('A bounded map keeps its bound and its order over many rounds', () => {
  const map = new BoundedMap<number, number>(100)
  const model: number[] = []
  const clears = [2_500, 5_000]
  for (let step = 0; step < 10_000; step += 1) {
    const key = (step * 7_919) % 331
    const isKept = model.indexOf(key)
    if (isKept >= 0) model.splice(isKept, 1)
    if (step % 13 === 0) map.delete(key)
    else {
      map.set(key, step)
      model.push(key)
      if (model.length > 100) model.shift()
    }
    if (clears.includes(step)) {
      map.clear()
      model.length = 0
    }
    if (step % 97 === 0) {
      const kept = Array.from({ length: 331 }, (_, each) => each).filter((each) => map.has(each))
      expect(kept).toEqual(model.toSorted((a, b) => a - b))
    }
  }
})

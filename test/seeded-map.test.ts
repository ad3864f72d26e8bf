import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { ofOneHash } from '../bench/load/worst-bodies.ts'
import { SeededMap, seededHash } from '../src/seeded-map.ts'

test('A seeded map holds what a map holds, whatever the hashes of its keys', () => {
  const steps = fc.array(fc.record({ key: fc.string({ maxLength: 3 }), value: fc.option(fc.integer()) }))
  for (const hash of [seededHash, () => 7, (key: string) => key.length]) {
    fc.assert(
      fc.property(steps, (taken) => {
        const [map, model] = [new SeededMap<number>(hash), new Map<string, number>()]
        for (const { key, value } of taken) {
          if (value === null) {
            map.delete(key)
            model.delete(key)
          } else {
            map.set(key, value)
            model.set(key, value)
          }
          expect(map.size).toBe(model.size)
          for (const { key: one } of taken) expect(map.get(one)).toBe(model.get(one))
        }
      }),
    )
  }
})

test('Names of one hash in the engine have different seeded hashes, behind any prefix', () => {
  for (const prefix of ['', 'a', 'x'.repeat(20), '🍷'.repeat(100)]) {
    const names = Array.from({ length: 10_000 }, (_, index) => prefix + ofOneHash(index))
    expect(new Set(names.map(seededHash)).size).toBeGreaterThan(9_900)
  }
})

test('Names of which one continues the other have different seeded hashes', () => {
  const names = Array.from({ length: 256 }, (_, length) => '\0'.repeat(length))
  expect(new Set(names.map(seededHash)).size).toBe(256)
})

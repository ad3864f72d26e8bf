import { expect, test } from 'bun:test'
import { Keg, numbersPerKeg } from '../../projections/keg.ts'
import { KegMemory } from '../../projections/keg-memory.ts'
import { Rack } from '../../projections/rack.ts'

test('a rack finds each of its few or many kegs', () => {
  for (const count of [1, 2, 16, 17, 18, 40]) {
    const memory = new KegMemory(numbersPerKeg)
    const kegs = Array.from({ length: count }, (_, number) => new Keg('rack', `keg-${number}`, memory))
    const rack = new Rack()
    expect(rack.isEmpty).toBe(true)
    for (const keg of kegs) rack.add(keg)
    const found = () => kegs.filter((keg) => rack.get(keg.keg) === keg)
    expect(found()).toEqual(kegs)
    expect(rack.get('keg')).toBeUndefined()
    const [odd, even] = [kegs.filter((_, number) => number % 2 === 1), kegs.filter((_, number) => number % 2 === 0)]
    for (const keg of odd) rack.delete(keg)
    expect(found()).toEqual(even)
    for (const keg of odd) rack.add(keg)
    expect(found()).toEqual(kegs)
    for (const keg of kegs) rack.delete(keg)
    expect([found(), rack.isEmpty]).toEqual([[], true])
  }
})

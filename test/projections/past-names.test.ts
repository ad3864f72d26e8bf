import { expect, test } from 'bun:test'
import { PastNames, pastNamesMax } from '../../projections/past-names.ts'

/** The name 'name 0' ends at position 10, 'name 1' at position 20, and so on. */
const renamed = (times: number): PastNames => {
  const names = new PastNames()
  for (let name = 0; name < times; name += 1) names.end('7Qp2mZ4k', `name ${name}`, 10 * (name + 1))
  return names
}

const nameAt = (names: PastNames, position: number, id = '7Qp2mZ4k') => names.at(id, position, 'now')

test('a thing has the name that it had just before an event', () => {
  const names = renamed(2)
  expect([9, 10, 11, 20, 21].map((position) => nameAt(names, position))).toEqual([
    'name 0',
    'name 0',
    'name 1',
    'name 1',
    'now',
  ])
  expect(nameAt(names, 5, 'another')).toBe('now')
})

test('as many names as the bound are remembered, and one more is not known', () => {
  expect(nameAt(renamed(pastNamesMax), 1)).toBe('name 0')
  const more = renamed(pastNamesMax + 1)
  expect([nameAt(more, 1), nameAt(more, 11)]).toEqual([null, 'name 1'])
  const many = renamed(3 * pastNamesMax)
  const oldest = 2 * pastNamesMax
  expect([nameAt(many, 10 * oldest), nameAt(many, 10 * oldest + 1)]).toEqual([null, `name ${oldest}`])
})

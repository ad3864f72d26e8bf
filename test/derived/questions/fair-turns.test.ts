import { expect, test } from 'bun:test'
import { FairTurns } from '../../../src/derived/questions/fair-turns.ts'

test('an owner with many questions delays another one by one turn', async () => {
  const turns = new FairTurns()
  const taken: string[] = []
  const take = (owner: string): Promise<void> => turns.next(owner).then(() => void taken.push(owner))
  const many = Array.from({ length: 100 }, () => take('mallory'))
  const few = Array.from({ length: 3 }, () => take('eve'))
  await Promise.all([...many, ...few])
  expect(taken.slice(0, 7)).toEqual(['mallory', 'eve', 'mallory', 'eve', 'mallory', 'eve', 'mallory'])
  expect(taken).toHaveLength(103)
})

import { describe, expect, test } from 'bun:test'
import { FairQueue } from '../../../src/actors/operator/fair-queue.ts'

const queueOf = (items: string, bounds = { waitingMax: 100, perOwnerMax: 100 }): FairQueue<string> => {
  const queue = new FairQueue<string>(bounds)
  for (const item of items.split(' ')) expect(queue.put(item.slice(0, 1), item)).toBe(true)
  return queue
}

const rest = (queue: FairQueue<string>): string => {
  const items: string[] = []
  for (let item = queue.next(); item !== null; item = queue.next()) items.push(item)
  return items.join(' ')
}

describe('FairQueue', () => {
  test('serves owners in turn, and the items of each in order', () => {
    expect(rest(queueOf('a1 a2 a3 a4 b1 b2 c1'))).toBe('a1 b1 c1 a2 b2 a3 a4')
  })

  test('puts an owner that has been served behind those that wait', () => {
    const queue = queueOf('a1 a2 b1')
    expect(queue.next()).toBe('a1')
    queue.put('c', 'c1')
    queue.put('a', 'a3')
    expect(rest(queue)).toBe('b1 a2 c1 a3')
  })

  test('bounds its items, and the items of one owner', () => {
    const queue = queueOf('a1 a2 b1', { waitingMax: 4, perOwnerMax: 2 })
    expect(queue.put('a', 'a3')).toBe(false)
    expect(queue.put('b', 'b2')).toBe(true)
    expect(queue.put('c', 'c1')).toBe(false)
    expect([queue.next(), queue.put('c', 'c1'), queue.put('d', 'd1')]).toEqual(['a1', true, false])
    expect([queue.size, rest(queue), queue.size]).toEqual([4, 'b1 a2 c1 b2', 0])
  })

  test('passes over owners that may not go, and keeps their turn', () => {
    const queue = queueOf('a1 a2 b1 c1')
    expect([queue.next((owner) => owner === 'b'), queue.next(() => false), queue.size]).toEqual(['b1', null, 3])
    expect(rest(queue)).toBe('a1 c1 a2')
  })

  test('has room again after items are taken out', () => {
    const queue = queueOf('a1 a2 b1 b2', { waitingMax: 4, perOwnerMax: 2 })
    expect(queue.takeOut((item) => item === 'a1' || item.startsWith('b'))).toEqual(['a1', 'b1', 'b2'])
    expect([queue.put('a', 'a3'), queue.put('a', 'a4'), queue.put('b', 'b3')]).toEqual([true, false, true])
    expect([queue.size, rest(queue)]).toEqual([3, 'a2 b3 a3'])
  })
})

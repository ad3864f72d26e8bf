import { describe, expect, test } from 'bun:test'
import { OperatorTurns } from '../../../../src/http/dashboard/door/operator-turns.ts'

const bounds = { runningMax: 3, runningPerOperatorMax: 2, waitingMax: 5, waitingPerOperatorMax: 4 }

/** Pages that run until they are told to `finish`. `begun` has their names, in order. */
const heldPages = () => {
  const turns = new OperatorTurns(bounds)
  const begun: string[] = []
  const finishes = new Map<string, () => void>()
  const run = (name: string, signal: AbortSignal | null = null): Promise<string | null> =>
    turns.run({ email: name.slice(0, 1), signal }, async () => {
      begun.push(name)
      await new Promise<void>((resolve) => finishes.set(name, resolve))
      return name
    })
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  const finish = async (name: string): Promise<void> => {
    finishes.get(name)?.()
    await settled()
  }
  return { turns, begun, run, finish, settled }
}

describe('OperatorTurns', () => {
  test('begins as many pages of an operator as are allowed, and leaves places for others', async () => {
    const { begun, run, turns, settled } = heldPages()
    for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) void run(name)
    await settled()
    expect([begun, turns.running, turns.waiting]).toEqual([['a1', 'a2', 'b1'], 3, 3])
  })

  test('lets operators take turns', async () => {
    const { begun, run, finish, settled } = heldPages()
    for (const name of ['a1', 'a2', 'b1', 'a3', 'a4', 'a5', 'b2', 'c1']) void run(name)
    await settled()
    for (const name of ['a1', 'a2', 'b1', 'a3', 'b2']) await finish(name)
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'b2', 'c1', 'a4', 'a5'])
  })

  test('turns away the first page beyond those of an operator, and beyond all that wait', async () => {
    const { run, turns } = heldPages()
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'b1']) void run(name)
    expect([turns.running, turns.waiting]).toEqual([3, 4])
    expect(await run('a7')).toBeNull()
    void run('c1')
    expect(turns.waiting).toBe(5)
    expect(await run('d1')).toBeNull()
  })

  test('forgets a waiting page when its browser has gone', async () => {
    const { begun, run, finish, turns } = heldPages()
    const leaving = new AbortController()
    for (const name of ['a1', 'a2']) void run(name)
    const waiting = run('a3', leaving.signal)
    void run('a4')
    leaving.abort()
    expect([await waiting, turns.waiting]).toEqual([null, 1])
    await finish('a1')
    expect(begun).toEqual(['a1', 'a2', 'a4'])
  })

  test('gives the place of a failed page to the next', async () => {
    const turns = new OperatorTurns(bounds)
    const fail = (): Promise<never> => Promise.reject(new Error('a fault'))
    for (let page = 0; page <= bounds.runningPerOperatorMax; page += 1)
      await expect(turns.run({ email: 'a', signal: null }, fail)).rejects.toThrow('a fault')
    expect(turns.running).toBe(0)
  })
})

import { describe, expect, test } from 'bun:test'
import { caughtUp, collect } from '../support/logs/collector.ts'
import { faultyLog } from '../support/logs/faulty-log.ts'
import { createMemoryLog } from '../support/logs/memory-log.ts'
import { keySuspended } from '../support/logs/sample-events.ts'
import { describeEventLog } from './contract.ts'

describeEventLog('fault-free faulty', async () => {
  const log = faultyLog(createMemoryLog())
  return { log, dispose: () => log.close() }
})

describe('faultyLog()', () => {
  const cases = [
    { fault: 'not_written', outcome: 'not_written', stored: 0 },
    { fault: 'unknown_not_written', outcome: 'unknown', stored: 0 },
    { fault: 'unknown_written', outcome: 'unknown', stored: 1 },
  ] as const
  for (const { fault, outcome, stored } of cases) {
    test(`fails the planned append alone: ${fault}`, async () => {
      const inner = createMemoryLog()
      const log = faultyLog(inner)
      await log.append('key-one', 'none', [keySuspended()])
      log.failAppend({ fault, nth: 2, reason: 'full' })
      expect(await log.append('key-one', 0, [keySuspended()])).toMatchObject({ outcome: 'written' })
      await expect(log.append('key-one', 1, [keySuspended()])).rejects.toMatchObject({ outcome, reason: 'full' })
      expect(await inner.read('key-one', { limit: 9 })).toHaveLength(2 + stored)
      expect(await log.append('key-one', 1 + stored, [keySuspended()])).toMatchObject({ outcome: 'written' })
      expect(log.appends).toBe(4)
    })
  }

  test('is away from a planned fault until it comes back', async () => {
    const inner = createMemoryLog()
    const log = faultyLog(inner)
    const follower = collect(log, { after: null })
    await follower.until(caughtUp)
    log.failAppend({ fault: 'unknown_written', thenAway: true })
    await expect(log.append('key-one', 'none', [keySuspended()])).rejects.toMatchObject({ outcome: 'unknown' })
    await expect(log.append('key-one', 0, [keySuspended()])).rejects.toMatchObject({ outcome: 'not_written' })
    await expect(log.read('key-one', { limit: 1 })).rejects.toMatchObject({ outcome: 'not_written' })
    expect(log.health()).toMatchObject({ ok: false })
    expect(follower.told.at(-1)).toMatchObject({ dropped: { outcome: 'not_written' } })

    log.comeBack()
    expect(log.health()).toEqual({ ok: true })
    expect(await log.read('key-one', { limit: 9 })).toHaveLength(1)
  })

  for (const { where, stored } of [
    { where: 'before', stored: 0 },
    { where: 'after', stored: 1 },
  ] as const) {
    test(`holds appends ${where} they happen until they are released`, async () => {
      const inner = createMemoryLog()
      const log = faultyLog(inner)
      const held = log.hold(where)
      const answer = log.append('key-one', 'none', [keySuspended()])
      // Waits more turns of the event loop than an append needs. So an append that is still open is really held.
      for (let turn = 0; turn < 20; turn++) await inner.read('key-one', { limit: 1 })
      expect(held.waiting).toBe(1)
      expect(await inner.read('key-one', { limit: 9 })).toHaveLength(stored)
      held.release()
      expect(await answer).toMatchObject({ outcome: 'written' })
      expect(await log.append('key-one', 0, [keySuspended()])).toMatchObject({ outcome: 'written' })
    })
  }
})

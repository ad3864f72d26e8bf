import { describe, expect, test } from 'bun:test'
import type { OpenedLog } from '../../log/contract.ts'
import { caughtUp, collect } from './collector.ts'
import { freshKeyStream, freshReadingsStream, keySuspended, keySuspensions, reading } from './sample-events.ts'

/**
 * A log in this process makes one promise more than other logs: subscribers get an append's events before its caller gets
 * the answer.
 */
export const describeInProcessLog = (name: string, open: () => Promise<OpenedLog>): void => {
  describe(`${name} log in this process`, () => {
    test('delivers an append’s events before its answer', async () => {
      const { log, dispose } = await open()
      const collector = collect(log, { after: null })
      await collector.until(caughtUp)
      const result = await log.append(freshKeyStream(), 'none', keySuspensions(3))
      if (result.outcome !== 'written') throw new Error(`a fresh stream answered ${result.outcome}`)
      expect(collector.events).toHaveLength(3)
      for (const [index, event] of result.events.entries()) expect(collector.events[index]).toBe(event)
      await dispose()
    })

    test('gives positions without gaps', async () => {
      const { log, dispose } = await open()
      for (let turn = 0; turn < 4; turn++) await log.append(freshKeyStream(), 'none', keySuspensions(1 + turn))
      const all = await log.readAll({ limit: 100 })
      expect(all.map(({ position }) => position)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
      await dispose()
    })

    test('hides truncated events in the whole log', async () => {
      const { log, dispose } = await open()
      const [readings, key] = [freshReadingsStream(), freshKeyStream()]
      await log.append(readings, 'none', [reading(readings)])
      await log.append(readings, 0, [reading(readings), reading(readings), reading(readings)])
      await log.append(key, 'none', keySuspensions(1))
      await log.truncate(readings, 2)
      const left = [3, 4, 5]
      expect((await log.readAll({ limit: 10 })).map(({ position }) => position)).toEqual(left)
      const back = await log.readAll({ limit: 10, direction: 'backwards' })
      expect(back.map(({ position }) => position)).toEqual(left.toReversed())
      for (const after of [null, 1, 2]) {
        const follower = collect(log, { after })
        await follower.until(caughtUp)
        follower.subscription.unsubscribe()
        expect(follower.events.map(({ position }) => position)).toEqual(left)
      }
      await dispose()
    })

    test('finishes a delivery before it delivers a subscriber’s append', async () => {
      const { log, dispose } = await open()
      const [first, second] = [freshKeyStream(), freshKeyStream()]
      const causing = collect(log, { after: null }, ({ stream }) => {
        if (stream === first) log.append(second, 'none', [keySuspended()]).catch(() => {})
      })
      const witness = collect(log, { after: null })
      await Promise.all([causing.until(caughtUp), witness.until(caughtUp)])
      await log.append(first, 'none', [keySuspended()])
      await witness.until(({ events }) => events.length === 2)
      expect(witness.events.map(({ stream }) => stream)).toEqual([first, second])
      await dispose()
    })
  })
}

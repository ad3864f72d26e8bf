import { expect, test } from 'bun:test'
import { createAsk } from '../../../src/actors/ask/ask-requests.ts'
import { systemSchedule } from '../../../src/actors/schedule.ts'
import { nextTurn } from '../../../src/log/pages-of-log.ts'
import { mostInOneTurn } from '../../support/most-in-one-turn.ts'

test('all queries of ask.db together run one step in each turn of the event loop', async () => {
  let steps = 0
  const index = {
    *find() {
      for (let step = 0; step < 20; step += 1) {
        steps += 1
        yield
      }
      return { places: [], lookedTo: null }
    },
  }
  const follower = { query: (ask: (asked: typeof index) => unknown) => ask(index) }
  const ask = createAsk({ schedule: systemSchedule } as never, follower as never)
  const found = Promise.all(Array.from({ length: 30 }, () => ask.find({} as never, {} as never)))
  // The first step of a query does not wait.
  await nextTurn()
  expect(await mostInOneTurn(() => steps, found)).toBeLessThanOrEqual(2)
  expect(steps).toBe(30 * 20)
})

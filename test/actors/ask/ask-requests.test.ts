import { expect, test } from 'bun:test'
import { createAsk } from '../../../src/actors/ask/ask-requests.ts'
import { systemSchedule } from '../../../src/actors/schedule.ts'
import type { AskReader } from '../../../src/derived/ask/ask-reader.ts'
import { askTurnMs } from '../../../src/limits.ts'
import { MemoryAskIndex } from '../../support/ask/memory-ask-index.ts'
import { createMemoryLog } from '../../support/logs/memory-log.ts'
import { mostInOneTurn } from '../../support/most-in-one-turn.ts'

const stepMs = askTurnMs / 4

/** Each question has 20 steps, and each step takes `stepMs`. */
const asking = () => {
  let passedMs = 0
  let steps = 0
  const index = new MemoryAskIndex()
  index.seenRacks = function* () {
    for (let step = 0; step < 20; step += 1) {
      passedMs += stepMs
      steps += 1
      yield
    }
    return []
  }
  const store = { progress: () => ({ position: null, isBehind: false, trouble: null }), upTo: async () => {} }
  const reader: Pick<AskReader, 'ask' | 'inSteps'> = { ask: (use) => use(index), inSteps: (begin) => begin(index) }
  const host = { log: createMemoryLog(), schedule: systemSchedule }
  return { ask: createAsk({ host, store, reader, passedMs: () => passedMs }), steps: () => steps }
}

test('all questions together take only a few steps in each turn', async () => {
  const { ask, steps } = asking()
  const answers = Promise.all(Array.from({ length: 30 }, () => ask.seenRacks('one', 5)))
  const most = await mostInOneTurn(steps, answers)
  expect(steps()).toBe(30 * 20)
  // The work of two turns can lie between two looks.
  expect(most).toBeLessThanOrEqual(2 * (askTurnMs / stepMs))
  expect(most).toBeGreaterThan(1)
})

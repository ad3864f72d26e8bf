import { expect, test } from 'bun:test'
import type { SearchQuestion } from '../../../src/derived/questions/question.ts'
import { type Ended, QuestionTurns, type SearchParts } from '../../../src/derived/questions/question-turns.ts'
import { numbersModel } from './number-questions.ts'

const noProgress = { isPatient: false, progress: { position: null, isBehind: false, trouble: null }, reached: null }

test('the time of a search leaves out its waits for the turns of others', async () => {
  let nowMs = 0
  let turnsOfSearch: Pick<SearchParts, 'turn' | 'passedMs'> | null = null
  /** Each step takes 1 ms. Returns how long its steps took. */
  const quick: SearchQuestion<null, number> = {
    model: numbersModel,
    search: async ({ passedMs }) => {
      const beganMs = passedMs()
      for (let step = 0; step < 10; step += 1) {
        await turnsOfSearch?.turn()
        nowMs += 1
      }
      return passedMs() - beganMs
    },
  }
  const slow = {
    model: numbersModel,
    *answer(): Generator<void, null> {
      for (let step = 0; step < 10; step += 1) {
        nowMs += 100
        yield
      }
      return null
    },
  }
  const ended = Promise.withResolvers<Ended>()
  const took = new Map<number, number>()
  const noRead = async (): Promise<never> => {
    throw new Error('This search reads nothing')
  }
  const turns = new QuestionTurns({
    kinds: { quick, slow },
    readers: { open: () => ({ database: null, asOf: null }) } as never,
    openSearch: (parts) => {
      turnsOfSearch = parts
      return { ...parts, log: { read: noRead, readAll: noRead }, ask: {} as never, cellarOfKey: noRead }
    },
    onEnd: (id, end, tookMs) => {
      took.set(id, tookMs)
      if (id === 1) ended.resolve(end)
    },
    onDamage: () => {},
    passedMs: () => nowMs,
  })
  turns.begin({ id: 2, name: 'slow', parameters: null, owner: 'mallory', ...noProgress })
  turns.begin({ id: 1, name: 'quick', parameters: null, owner: 'eve', ...noProgress })
  expect(await ended.promise).toEqual({ kind: 'answered', answer: 10, asOf: null })
  expect(nowMs).toBeGreaterThan(500)
  expect(took.get(1)).toBe(10)
})

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { followerPatientMsMax } from '../../../src/derived/derived-store.ts'
import type { ModelProgress } from '../../../src/derived/follower-messages.ts'
import {
  type QuestionParts,
  questionRestartMsMin,
  questionsHere,
  questionsOnThread,
  questionsOpenMax,
} from '../../../src/derived/questions/asked-questions.ts'
import type { Questions } from '../../../src/derived/questions/question.ts'
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary-folder.ts'
import { makeNumbers, moveHead, noSearches, numberQuestions } from './number-questions.ts'

type NumberQuestions = Questions<typeof numberQuestions>

const threadModule = new URL('./number-questions-thread.ts', import.meta.url)

type Parts = QuestionParts<typeof numberQuestions>

const places = [
  ['on a thread', (parts: Parts) => questionsOnThread(parts, threadModule)],
  ['in the process', (parts: Parts) => questionsHere(parts, noSearches)],
] as const

/** A follower that has opened each file once. It notes what it is told. */
const followerOf = () => {
  const rebuilt: unknown[] = []
  return {
    rebuilt,
    upTo: async (_model: string, _msMax?: number) => true,
    progress: (): ModelProgress => ({ position: null, isBehind: false, trouble: null }),
    opening: () => 1,
    rebuild: (...told: unknown[]) => rebuilt.push(told),
  }
}

const answered = (answer: number, position: number | null) => {
  const asOf = position === null ? null : { position, stream: 'readings-k1', revision: 0, id: 'id-1' }
  return { kind: 'answered' as const, answer, asOf, isBehind: false }
}

describe.each(places)('questions that are answered %s', (_, open) => {
  let folder: TemporaryFolder
  let questions: NumberQuestions
  let follower: ReturnType<typeof followerOf>

  beforeEach(() => {
    folder = temporaryFolder()
    follower = followerOf()
    questions = open({
      kinds: numberQuestions,
      source: { dataDir: folder.path, eventStore: null, logId: 'log-1' },
      store: follower,
      reached: () => null,
      passedMs: () => 0,
      onFault: (why) => expect(why).toBe(''),
    })
  })

  afterEach(async () => {
    await questions.close()
    folder.remove()
  })

  const sum = (signal?: AbortSignal) => questions.ask('sum', { below: 10 }, { signal, owner: 'anna' })

  const howManyEndless = async (): Promise<number | null> => {
    const told = await questions.ask('howManyEndless', null, { owner: 'anna' })
    return told.kind === 'answered' ? told.answer : null
  }

  test('see what the follower has committed, and say up to which event', async () => {
    const numbers = makeNumbers(folder.path, { position: 7 })
    expect(await sum()).toEqual(answered(0, 7))
    numbers.run('BEGIN')
    numbers.run('INSERT INTO numbers VALUES (4), (5), (60)')
    moveHead(numbers, 8)
    expect(await sum()).toEqual(answered(0, 7))
    numbers.run('COMMIT')
    expect(await sum()).toEqual(answered(9, 8))
    numbers.close()
    expect(await sum()).toEqual(answered(9, 8))
  })

  test('tell how long their thread worked', async () => {
    makeNumbers(folder.path, { position: 7 }).close()
    const took: number[] = []
    await questions.ask('sum', { below: 10 }, { owner: 'anna', onTook: (ms) => took.push(ms) })
    expect(took).toEqual([expect.any(Number)])
  })

  test('are not ready while the file is missing, or of another format or log', async () => {
    expect(await sum()).toEqual({ kind: 'not_ready' })
    makeNumbers(folder.path, { position: 1, format: 2 }).close()
    expect(await sum()).toEqual({ kind: 'not_ready' })
    rmSync(join(folder.path, 'numbers.db'))
    makeNumbers(folder.path, { position: 1, logId: 'log-2' }).close()
    expect(await sum()).toEqual({ kind: 'not_ready' })
    rmSync(join(folder.path, 'numbers.db'))
    expect(await sum()).toEqual({ kind: 'not_ready' })
    makeNumbers(folder.path, { position: null }).close()
    expect(await sum()).toEqual(answered(0, null))
    expect(follower.rebuilt).toEqual([])
  })

  test('wait for the follower, and say whether it is behind', async () => {
    const numbers = makeNumbers(folder.path, { position: 7 })
    const waits: (number | undefined)[] = []
    follower.upTo = async (_, msMax) => {
      moveHead(numbers, 8)
      waits.push(msMax)
      return true
    }
    expect(await sum()).toEqual(answered(0, 8))
    await questions.ask('sum', { below: 10 }, { owner: 'anna', isPatient: true })
    expect(waits).toEqual([undefined, followerPatientMsMax])
    follower.upTo = async () => false
    expect(await sum()).toEqual({ ...answered(0, 8), isBehind: true })
    follower.progress = () => ({ position: null, isBehind: true, trouble: null })
    expect(await sum()).toEqual({ ...answered(0, 8), isBehind: true })
    follower.upTo = async () => true
    let known: ModelProgress = { position: 8, isBehind: false, trouble: 'disk I/O error' }
    follower.progress = () => {
      const before = known
      known = { position: 9, isBehind: false, trouble: null }
      return before
    }
    expect(await sum()).toEqual({ ...answered(0, 8), isBehind: true })
    numbers.close()
  })

  test('are not ready while a new file has less than the follower has committed', async () => {
    const numbers = makeNumbers(folder.path, { position: null })
    follower.progress = () => ({ position: 8, isBehind: false, trouble: null })
    expect(await sum()).toEqual({ kind: 'not_ready' })
    moveHead(numbers, 7)
    expect(await sum()).toEqual({ kind: 'not_ready' })
    moveHead(numbers, 8)
    expect(await sum()).toEqual(answered(0, 8))
    numbers.close()
    expect(follower.rebuilt).toEqual([])
  })

  test('have a damaged file built again, and read the file that takes its place', async () => {
    writeFileSync(join(folder.path, 'numbers.db'), 'no database'.repeat(1_000))
    expect(await sum()).toEqual({ kind: 'not_ready' })
    expect(follower.rebuilt).toEqual([['numbers', 1, 'file is not a database']])
    truncateSync(join(folder.path, 'numbers.db'))
    makeNumbers(folder.path, { position: 2 }).close()
    expect(await sum()).toEqual(answered(0, 2))
  })

  test('have a file built again whose head does not match its checksum', async () => {
    const numbers = makeNumbers(folder.path, { position: 2 })
    numbers.run('UPDATE head SET position = 3')
    numbers.close()
    expect(await sum()).toEqual({ kind: 'not_ready' })
    expect(follower.rebuilt).toEqual([['numbers', 1, 'its head does not match its checksum']])
  })

  test('do not have a file built again that another program has locked', async () => {
    const numbers = makeNumbers(folder.path, { position: 1 })
    numbers.run('PRAGMA locking_mode = EXCLUSIVE')
    moveHead(numbers, 2)
    expect(await sum()).toEqual({ kind: 'not_now' })
    numbers.close()
    expect(await sum()).toEqual(answered(0, 2))
    expect(follower.rebuilt).toEqual([])
  })

  test('are answered although an endless question is open, which ends with its signal', async () => {
    makeNumbers(folder.path, { position: 1 }).close()
    const gone = new AbortController()
    const endless = questions.ask('endless', null, { signal: gone.signal, owner: 'anna' })
    expect((await sum()).kind).toBe('answered')
    expect(await howManyEndless()).toBe(1)
    gone.abort()
    expect(await endless).toEqual({ kind: 'not_now' })
    expect(await howManyEndless()).toBe(0)
    expect(await sum(gone.signal)).toEqual({ kind: 'not_now' })
    expect((await sum()).kind).toBe('answered')
  })

  test('are refused beyond the bound, until one of them ends', async () => {
    makeNumbers(folder.path, { position: 1 }).close()
    const gone = new AbortController()
    const open = Array.from({ length: questionsOpenMax - 1 }, () =>
      questions.ask('endless', null, { signal: gone.signal, owner: 'anna' }),
    )
    expect((await sum()).kind).toBe('answered')
    const last = new AbortController()
    open.push(questions.ask('endless', null, { signal: last.signal, owner: 'anna' }))
    expect(await sum()).toEqual({ kind: 'not_now' })
    last.abort()
    expect((await sum()).kind).toBe('answered')
    gone.abort()
    await Promise.all(open)
  })

  test('reject if they have a bug', async () => {
    makeNumbers(folder.path, { position: 1 }).close()
    await expect(questions.ask('bug', null, { owner: 'anna' })).rejects.toThrow('no such table: missing')
    expect((await sum()).kind).toBe('answered')
  })

  test('get the answer "not now" when the service closes', async () => {
    makeNumbers(folder.path, { position: 1 }).close()
    const endless = questions.ask('endless', null, { owner: 'anna' })
    await questions.close()
    expect([await endless, await sum()]).toEqual([{ kind: 'not_now' }, { kind: 'not_now' }])
  })
})

test('a thread that has crashed answers "not now", and starts again a second later', async () => {
  const folder = temporaryFolder()
  makeNumbers(folder.path, { position: 1 }).close()
  const faults: string[] = []
  let nowMs = 0
  const parts = {
    kinds: numberQuestions,
    store: followerOf(),
    source: { dataDir: folder.path, eventStore: null, logId: 'log-1' },
    reached: () => null,
    passedMs: () => nowMs,
    onFault: (why: string) => faults.push(why),
  }
  const questions = questionsOnThread(parts, threadModule)
  const open = [questions.ask('endless', null, { owner: 'anna' }), questions.ask('crash', null, { owner: 'anna' })]
  expect(await Promise.all(open)).toEqual([{ kind: 'not_now' }, { kind: 'not_now' }])
  expect(faults).toEqual(['The thread that answers questions has ended: the thread has crashed'])
  nowMs = questionRestartMsMin - 1
  expect(await questions.ask('sum', { below: 1 }, { owner: 'anna' })).toEqual({ kind: 'not_now' })
  nowMs += 1
  expect((await questions.ask('sum', { below: 1 }, { owner: 'anna' })).kind).toBe('answered')
  await questions.close()
  folder.remove()
})

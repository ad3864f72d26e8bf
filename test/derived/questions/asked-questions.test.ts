import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { questionsHere, questionsOnThread } from '../../../src/derived/questions/asked-questions.ts'
import type { Questions } from '../../../src/derived/questions/question.ts'
import { questionRestartMsMin, questionsOpenMax } from '../../../src/limits.ts'
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary-folder.ts'
import { makeNumbers, numberQuestions } from './number-questions.ts'

type NumberQuestions = Questions<typeof numberQuestions>

const threadModule = new URL('./number-questions-thread.ts', import.meta.url)

const places = [
  [
    'on a thread',
    (parts: Parameters<typeof questionsOnThread>[0]) => questionsOnThread<typeof numberQuestions>(parts, threadModule),
  ],
  ['in the process', (parts: Parameters<typeof questionsOnThread>[0]) => questionsHere(parts, numberQuestions)],
] as const

const asOf = (position: number) => ({ position, stream: 'readings-k1', revision: 0 })

describe.each(places)('questions that are answered %s', (_, open) => {
  let folder: TemporaryFolder
  let questions: NumberQuestions
  let nowMs = 0
  const faults: string[] = []

  beforeEach(() => {
    folder = temporaryFolder()
    nowMs = 0
    faults.length = 0
    questions = open({
      folder: { dataDir: folder.path, logId: 'log-1' },
      passedMs: () => nowMs,
      onFault: (why) => faults.push(why),
    })
  })

  afterEach(async () => {
    await questions.close()
    folder.remove()
  })

  const sum = (signal?: AbortSignal) => questions.ask('sum', { below: 10 }, { signal })

  const howManyEndless = async (): Promise<number | null> => {
    const told = await questions.ask('howManyEndless', null)
    return told.kind === 'answered' ? told.answer : null
  }

  test('see what the follower has committed, and say up to which event', async () => {
    const numbers = makeNumbers(folder.path, { position: 7 })
    expect(await sum()).toEqual({ kind: 'answered', answer: 0, asOf: asOf(7) })
    numbers.run('BEGIN')
    numbers.run('INSERT INTO numbers VALUES (4), (5), (60)')
    numbers.run('UPDATE head SET position = 8')
    expect(await sum()).toEqual({ kind: 'answered', answer: 0, asOf: asOf(7) })
    numbers.run('COMMIT')
    expect(await sum()).toEqual({ kind: 'answered', answer: 9, asOf: asOf(8) })
    numbers.close()
    expect(await sum()).toEqual({ kind: 'answered', answer: 9, asOf: asOf(8) })
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
    expect(await sum()).toEqual({ kind: 'answered', answer: 0, asOf: null })
    expect(faults).toEqual([])
  })

  test('report a damaged file, and read the file that takes its place', async () => {
    writeFileSync(join(folder.path, 'numbers.db'), 'no database'.repeat(1_000))
    expect(await sum()).toEqual({ kind: 'not_now' })
    expect(faults).toEqual(['Cannot read numbers.db: file is not a database'])
    truncateSync(join(folder.path, 'numbers.db'))
    makeNumbers(folder.path, { position: 2 }).close()
    expect(await sum()).toEqual({ kind: 'answered', answer: 0, asOf: asOf(2) })
  })

  test('are answered although an endless question is open, which ends with its signal', async () => {
    makeNumbers(folder.path, { position: 1 }).close()
    const gone = new AbortController()
    const endless = questions.ask('endless', null, { signal: gone.signal })
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
      questions.ask('endless', null, { signal: gone.signal }),
    )
    expect((await sum()).kind).toBe('answered')
    const last = new AbortController()
    open.push(questions.ask('endless', null, { signal: last.signal }))
    expect(await sum()).toEqual({ kind: 'not_now' })
    last.abort()
    expect((await sum()).kind).toBe('answered')
    gone.abort()
    await Promise.all(open)
  })

  test('reject if they have a bug', async () => {
    makeNumbers(folder.path, { position: 1 }).close()
    await expect(questions.ask('bug', null)).rejects.toThrow('no such table: missing')
    expect((await sum()).kind).toBe('answered')
  })

  test('get the answer "not now" when the service closes', async () => {
    makeNumbers(folder.path, { position: 1 }).close()
    const endless = questions.ask('endless', null)
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
    folder: { dataDir: folder.path, logId: 'log-1' },
    passedMs: () => nowMs,
    onFault: (why: string) => faults.push(why),
  }
  const questions = questionsOnThread<typeof numberQuestions>(parts, threadModule)
  const open = [questions.ask('endless', null), questions.ask('crash', null)]
  expect(await Promise.all(open)).toEqual([{ kind: 'not_now' }, { kind: 'not_now' }])
  expect(faults).toEqual(['The thread that answers questions has ended: the thread has crashed'])
  nowMs = questionRestartMsMin - 1
  expect(await questions.ask('sum', { below: 1 })).toEqual({ kind: 'not_now' })
  nowMs += 1
  expect((await questions.ask('sum', { below: 1 })).kind).toBe('answered')
  await questions.close()
  folder.remove()
})

import { median, percentile, table } from '../figures.ts'
import { type Posting, pacedLoad } from '../lag.ts'
import type { PacedResult } from '../load/paced-load.ts'
import type { Answered, Question } from './asked-about.ts'

/** Between two questions, so that they come as people ask, and not as fast as they can. */
const pauseMs = 10

type Asked = { readonly ms: number; readonly answered: Answered }

/** By the name of the question. */
type Times = ReadonlyMap<string, readonly Asked[]>

export type Asking = {
  readonly rounds: number
  readonly load: Posting & { readonly perSecond: number }
}

/** Asks all questions in turn, first alone and then under load, and prints a table of both. */
export const measureQuestions = async (
  what: string,
  questions: readonly Question[],
  { rounds, load }: Asking,
): Promise<void> => {
  const alone = await askAll(questions, rounds)
  const [loaded, loads] = await whileLoaded(load, () => askAll(questions, rounds))
  const rows = questions.map(({ name }) => [
    name,
    ...figures(alone, name),
    ...figures(loaded, name),
    countOf('found', [alone, loaded], name),
    countOf('offers_to_go_on', [alone, loaded], name),
  ])
  console.log(
    `\n${what}, alone, and while readings come at ${load.perSecond.toFixed(0)}/s. ${rounds} rounds each. All times are in ms.\n`,
  )
  console.log(table([['question', 'alone p50', 'p95', 'loaded p50', 'p95', 'found', 'offered to go on'], ...rows]))
  const p99s = loads.map(({ p99Ms }) => p99Ms)
  console.log(
    `\nReadings meanwhile: p50 ${median(loads.map(({ p50Ms }) => p50Ms)).toFixed(1)} ms, p99 ${median(p99s).toFixed(1)} ms, medians of ${loads.length} loads of ${load.seconds} s`,
  )
}

/** Two questions of one name are about different events. */
const askAll = async (questions: readonly Question[], rounds: number): Promise<Times> => {
  const times = new Map<string, Asked[]>(questions.map(({ name }) => [name, []]))
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, ask } of questions) {
      const startMs = performance.now()
      const answered = await ask(round)
      times.get(name)?.push({ ms: performance.now() - startMs, answered })
      await Bun.sleep(pauseMs)
    }
  }
  return times
}

/** Starts the load again and again until the work is done. */
const whileLoaded = async <T>(load: Posting, work: () => Promise<T>): Promise<readonly [T, readonly PacedResult[]]> => {
  let isDone = false
  const results: PacedResult[] = []
  const loading = async (): Promise<void> => {
    while (!isDone) results.push(await pacedLoad(load))
  }
  const working = async (): Promise<T> => {
    try {
      return await work()
    } finally {
      isDone = true
    }
  }
  const [done] = await Promise.all([working(), loading()])
  return [done, results]
}

const figures = (times: Times, name: string): readonly string[] => {
  const all = (times.get(name) ?? []).map(({ ms }) => ms)
  return [50, 95].map((percent) => percentile(all, percent).toFixed(1))
}

const countOf = (wanted: Answered, runs: readonly Times[], name: string): string => {
  const all = runs.flatMap((times) => times.get(name) ?? [])
  return `${all.filter(({ answered }) => answered === wanted).length} of ${all.length}`
}

import { median } from './figures.ts'
import { type WrkResult, wrk } from './load/wrk.ts'

export type Contender = {
  readonly name: string
  readonly url: string
  /** Lua for `wrk`. */
  readonly script: string
  readonly env: Readonly<Record<string, string>>
  readonly runs: WrkResult[]
}

export type Rounds = { readonly rounds: number; readonly seconds: number }

/**
 * Each contender runs this long before the rounds. By then the JavaScript engine has compiled its code, so no round
 * measures slow first requests.
 */
const warmUpSeconds = 10

/** Contenders take turns within each round, so noise on the machine hits all of them. @throws if a request failed. */
export const takeTurns = async (
  contenders: readonly Contender[],
  { connections, rounds, seconds }: Rounds & { readonly connections: number },
): Promise<void> => {
  for (const contender of contenders) await measure(contender, connections, warmUpSeconds)
  for (let round = 0; round < rounds; round++) {
    for (const contender of contenders) contender.runs.push(await measure(contender, connections, seconds))
  }
}

const measure = async (contender: Contender, connections: number, seconds: number): Promise<WrkResult> => {
  const { name, url, script, env } = contender
  const result = await wrk({ url, connections, seconds, script, env })
  if (result.failures > 0) throw new Error(`Cannot quote ${name}: ${result.failures} requests failed`)
  return result
}

/**
 * Divides each run by the base run of the same round, and returns the median of the ratios. Noise on the machine hits
 * both runs of a round, so it does not change their ratio much.
 */
export const ratioPerRound = <Run>(
  runs: readonly Run[],
  baseRuns: readonly Run[],
  figure: (run: Run) => number,
): number =>
  median(
    runs.map((run, round) => {
      const baseRun = baseRuns[round]
      if (baseRun === undefined) throw new Error('Cannot compare: one of them missed a round')
      return figure(run) / figure(baseRun)
    }),
  )

import { join } from 'node:path'
import { median, table } from './figures.ts'
import { type BenchService, startBare, startService } from './servers.ts'
import { type WrkResult, wrk, wrkIsInstalled } from './wrk.ts'

const connectionCounts = [64, 256] as const
const warmUpSeconds = 3

type Contender = {
  readonly name: string
  readonly url: string
  readonly keys: readonly string[]
  readonly runs: WrkResult[]
}

/**
 * Single readings against a bare `Bun.serve`, in one run, the contenders taking turns within each round, so that a noisy
 * machine is noisy for all of them. One key is the kindest case (everything joins one append), 64 keys the harshest.
 */
export const benchSingleReadings = async (options: {
  readonly rounds: number
  readonly seconds: number
}): Promise<void> => {
  if (!wrkIsInstalled()) throw new Error('Cannot measure: wrk is not installed (Debian: apt-get install wrk)')
  const bare = await startBare()
  const service = await startService(64)
  try {
    for (const connections of connectionCounts) {
      const contenders = contendersAt(bare.url, service)
      for (const contender of contenders) await measure(contender, service.cellar, connections, warmUpSeconds)
      for (const contender of contenders) contender.runs.length = 0
      for (let round = 0; round < options.rounds; round++) {
        for (const contender of contenders) await measure(contender, service.cellar, connections, options.seconds)
      }
      report(connections, contenders, options)
    }
  } finally {
    await bare.stop()
    await service.stop()
  }
}

const contendersAt = (bareUrl: string, service: BenchService): readonly Contender[] => [
  { name: 'bare Bun.serve', url: bareUrl, keys: service.keys, runs: [] },
  { name: 'Cellarbook, one key', url: service.url, keys: service.keys.slice(0, 1), runs: [] },
  { name: 'Cellarbook, 64 keys', url: service.url, keys: service.keys, runs: [] },
]

const measure = async (contender: Contender, cellar: string, connections: number, seconds: number): Promise<void> => {
  const result = await wrk({
    url: contender.url,
    connections,
    seconds,
    script: join(import.meta.dir, 'ingest-load.lua'),
    env: { BENCH_KEYS: contender.keys.join(' '), BENCH_CELLAR: cellar },
  })
  if (result.failures > 0) throw new Error(`Cannot quote ${contender.name}: ${result.failures} requests failed`)
  contender.runs.push(result)
}

const report = (
  connections: number,
  contenders: readonly Contender[],
  options: { readonly rounds: number; readonly seconds: number },
): void => {
  const bareRuns = contenders[0]?.runs ?? []
  const rows = contenders.map(({ name, runs }) => [
    name,
    median(runs.map((run) => run.requestsPerSecond)).toFixed(0),
    ratioPerRound(runs, bareRuns, (run) => run.requestsPerSecond).toFixed(2),
    median(runs.map((run) => run.p50Ms)).toFixed(2),
    median(runs.map((run) => run.p99Ms)).toFixed(2),
    ratioPerRound(runs, bareRuns, (run) => run.p99Ms).toFixed(1),
  ])
  const head = ['server', 'requests/s', '× bare', 'p50 ms', 'p99 ms', 'p99 × bare']
  console.log(
    `\nSingle readings, ${connections} connections, median of ${options.rounds} rounds of ${options.seconds} s\n`,
  )
  console.log(table([head, ...rows]))
}

/** The median of the rounds' ratios: both sides of one ratio were measured within seconds of each other. */
const ratioPerRound = (
  runs: readonly WrkResult[],
  bareRuns: readonly WrkResult[],
  figure: (run: WrkResult) => number,
): number =>
  median(
    runs.map((run, round) => {
      const bareRun = bareRuns[round]
      if (bareRun === undefined) throw new Error('Cannot compare: the bare server missed a round')
      return figure(run) / figure(bareRun)
    }),
  )

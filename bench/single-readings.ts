import { join } from 'node:path'
import { type Contender, type Rounds, ratioPerRound, takeTurns } from './compare.ts'
import { median, table } from './figures.ts'
import { wrkIsInstalled } from './load/wrk.ts'
import { type BenchService, startBare, startService } from './servers.ts'

const connectionCounts = [64, 256] as const

/**
 * Compares single readings with a bare `Bun.serve`. The case with one key is the best one, because all its readings go
 * into one append.
 */
export const benchSingleReadings = async (options: Rounds): Promise<void> => {
  if (!wrkIsInstalled()) throw new Error('Cannot measure: wrk is not installed (Debian: apt-get install wrk)')
  const bare = await startBare()
  const service = await startService(64)
  try {
    for (const connections of connectionCounts) {
      const contenders = contendersAt(bare.url, service)
      await takeTurns(contenders, { ...options, connections })
      report(connections, contenders, options)
    }
  } finally {
    await bare.stop()
    await service.stop()
  }
}

const contendersAt = (bareUrl: string, service: BenchService): readonly Contender[] => [
  { ...singleReadings(service), name: 'bare Bun.serve', url: bareUrl },
  { ...singleReadings({ ...service, keys: service.keys.slice(0, 1) }), name: 'Cellarbook, one key' },
  { ...singleReadings(service), name: 'Cellarbook, 64 keys' },
]

export const singleReadings = ({ url, cellar, keys }: BenchService): Omit<Contender, 'name'> => ({
  url,
  script: join(import.meta.dir, 'load/ingest-load.lua'),
  env: { BENCH_KEYS: keys.join(' '), BENCH_CELLAR: cellar },
  runs: [],
})

const report = (connections: number, contenders: readonly Contender[], { rounds, seconds }: Rounds): void => {
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
  console.log(`\nSingle readings, ${connections} connections, median of ${rounds} rounds of ${seconds} s\n`)
  console.log(table([head, ...rows]))
}

import { join } from 'node:path'
import { type Rounds, ratioPerRound } from './compare.ts'
import { median, table } from './figures.ts'
import { wrk, wrkIsInstalled } from './load/wrk.ts'
import type { Shape } from './peers/bare-eventstoredb.ts'
import { type BenchService, end, startService } from './servers.ts'

type Load = {
  readonly title: string
  readonly connections: number
  readonly keys: number
  readonly readingsPerRequest: number
  readonly script: string
}

const batchReadings = 1_000

const loads: readonly Load[] = [
  {
    title: 'Single readings, 64 connections, 64 keys',
    connections: 64,
    keys: 64,
    readingsPerRequest: 1,
    script: 'load/ingest-load.lua',
  },
  {
    title: 'Single readings, 512 connections, 16 keys',
    connections: 512,
    keys: 16,
    readingsPerRequest: 1,
    script: 'load/ingest-load.lua',
  },
  {
    title: `Batches of ${batchReadings}, 16 connections, 16 keys`,
    connections: 16,
    keys: 16,
    readingsPerRequest: batchReadings,
    script: 'load/batch-load.lua',
  },
]

const warmUpSeconds = 3

/**
 * Compares the service with the official client on the same server. Both write equal numbers of streams and events.
 * Each side and each run has its own prefix, so events of earlier runs do not change its figures.
 */
export const benchEventStore = async (url: string | undefined, options: Rounds): Promise<void> => {
  if (url === undefined) throw new Error('Cannot measure: say which server by --url esdb://…')
  if (!wrkIsInstalled()) throw new Error('Cannot measure: wrk is not installed (Debian: apt-get install wrk)')
  const env = { EVENTSTORE_URL: url, EVENTSTORE_PREFIX: `bench${Date.now()}-` }
  const bare = startBareClient({ ...env, EVENTSTORE_PREFIX: `bare${env.EVENTSTORE_PREFIX}` })
  const service = await startService(64, env)
  try {
    for (const load of loads) await compare(load, { bare, service }, options)
  } finally {
    await service.stop()
    await bare.stop()
  }
}

type Servers = { readonly bare: BareClient; readonly service: BenchService }
type Run = { readonly readingsPerSecond: number; readonly p99Ms: number | null }

const compare = async (load: Load, servers: Servers, { rounds, seconds }: Rounds): Promise<void> => {
  const { bare, service } = servers
  await bareRun(bare, load, warmUpSeconds)
  await serviceRun(service, load, warmUpSeconds)
  const bareRuns: Run[] = []
  const serviceRuns: Run[] = []
  for (let round = 0; round < rounds; round++) {
    bareRuns.push(await bareRun(bare, load, seconds))
    serviceRuns.push(await serviceRun(service, load, seconds))
  }
  const row = (name: string, runs: readonly Run[]): string[] => [
    name,
    median(runs.map((run) => run.readingsPerSecond)).toFixed(0),
    ratioPerRound(runs, bareRuns, (run) => run.readingsPerSecond).toFixed(2),
    runs[0]?.p99Ms === null ? '' : median(runs.map((run) => run.p99Ms ?? Number.NaN)).toFixed(1),
  ]
  console.log(`\n${load.title}, median of ${rounds} rounds of ${seconds} s\n`)
  const head = ['', 'readings/s', '× bare', 'p99 ms']
  console.log(table([head, row('the bare client', bareRuns), row('Cellarbook', serviceRuns)]))
}

const bareRun = async (bare: BareClient, load: Load, seconds: number): Promise<Run> => {
  const { keys, connections, readingsPerRequest } = load
  const shape = { streams: keys, posters: connections, eventsPerPost: readingsPerRequest, seconds }
  return { readingsPerSecond: await bare.run(shape), p99Ms: null }
}

const serviceRun = async (service: BenchService, load: Load, seconds: number): Promise<Run> => {
  const { url, cellar, keys } = service
  const result = await wrk({
    url,
    connections: load.connections,
    seconds,
    script: join(import.meta.dir, load.script),
    env: {
      BENCH_KEYS: keys.slice(0, load.keys).join(' '),
      BENCH_CELLAR: cellar,
      BENCH_POINTS: String(load.readingsPerRequest),
    },
  })
  if (result.failures > 0) throw new Error(`Cannot quote "${load.title}": ${result.failures} requests failed`)
  return { readingsPerSecond: result.requestsPerSecond * load.readingsPerRequest, p99Ms: result.p99Ms }
}

type BareClient = { run(shape: Shape): Promise<number>; stop(): Promise<void> }

const startBareClient = (env: Readonly<Record<string, string>>): BareClient => {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'peers/bare-eventstoredb.ts')], {
    env: { ...process.env, NODE_ENV: 'production', ...env },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const pieces = child.stdout.getReader()
  return {
    run: async (shape) => {
      child.stdin.write(`${JSON.stringify(shape)}\n`)
      await child.stdin.flush()
      const { value } = await pieces.read()
      const rate = Number(new TextDecoder().decode(value))
      if (!(rate > 0)) throw new Error('Cannot compare: the bare client has ended, or wrote nothing')
      return rate
    },
    stop: () => end(child),
  }
}

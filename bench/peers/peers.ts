import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Contender, type Rounds, ratioPerRound, takeTurns } from '../compare.ts'
import { median, table } from '../figures.ts'
import { wrkIsInstalled } from '../load/wrk.ts'
import { type BenchServer, type BenchService, startBare, startScript, startService } from '../servers.ts'
import { singleReadings } from '../single-readings.ts'
import {
  influxPath,
  missingPeers,
  startFastifyPostgres,
  startInflux,
  startVictoria,
  victoriaPath,
} from './peer-servers.ts'

const keyCount = 64
const connections = 64
/** 16 connections with batches keep two cores busy, and every peer accepts this number. */
const batchConnections = 16
const batchReadings = 1_000

type Peer = Contender & { readonly does: string }

export type PeerFigure = {
  readonly name: string
  readonly does: string
  readonly readingsPerSecond: number
  /** Readings per second of the service, divided by those of the peer. It is the median of the rounds. */
  readonly ratioOfOurs: number
  readonly p99Ms: number
}

export type PeerFigures = {
  readonly measuredAt: string
  readonly machine: string
  readonly single: readonly PeerFigure[]
  readonly batches: readonly PeerFigure[]
}

const ours = 'Cellarbook'

/**
 * Compares the service with alternatives on the same disk in one run. Writes the figures to `docs/figures.json`, from
 * which `drawPicture` draws.
 */
export const benchPeers = async (options: Rounds, machine: string): Promise<void> => {
  const missing = [...(wrkIsInstalled() ? [] : ['wrk']), ...missingPeers()]
  if (missing.length > 0)
    throw new Error(`Cannot measure: not installed (Debian: apt-get install ${missing.join(' ')})`)
  await using servers = new AsyncDisposableStack()
  const started = async <T extends BenchServer>(starting: Promise<T>): Promise<T> => {
    const server = await starting
    servers.defer(() => server.stop())
    return server
  }
  const service = await started(startService(keyCount))
  const bare = await started(startBare())
  const elysia = await started(startScript('elysia-server.ts'))
  const fastify = await started(startFastifyPostgres(service.cellar, service.keys))
  const influx = await started(startInflux())
  const victoria = await started(startVictoria())

  const linesTo = linePoints(service.cellar)
  const single: readonly Peer[] = [
    { ...singleReadings(service), name: ours, does: 'key, validation, rate limit, fsync' },
    { ...singleReadings({ ...service, url: bare.url }), name: 'bare Bun.serve', does: 'parses; stores nothing' },
    { ...singleReadings({ ...service, url: elysia.url }), name: 'bare Elysia', does: 'validation; stores nothing' },
    {
      ...singleReadings({ ...service, url: fastify.url }),
      name: 'Fastify + PostgreSQL',
      does: 'key, validation, fsync',
    },
    { ...linesTo(influx, influxPath, 1), name: 'InfluxDB 1.x', does: 'validation, fsync' },
    { ...linesTo(victoria, victoriaPath, 1), name: 'VictoriaMetrics', does: 'validation; no fsync before the answer' },
  ]
  await takeTurns(single, { ...options, connections })
  const singleFigures = figuresOf(single, 1)
  report(`Single readings, ${connections} connections`, singleFigures, options)
  const batches: readonly Peer[] = [
    { ...batchesOf(service), name: ours, does: 'key, validation of each, rate limit, fsync' },
    { ...linesTo(influx, influxPath, batchReadings), name: 'InfluxDB 1.x', does: 'validation, fsync' },
    {
      ...linesTo(victoria, victoriaPath, batchReadings),
      name: 'VictoriaMetrics',
      does: 'validation; no fsync before the answer',
    },
  ]
  await takeTurns(batches, { ...options, connections: batchConnections })
  const batchFigures = figuresOf(batches, batchReadings)
  report(`Batches of ${batchReadings}, ${batchConnections} connections`, batchFigures, options)

  const measuredAt = new Date().toISOString()
  const figures: PeerFigures = { measuredAt, machine, single: singleFigures, batches: batchFigures }
  writeFileSync(join(import.meta.dir, '../../docs/figures.json'), `${JSON.stringify(figures, null, 2)}\n`)
}

const linePoints =
  (cellar: string) =>
  ({ url }: BenchServer, path: string, points: number): Omit<Contender, 'name'> => ({
    url,
    script: join(import.meta.dir, 'line-protocol-load.lua'),
    env: { BENCH_POINTS: String(points), BENCH_PATH: path, BENCH_CELLAR: cellar },
    runs: [],
  })

const batchesOf = ({ url, cellar, keys }: BenchService): Omit<Contender, 'name'> => ({
  url,
  script: join(import.meta.dir, '../load/batch-load.lua'),
  env: { BENCH_POINTS: String(batchReadings), BENCH_KEYS: keys.slice(0, 16).join(' '), BENCH_CELLAR: cellar },
  runs: [],
})

const figuresOf = (peers: readonly Peer[], readingsPerRequest: number): readonly PeerFigure[] => {
  const own = peers.find(({ name }) => name === ours)?.runs ?? []
  return peers.map(({ name, does, runs }) => ({
    name,
    does,
    readingsPerSecond: Math.round(median(runs.map((run) => run.requestsPerSecond)) * readingsPerRequest),
    ratioOfOurs: Number(ratioPerRound(own, runs, (run) => run.requestsPerSecond).toFixed(2)),
    p99Ms: median(runs.map((run) => run.p99Ms)),
  }))
}

const report = (title: string, figures: readonly PeerFigure[], { rounds, seconds }: Rounds): void => {
  const rows = figures.map(({ name, does, readingsPerSecond, ratioOfOurs, p99Ms }) => [
    name,
    does,
    readingsPerSecond.toLocaleString('en'),
    ratioOfOurs.toFixed(2),
    p99Ms.toFixed(1),
  ])
  console.log(`\n${title}, median of ${rounds} rounds of ${seconds} s\n`)
  console.log(table([['server', 'what it does for each', 'readings/s', `${ours} ÷ it`, 'p99 ms'], ...rows]))
}

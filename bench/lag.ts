import { join } from 'node:path'
import type { Rounds } from './compare.ts'
import { median, table } from './figures.ts'
import type { PacedLoad, PacedResult } from './load/paced-load.ts'
import { type BenchService, freePort, startService } from './servers.ts'
import type { Lag } from './watch/lag-watch.ts'

const keys = 64
/** So many that the rate is not bound by devices that wait for their answers. */
const loadConnections = 256
const shareOfTop = 0.7
export const loadWarmUpSeconds = 2
const serviceWarmUpSeconds = 15

type Round = { readonly topPerSecond: number; readonly load: PacedResult; readonly lag: Lag }

/**
 * Measures how late the event loop runs timers. Meanwhile, single readings come at 0.7 of the highest rate that each round
 * measures first.
 */
export const benchLag = async ({ rounds, seconds }: Rounds): Promise<void> => {
  const port = await freePort()
  const watch = `--preload ${join(import.meta.dir, 'watch/lag-watch.ts')}`
  const service = await startService(keys, { BUN_OPTIONS: watch, BENCH_LAG_PORT: String(port) })
  try {
    await warmUp(service)
    const runs: Round[] = []
    for (let round = 0; round < rounds; round += 1) runs.push(await measure(service, port, seconds))
    report(runs, seconds)
  } finally {
    await service.stop()
  }
}

const measure = async (service: BenchService, lagPort: number, seconds: number): Promise<Round> => {
  const topPerSecond = await topRate(service, seconds)
  await lagOf(lagPort)
  const { url, cellar } = service
  const load = await pacedLoad({
    url,
    cellar,
    keys: service.keys,
    perSecond: shareOfTop * topPerSecond,
    seconds,
  })
  return { topPerSecond, load, lag: await lagOf(lagPort) }
}

/** A new service is slower until its code is compiled. Without this, the first round would have a lower rate than the others. */
export const warmUp = async (service: BenchService): Promise<void> => {
  await topRate(service, serviceWarmUpSeconds)
}

/**
 * Readings that the service takes in a second from the load that also posts at a part of this rate. `wrk` costs less processor
 * time, so its top rate is higher. A part of that can be more than the service does beside this load.
 */
export const topRate = async ({ url, cellar, keys }: BenchService, seconds: number): Promise<number> => {
  const { answered } = await pacedLoad({ url, cellar, keys, perSecond: null, seconds })
  return answered / seconds
}

/** Each call returns the lag since the call before, because the service starts a new measurement after each answer. */
const lagOf = async (port: number): Promise<Lag> => {
  const lag: Lag = JSON.parse(await (await fetch(`http://127.0.0.1:${port}`)).text())
  return lag
}

/** All measurements post over the same number of connections, after the same warm-up. */
export type Posting = Omit<PacedLoad, 'connections' | 'warmUpSeconds'>

export const pacedLoad = async (load: Posting): Promise<PacedResult> => {
  const whole: PacedLoad = { ...load, connections: loadConnections, warmUpSeconds: loadWarmUpSeconds }
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'load/paced-load.ts')], {
    stdin: new Blob([JSON.stringify(whole)]),
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const text = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error('Cannot quote the lag: the load failed')
  const result: PacedResult = JSON.parse(text)
  return result
}

const report = (runs: readonly Round[], seconds: number): void => {
  const of = (figure: (run: Round) => number): string => median(runs.map(figure)).toFixed(1)
  const top = median(runs.map((run) => run.topPerSecond)).toFixed(0)
  const paced = median(runs.map((run) => run.load.answered / seconds)).toFixed(0)
  console.log(
    `\nEvent-loop lag at ${shareOfTop} of the top rate (${paced}/s of ${top}/s), ${loadConnections} connections,`,
  )
  console.log(`${keys} keys, medians of ${runs.length} rounds of ${seconds} s\n`)
  const lag = [
    'the event loop is late by',
    of((run) => run.lag.p50Ms),
    of((run) => run.lag.p99Ms),
    of((run) => run.lag.maxMs),
  ]
  const load = [
    'an answer comes after',
    of((run) => run.load.p50Ms),
    of((run) => run.load.p99Ms),
    of((run) => run.load.maxMs),
  ]
  console.log(table([['', 'p50 ms', 'p99 ms', 'max ms'], lag, load]))
}

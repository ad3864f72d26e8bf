import { rmSync } from 'node:fs'
import { createProjections } from '../projections/projections.ts'
import type { EventLog } from '../src/log/event-log.ts'
import { openSqliteLog } from '../src/log/sqlite/sqlite-log.ts'
import { median, table } from './figures.ts'
import { fillKeyEvents, fillKeys, fillReadings } from './filled-log.ts'
import { benchFolder } from './servers.ts'

const keys = 10_000

/**
 * Measures how fast the projections fold a log. One log holds only events of
 * 10,000 keys. The other holds mostly readings of 10,000 keys.
 */
export const benchReplay = async (events: number, rounds: number): Promise<void> => {
  const fillings: readonly (readonly [what: string, fill: (log: EventLog) => Promise<void>])[] = [
    ['of keys', async (log) => fillKeyEvents(log, await fillKeys(log, keys), { events: events - keys, perAppend: 1 })],
    ['readings, 20 in an append', async (log) => fillReadings(log, await fillKeys(log, keys), events)],
  ]
  const rows: string[][] = []
  for (const [what, fill] of fillings) {
    const dataDir = benchFolder()
    try {
      const log = openSqliteLog({ dataDir })
      await fill(log)
      await log.close()
      const runs: Replay[] = []
      for (let round = 0; round < rounds; round += 1) runs.push(await replay(dataDir))
      const seconds = median(runs.map((run) => run.seconds))
      const busy = median(runs.map((run) => run.busySeconds))
      rows.push([what, seconds.toFixed(2), (events / seconds).toFixed(0), (events / busy).toFixed(0)])
    } finally {
      rmSync(dataDir, { recursive: true })
    }
  }
  console.log(`\nReplay of ${events} events into the projections, the log opened anew; medians of ${rounds} rounds\n`)
  console.log(table([['events', 'seconds', 'events/s', 'events per second of processor'], ...rows]))
}

type Replay = { readonly seconds: number; readonly busySeconds: number }

const replay = async (dataDir: string): Promise<Replay> => {
  const before = { cpu: process.cpuUsage(), ms: performance.now() }
  const log = openSqliteLog({ dataDir })
  const projections = createProjections()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  log.subscribe({ after: null }, { onEvents: (page) => projections.fold(page), onCaughtUp: resolve, onDropped: reject })
  await promise
  const { user, system } = process.cpuUsage(before.cpu)
  const seconds = (performance.now() - before.ms) / 1_000
  await log.close()
  return { seconds, busySeconds: (user + system) / 1e6 }
}

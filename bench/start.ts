import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openSqliteLog } from '../src/log/sqlite/sqlite-log.ts'
import { median, table } from './figures.ts'
import { fillKeys, fillReadings } from './filled-log.ts'
import { busySecondsOf } from './process-figures.ts'
import { benchFolder, end, startOn } from './servers.ts'

const keys = 10_000

/** From the start of the process until `/readyz` says yes, on a log of that many readings, with its checkpoint and without. */
export const benchStart = async (readings: number, rounds: number): Promise<void> => {
  const dataDir = benchFolder()
  try {
    const log = openSqliteLog({ dataDir })
    await fillReadings(log, await fillKeys(log, keys), readings)
    await log.close()
    const alone = await start(dataDir)
    if (!existsSync(join(dataDir, 'checkpoint'))) throw new Error('Cannot measure: the first life left no checkpoint')
    const runs: Start[] = []
    for (let round = 0; round < rounds; round += 1) runs.push(await start(dataDir))
    const seconds = median(runs.map((run) => run.seconds))
    const busy = median(runs.map((run) => run.busySeconds))
    console.log(`\nStart to ready, ${readings} readings of ${keys} keys; from the checkpoint the median of ${rounds}\n`)
    console.log(
      table([
        ['start', 'seconds', 'seconds of processor'],
        ['from the log alone', alone.seconds.toFixed(2), alone.busySeconds.toFixed(2)],
        ['from the checkpoint', seconds.toFixed(2), busy.toFixed(2)],
      ]),
    )
  } finally {
    rmSync(dataDir, { recursive: true })
  }
}

type Start = { readonly seconds: number; readonly busySeconds: number }

const start = async (dataDir: string): Promise<Start> => {
  const startedAt = performance.now()
  const { child } = await startOn(dataDir)
  const seconds = (performance.now() - startedAt) / 1_000
  const busySeconds = busySecondsOf(child.pid)
  await end(child)
  return { seconds, busySeconds }
}

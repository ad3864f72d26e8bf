import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { EventLog } from '../src/log/event-log.ts'
import { openSqliteLog } from '../src/log/sqlite/sqlite-log.ts'
import { median, table } from './figures.ts'
import { fillKeyEvents, fillKeys, fillReadings } from './filled-log.ts'
import { benchFolder, end, startOn } from './servers.ts'
import { busySecondsOf } from './watch/process-figures.ts'

const keys = 10_000
const keyEvents = 1_000_000

/** Measures the time until `/readyz` answers 200, with and without a checkpoint. */
export const benchStart = async (readings: number, rounds: number): Promise<void> => {
  const dataDir = benchFolder()
  try {
    await fill(dataDir, async (log) => fillReadings(log, await fillKeys(log, keys), readings))
    const alone = await start(dataDir)
    if (!existsSync(join(dataDir, 'checkpoint'))) throw new Error('Cannot measure: the first life left no checkpoint')
    const fromCheckpoint = await startAgain(dataDir, rounds)
    const onKeyEvents = await startOnKeyEvents(rounds)
    console.log(
      `\nStart to ready, with ${keys} keys; medians of ${rounds} but for the log of readings, which is read once\n`,
    )
    console.log(
      table([
        ['start', 'seconds', 'seconds of processor'],
        row(`${readings} readings, from the log alone`, [alone]),
        row(`${readings} readings, from the checkpoint`, fromCheckpoint),
        row(`${keyEvents} key events, from the log alone`, onKeyEvents),
      ]),
    )
  } finally {
    rmSync(dataDir, { recursive: true })
  }
}

const startOnKeyEvents = async (rounds: number): Promise<readonly Start[]> => {
  const dataDir = benchFolder()
  try {
    const more = { events: keyEvents - keys, perAppend: 1 }
    await fill(dataDir, async (log) => fillKeyEvents(log, await fillKeys(log, keys), more))
    return await startAgain(dataDir, rounds, { mustForget: true })
  } finally {
    rmSync(dataDir, { recursive: true })
  }
}

const fill = async (dataDir: string, fillLog: (log: EventLog) => Promise<void>): Promise<void> => {
  const log = openSqliteLog({ dataDir })
  await fillLog(log)
  await log.close()
}

/** Each run leaves a checkpoint. `mustForget` deletes it before each start, so that the service reads the whole log. */
const startAgain = async (dataDir: string, rounds: number, { mustForget = false } = {}): Promise<readonly Start[]> => {
  const runs: Start[] = []
  for (let round = 0; round < rounds; round += 1) {
    if (mustForget) rmSync(join(dataDir, 'checkpoint'), { force: true })
    runs.push(await start(dataDir))
  }
  return runs
}

const row = (what: string, runs: readonly Start[]): string[] => [
  what,
  median(runs.map((run) => run.seconds)).toFixed(2),
  median(runs.map((run) => run.busySeconds)).toFixed(2),
]

type Start = { readonly seconds: number; readonly busySeconds: number }

const start = async (dataDir: string): Promise<Start> => {
  const startedAt = performance.now()
  const { child } = await startOn(dataDir)
  const seconds = (performance.now() - startedAt) / 1_000
  const busySeconds = busySecondsOf(child.pid)
  await end(child)
  return { seconds, busySeconds }
}

import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { EventLog } from '../src/log/event-log.ts'
import { openSqliteLog } from '../src/log/sqlite/sqlite-log.ts'
import { median, table } from './figures.ts'
import { type FilledKey, fillKeyEvents, fillKeys, fillReadings } from './filled-log.ts'
import { benchFolder, end, startOn } from './servers.ts'
import { busySecondsOf } from './watch/process-figures.ts'

const keys = 10_000
const keyEvents = 1_000_000

/** Measures the time until `/readyz` answers 200, with no file but the log. */
export const benchStart = async (readings: number, rounds: number): Promise<void> => {
  const onReadings = await startsOn(rounds, (log, filled) => fillReadings(log, filled, readings))
  const events = { events: keyEvents - keys, perAppend: 1 }
  const onKeyEvents = await startsOn(rounds, (log, filled) => fillKeyEvents(log, filled, events))
  console.log(`\nStart to ready from the log alone, with ${keys} keys; medians of ${rounds}\n`)
  console.log(
    table([
      ['start', 'seconds', 'seconds of processor'],
      row(`${readings} readings`, onReadings),
      row(`${keyEvents} key events`, onKeyEvents),
    ]),
  )
}

type Start = { readonly seconds: number; readonly busySeconds: number }

const startsOn = async (
  rounds: number,
  fill: (log: EventLog, filled: readonly FilledKey[]) => Promise<void>,
): Promise<readonly Start[]> => {
  const dataDir = benchFolder()
  try {
    const log = openSqliteLog({ dataDir })
    await fill(log, await fillKeys(log, keys))
    await log.close()
    const starts: Start[] = []
    for (let round = 0; round < rounds; round += 1) {
      for (const name of readdirSync(dataDir)) if (name !== 'log.db') rmSync(join(dataDir, name))
      starts.push(await start(dataDir))
    }
    return starts
  } finally {
    rmSync(dataDir, { recursive: true })
  }
}

const row = (what: string, runs: readonly Start[]): string[] => [
  what,
  median(runs.map((run) => run.seconds)).toFixed(2),
  median(runs.map((run) => run.busySeconds)).toFixed(2),
]

const start = async (dataDir: string): Promise<Start> => {
  const startedAt = performance.now()
  const { child } = await startOn(dataDir)
  const seconds = (performance.now() - startedAt) / 1_000
  const busySeconds = busySecondsOf(child.pid)
  await end(child)
  return { seconds, busySeconds }
}

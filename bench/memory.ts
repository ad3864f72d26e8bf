import { rmSync } from 'node:fs'
import { openSqliteLog } from '../src/log/sqlite/sqlite-log.ts'
import { table } from './figures.ts'
import { type FilledKey, fillKeys, fillReadings, readingOf, timestampNow } from './filled-log.ts'
import { benchFolder, end, startOn } from './servers.ts'
import { mebibytesOf } from './watch/process-figures.ts'

const keys = 10_000
const requestsAtOnce = 64
const samplesPerMinute = 6

/**
 * Measures memory with 10,000 keys and 100,000 kegs after a start, and then while all keys post. A key that posts has
 * an actor, which also takes memory.
 */
export const benchMemory = async (readings: number, minutes: number): Promise<void> => {
  const dataDir = benchFolder()
  try {
    const log = openSqliteLog({ dataDir })
    const filled = await fillKeys(log, keys)
    await fillReadings(log, filled, readings)
    await log.close()
    // This first run begins the models, so that the measured one has them as usual.
    await end((await startOn(dataDir)).child)
    const { child, url } = await startOn(dataDir)
    const rows = [sample('ready', 0, child.pid)]
    const startedAt = performance.now()
    let posted = 0
    for (let count = 1; count <= minutes * samplesPerMinute; count += 1) {
      posted += await post(url, filled, startedAt + (count * 60_000) / samplesPerMinute)
      rows.push(sample(`${(count / samplesPerMinute).toFixed(1)} min`, posted, child.pid))
    }
    await end(child)
    console.log(`\nMemory, ${keys} keys, ${keys * 10} kegs, ${readings} readings in the log\n`)
    console.log(table([['when', 'readings posted', 'RSS, MiB', 'of it no file’s'], ...rows]))
  } finally {
    rmSync(dataDir, { recursive: true })
  }
}

const sample = (when: string, posted: number, processId: number): string[] => {
  const { rss, anonymous } = mebibytesOf(processId)
  return [when, String(posted), rss.toFixed(0), anonymous.toFixed(0)]
}

const post = async (url: string, filled: readonly FilledKey[], untilMs: number): Promise<number> => {
  let posted = 0
  const worker = async (): Promise<void> => {
    while (performance.now() < untilMs) {
      const number = posted % filled.length
      posted += 1
      const one = filled[number]
      if (one === undefined) return
      one.revision += 1
      const answer = await fetch(`${url}/api/v1/ingest`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-API-Key': one.key },
        body: JSON.stringify(readingOf(one.cellar, number, one.revision, timestampNow())),
      })
      if (answer.status !== 200) throw new Error(`Cannot measure: a reading was answered with ${answer.status}`)
      await answer.arrayBuffer()
    }
  }
  await Promise.all(Array.from({ length: requestsAtOnce }, worker))
  return posted
}

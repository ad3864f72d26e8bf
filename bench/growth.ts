import { rmSync } from 'node:fs'
import { type OpenCore, openCore } from '../src/actors/open-core.ts'
import { systemClock } from '../src/clock.ts'
import { systemEntropy } from '../src/entropy.ts'
import { openSqliteLog } from '../src/log/sqlite/sqlite-log.ts'
import { folderBytes, table } from './figures.ts'
import { type FilledKey, fillKeys, readingOf, timestampNow } from './filled-log.ts'
import { benchFolder } from './servers.ts'
import { writtenBytesOf } from './watch/process-figures.ts'

const keys = 1_000
const askedAtOnce = 256

/**
 * Measures whether a reading costs more as the log grows. 1,000 keys post 256 readings at a time. Each row shows only
 * the readings since the row above.
 */
export const benchGrowth = async (readings: number): Promise<void> => {
  const dataDir = benchFolder()
  try {
    const log = openSqliteLog({ dataDir })
    const filled = await fillKeys(log, keys)
    const core = await openCore({ log, clock: systemClock, entropy: systemEntropy })
    const rows: string[][] = []
    let written = 0
    for (const to of steps(readings)) {
      const before = { cpu: process.cpuUsage(), ms: performance.now(), written, bytes: writtenBytesOf(process.pid) }
      while (written < to) written += await acceptTurn(core, filled, written)
      const since = written - before.written
      const { user, system } = process.cpuUsage(before.cpu)
      rows.push([
        String(written),
        ((1_000 * (performance.now() - before.ms)) / since).toFixed(1),
        ((user + system) / since).toFixed(1),
        ((writtenBytesOf(process.pid) - before.bytes) / since).toFixed(0),
        (folderBytes(dataDir) / written).toFixed(0),
      ])
    }
    await core.drain()
    await log.close()
    console.log(`\nCost of a reading as the log grows, ${keys} keys, ${askedAtOnce} asked at once\n`)
    console.log(
      table([['readings in the log', 'µs each', 'µs of processor each', 'bytes written for each', 'on disk'], ...rows]),
    )
  } finally {
    rmSync(dataDir, { recursive: true })
  }
}

/** 10,000, 30,000, 100,000 … */
function* steps(readings: number): Generator<number> {
  for (let to = 10_000; to <= readings; to *= 10) {
    yield to
    if (to * 3 <= readings) yield to * 3
  }
}

const acceptTurn = async (core: OpenCore, filled: readonly FilledKey[], first: number): Promise<number> => {
  const timestamp = timestampNow()
  const asked = Array.from({ length: askedAtOnce }, (_, index) => {
    const number = (first + index) % filled.length
    const key = filled[number]
    if (key === undefined) throw new Error('Cannot measure: there is no key')
    key.revision += 1
    const reading = readingOf(key.cellar, number, key.revision, timestamp)
    return core.keys.accept(key.keyId, reading, systemEntropy.uuid())
  })
  for (const answer of await Promise.all(asked)) {
    if (!answer.ok) throw new Error(`Cannot measure: a reading was refused as ${answer.refusal.kind}`)
  }
  return askedAtOnce
}

import { Database } from 'bun:sqlite'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { RecordedEvent } from '../../src/domain/events.ts'
import { askReaderCacheKib } from '../../src/limits.ts'
import { askPathIn } from '../../src/log/ask-index/ask-file.ts'
import { AskQueries } from '../../src/log/ask-index/queries/ask-queries.ts'
import { logPathIn } from '../../src/log/data-folder.ts'
import { openSqliteLog } from '../../src/log/sqlite/sqlite-log.ts'
import { percentile, table } from '../figures.ts'
import { pacedLoad, topRate } from '../lag.ts'
import { wrkIsInstalled } from '../load/wrk.ts'
import { benchFolder, type EmptyService, startEmptyService, withKeys } from '../servers.ts'
import { askedLookUps, type LookUp } from './ask-look-ups.ts'
import { type AskedSize, fillAskedLog } from './asked-log.ts'

const shareOfTop = 0.7
const connections = 64
const loadKeys = 64
const topRateSeconds = 5
const roundsAlone = 40
/** Between two look-ups, so that they come as people ask, and not as fast as they can. */
const pauseMs = 10

export type AskBench = {
  /** 1 is the log of 1 million events of keys, 10 million readings and 100,000 refusals. */
  readonly scale: number
  /** How long each rate is held. */
  readonly seconds: number
  /** Filled if it is empty, and kept. `null`: a new folder, which is deleted. */
  readonly folder: string | null
}

/**
 * Measures questions to `ask.db` and to the service while readings come in. Before that, measures how long the service takes to
 * build `ask.db` anew, and how large the file is.
 */
export const benchAsk = async ({ scale, seconds, folder }: AskBench): Promise<void> => {
  if (!wrkIsInstalled()) throw new Error('Cannot measure: wrk is not installed (Debian: apt-get install wrk)')
  const dataDir = folder === null ? benchFolder() : resolve(folder)
  mkdirSync(dataDir, { recursive: true })
  try {
    await fillOnce(dataDir, sizeOf(scale))
    const { last, samples } = await lookedAt(dataDir)
    for (const end of ['', '-wal', '-shm']) rmSync(`${askPathIn(dataDir)}${end}`, { force: true })
    const service = await startEmptyService({ dataDir })
    try {
      await report(service, { last, samples, seconds })
    } finally {
      await service.end()
    }
  } finally {
    if (folder === null) rmSync(dataDir, { recursive: true })
  }
}

const sizeOf = (scale: number): AskedSize => ({
  keys: Math.max(100, Math.round(10_000 * scale)),
  keyEvents: Math.round(1_000_000 * scale),
  readings: Math.round(10_000_000 * scale),
  refusals: Math.round(100_000 * scale),
})

/** A folder whose filling was interrupted is refused. */
const fillOnce = async (dataDir: string, size: AskedSize): Promise<void> => {
  const filledMark = join(dataDir, 'bench-filled')
  if (existsSync(filledMark)) return
  if (existsSync(logPathIn(dataDir))) throw new Error(`Cannot fill the log in ${dataDir}: there is one already`)
  const log = openSqliteLog({ dataDir })
  await fillAskedLog(log, size)
  await log.close()
  await Bun.write(filledMark, '')
}

type Looked = { readonly last: number; readonly samples: readonly RecordedEvent[] }

const samplesWanted = 500

/** Returns the last position, and some events of the whole log, which the look-ups then ask for. */
const lookedAt = async (dataDir: string): Promise<Looked> => {
  const log = openSqliteLog({ dataDir })
  try {
    const last = (await log.readAll({ direction: 'backwards', limit: 1 }))[0]?.position ?? 0
    const samples: RecordedEvent[] = []
    for (let count = 0; count < samplesWanted; count += 1) {
      samples.push(...(await log.readAll({ from: Math.floor((last * count) / samplesWanted), limit: 1 })))
    }
    return { last, samples }
  } finally {
    await log.close()
  }
}

const report = async (service: EmptyService, { last, samples, seconds }: Looked & { readonly seconds: number }) => {
  const startMs = performance.now()
  await untilFolded(service.dataDir, last)
  console.log(
    `\nask.db of ${last} events was built in ${((performance.now() - startMs) / 1_000).toFixed(0)} s of a running service\n`,
  )
  using database = new Database(askPathIn(service.dataDir), { readonly: true })
  console.log(sizes(database))
  database.run(`PRAGMA cache_size = -${askReaderCacheKib}`)
  const queries = new AskQueries(database)
  const loaded = await withKeys(service, loadKeys)
  const lookUps = askedLookUps({ queries, service, samples })
  const alone = await measure(lookUps, (round) => round < roundsAlone)
  const topPerSecond = await topRate(loaded, topRateSeconds)
  let isLoading = true
  const load = pacedLoad({ ...loaded, perSecond: shareOfTop * topPerSecond, connections, seconds }).finally(() => {
    isLoading = false
  })
  const loadedTimes = await measure(lookUps, () => isLoading)
  const { p50Ms, p99Ms } = await load
  queries.close()
  console.log(
    `\nQuestions, alone, and while readings come at ${(shareOfTop * topPerSecond).toFixed(0)}/s (${shareOfTop} of the top rate)\n`,
  )
  const rows = lookUps.map(({ name }) => [
    name,
    ...figures(alone, name),
    ...figures(loadedTimes, name),
    foundOf(loadedTimes, name),
  ])
  console.log(table([['question', 'alone p50 ms', 'p95', 'loaded p50 ms', 'p95', 'found'], ...rows]))
  console.log(`\nReadings meanwhile: p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`)
}

type Asked = { readonly ms: number; readonly hasFound: boolean }

/** By the name of the question. */
type Times = ReadonlyMap<string, readonly Asked[]>

/** Asks all questions in turn. Two questions of one kind are about different events. */
const measure = async (lookUps: readonly LookUp[], goesOn: (round: number) => boolean): Promise<Times> => {
  const times = new Map<string, Asked[]>(lookUps.map(({ name }) => [name, []]))
  for (let round = 0; goesOn(round); round += 1) {
    for (const { name, ask } of lookUps) {
      const startMs = performance.now()
      const count = await ask(round)
      times.get(name)?.push({ ms: performance.now() - startMs, hasFound: count > 0 })
      await Bun.sleep(pauseMs)
    }
  }
  return times
}

const figures = (times: Times, name: string): readonly string[] => {
  const all = (times.get(name) ?? []).map(({ ms }) => ms)
  return all.length === 0 ? ['', ''] : [50, 95].map((percent) => percentile(all, percent).toFixed(1))
}

const foundOf = (times: Times, name: string): string => {
  const all = times.get(name) ?? []
  return `${all.filter(({ hasFound }) => hasFound).length} of ${all.length}`
}

const untilFolded = async (dataDir: string, last: number): Promise<void> => {
  for (const deadline = Date.now() + 3_600_000; Date.now() < deadline; await Bun.sleep(100)) {
    if (foldedTo(dataDir) >= last) return
  }
  throw new Error('Cannot measure: ask.db was not built within an hour')
}

const foldedTo = (dataDir: string): number => {
  using database = new Database(askPathIn(dataDir), { readonly: true })
  return database.query<{ position: number | null }, []>('SELECT position FROM head').get()?.position ?? -1
}

/** The bytes of each table, with those of its indexes. */
const sizes = (database: Database): string => {
  const rows = database
    .query<{ table_name: string; bytes: number }, []>(`
      SELECT tbl_name AS table_name, sum(pgsize) AS bytes FROM dbstat JOIN sqlite_schema USING (name)
        GROUP BY tbl_name ORDER BY bytes DESC
    `)
    .all()
    .map(({ table_name: name, bytes }) => {
      const count = database.query<{ count: number }, []>(`SELECT count(*) AS count FROM ${name}`).get()?.count ?? 0
      return [name, String(count), (bytes / 1e6).toFixed(1), count === 0 ? '' : (bytes / count).toFixed(0)]
    })
  return table([['table of ask.db', 'rows', 'MB', 'bytes each'], ...rows])
}

import { Database } from 'bun:sqlite'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { modelPath } from '../../src/derived/model-file.ts'
import { questionCacheKib } from '../../src/derived/questions/model-readers.ts'
import type { RecordedEvent } from '../../src/domain/events.ts'
import { keyIdOf } from '../../src/domain/stream-names.ts'
import { logReadPageEvents } from '../../src/limits.ts'
import { prepareAskStatements } from '../../src/log/ask-index/queries/ask-statements.ts'
import { logPathIn } from '../../src/log/data-folder.ts'
import { openSqliteLog } from '../../src/log/sqlite/sqlite-log.ts'
import { table } from '../figures.ts'
import { topRate } from '../lag.ts'
import { benchFolder, type EmptyService, startEmptyService, withKeys } from '../servers.ts'
import { askedLookUps } from './ask-look-ups.ts'
import { askedPages } from './ask-pages.ts'
import { askedAbout } from './asked-about.ts'
import { type AskedSize, fillAskedLog } from './asked-log.ts'
import { measureQuestions } from './measure-questions.ts'
import { measureWatchedLog } from './watched-log.ts'

const shareOfTop = 0.7
const loadKeys = 64
const topRateSeconds = 5

const parts = ['fill', 'look-ups', 'pages', 'watched'] as const
type Part = (typeof parts)[number]

export type AskBench = {
  /** 1 is the log of 1 million events of keys, 10 million readings and 100,000 refusals. */
  readonly scale: number
  /** How often each question is asked, alone and again under load. */
  readonly rounds: number
  /** How long each load lasts. */
  readonly seconds: number
  /** Filled if it is empty, and kept with its `ask.db`. `null`: a new folder, which is deleted. */
  readonly folder: string | null
  /** Only one of `parts`. `null`: all. */
  readonly what: string | null
}

/**
 * Measures questions to `ask.db`, to the service and to the pages of the dashboard, alone and while readings come in. Then measures
 * readings while people watch or export the log. Before that, measures how long the service takes to build `ask.db`, and how large
 * the file is.
 */
export const benchAsk = async ({ scale, folder, what, ...asking }: AskBench): Promise<void> => {
  const wanted = parts.filter((part) => what === null || what === part)
  if (wanted.length === 0) throw new Error(`Cannot measure "${what}": it is one of ${parts.join(', ')}`)
  const dataDir = folder === null ? benchFolder() : resolve(folder)
  mkdirSync(dataDir, { recursive: true })
  try {
    await fillOnce(dataDir, sizeOf(scale))
    const looked = await lookedAt(dataDir)
    const service = await startEmptyService({ dataDir })
    try {
      await report(service, looked, { ...asking, wanted })
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

type Looked = {
  /** The last position. */
  readonly last: number
  /** Some events of the whole log, which the questions are about. */
  readonly samples: readonly RecordedEvent[]
  readonly longKey: string
}

const samplesWanted = 5_000

const lookedAt = async (dataDir: string): Promise<Looked> => {
  const log = openSqliteLog({ dataDir })
  try {
    const last = (await log.readAll({ direction: 'backwards', limit: 1 }))[0]?.position ?? 0
    const samples: RecordedEvent[] = []
    for (let count = 0; count < samplesWanted; count += 1) {
      samples.push(...(await log.readAll({ from: Math.floor((last * count) / samplesWanted), limit: 1 })))
    }
    const first = await log.readAll({ limit: logReadPageEvents })
    const created = first.find(({ type }) => type === 'KeyCreated')
    if (created === undefined) throw new Error(`Cannot ask: the log in ${dataDir} begins without a key`)
    return { last, samples, longKey: keyIdOf(created.stream) }
  } finally {
    await log.close()
  }
}

type Wanted = Pick<AskBench, 'rounds' | 'seconds'> & { readonly wanted: readonly Part[] }

const report = async (
  service: EmptyService,
  { last, samples, longKey }: Looked,
  { wanted, rounds, seconds }: Wanted,
): Promise<void> => {
  const startMs = performance.now()
  await untilFolded(service.dataDir, last)
  console.log(
    `\nask.db of ${last} events was built in ${((performance.now() - startMs) / 1_000).toFixed(0)} s of a running service\n`,
  )
  using database = new Database(modelPath(service.dataDir, 'ask'), { readonly: true })
  console.log(sizes(database))
  if (wanted.every((part) => part === 'fill')) return
  const loaded = await withKeys(service, loadKeys)
  const about = askedAbout(samples)
  const loadOf = async () => {
    const { url, cellar, keys } = loaded
    const perSecond = shareOfTop * (await topRate(loaded, topRateSeconds))
    return { url, cellar, keys, perSecond, seconds }
  }
  if (wanted.includes('look-ups')) {
    database.run(`PRAGMA cache_size = -${questionCacheKib}`)
    const lookUps = askedLookUps({ index: prepareAskStatements(database), service, about })
    await measureQuestions('Look-ups', lookUps, { rounds, load: await loadOf() })
  }
  if (wanted.includes('pages')) {
    const pages = await askedPages({ service, about, longKey, last })
    await measureQuestions('Pages', pages, { rounds, load: await loadOf() })
  }
  if (wanted.includes('watched')) {
    const watching = { about, shareOfTop, rounds: Math.min(rounds, watchedRoundsMax), seconds }
    await measureWatchedLog(loaded, watching)
  }
}

const watchedRoundsMax = 8

const untilFolded = async (dataDir: string, last: number): Promise<void> => {
  for (const deadline = Date.now() + 3_600_000; Date.now() < deadline; await Bun.sleep(100)) {
    if (foldedTo(dataDir) >= last) return
  }
  throw new Error('Cannot measure: ask.db was not built within an hour')
}

const foldedTo = (dataDir: string): number => {
  using database = new Database(modelPath(dataDir, 'ask'), { readonly: true })
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

import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { cpSync, existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { modelPath } from '../../../src/derived/model-file.ts'
import type { RecordedEvent } from '../../../src/domain/events.ts'
import type { KegQuery } from '../../../views/kegs/keg-types.ts'
import { paths } from '../../../views/paths.ts'
import { type Visitor, visitor } from '../../http/dashboard/visitor.ts'
import { cellarbook, newFolder, type ServiceProcess, startedProcesses } from '../../support/cellarbook.ts'
import { isEmbedded, openLogOf } from '../../support/logs/engine.ts'
import { pageAndExport } from '../../support/readings/page-and-export.ts'
import { seededNumbers } from '../../support/seeded-entropy.ts'
import { addOperators, emailOf, testPassword } from '../../support/test-operators.ts'
import { startService } from '../../support/test-service.ts'
import { manualClock } from '../../support/time/manual-clock.ts'

setDefaultTimeout(600_000)

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000]
const cellar = 'wine'
const kegs = ['steady', 'steady', 'steady', 'other', 'silent'] as const
type Keg = (typeof kegs)[number]
const beganMs = Date.now()
const at = (agoMs: number): string => new Date(beganMs - agoMs).toISOString()
/** From minutes to days, up to now or up to an earlier time. */
const ranges: readonly Partial<KegQuery>[] = [
  { from: at(hourMs), to: at(0) },
  { from: at(22 * hourMs), to: at(2 * hourMs) },
  { range: '24h' },
  { from: at(60 * dayMs), to: at(0) },
]

const folder = newFolder()
const copied = newFolder()
const { start, killAll } = startedProcesses()
afterAll(async () => {
  await killAll()
  for (const each of [folder, copied]) each.remove()
})

let key = ''
let service: ServiceProcess
let person: Visitor

const next = seededNumbers(42)
const pick = <T>(list: readonly [T, ...T[]]): T => list[next() % list.length] ?? list[0]
let repeated: object = {}
let lateMsMax = 9 * dayMs
const readingOf = (keg: Keg, timeMs: number): object => {
  const timestamp = new Date(timeMs).toISOString()
  repeated = { cellar, rack: 'rack-1', keg, value: pick([0, -17.125, 0.1, (next() % 1_000) / 8]), timestamp }
  return repeated
}

/** On time, late, or with the time of an earlier one. */
const anyReading = (nowMs: number): object => {
  const keg = pick(kegs)
  if ('keg' in repeated && next() % 10 === 0) return { ...repeated, keg }
  const lateMs = Math.min(lateMsMax, pick([0, 0, 0, 0, minuteMs, 50 * minuteMs, 18 * hourMs, 9 * dayMs]))
  return readingOf(keg, nowMs - lateMs - (next() % minuteMs) - (keg === 'silent' ? 3 * hourMs : 0))
}

/** The readings of the future are drawn in nine minutes, or never. */
const batchOf = (nowMs: number): readonly object[] => [
  ...Array.from({ length: 30 }, () => anyReading(nowMs)),
  ...(['steady', 'other'] as const).flatMap((keg) =>
    [9, 11].map((minutes) => readingOf(keg, nowMs + minutes * minuteMs)),
  ),
]

const post = async (path: string, body: object): Promise<void> => {
  const headers = { 'Content-Type': 'application/json', 'X-API-Key': key }
  const answer = await fetch(`${service.url}/api/v1/ingest${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
  expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)])
}

const send = async (): Promise<void> => {
  await post('/batch', { readings: batchOf(Date.now()) })
  for (let single = 0; single < 6; single += 1) await post('', anyReading(Date.now()))
}

const startOn = async (dataDir: string, environment = {}): Promise<void> => {
  service = await start(dataDir, { environment })
  person = visitor(service.url)
  await person.get('/sign-in')
  expect((await person.post('/sign-in', { email: emailOf.admin, password: testPassword, next: '' })).status).toBe(303)
}

const end = async (signal: NodeJS.Signals): Promise<void> => {
  service.signal(signal)
  expect(await service.exited).toBe(signal === 'SIGKILL' ? 137 : 0)
}

beforeAll(async () => {
  const log = await openLogOf(folder.path)
  const clock = manualClock(beganMs - 3 * dayMs)
  await addOperators(log, clock.now())
  const then = await startService({ log, clock })
  key = (await then.createKey({ cellar, limit: { readings: 1_000_000, windowMs: minuteMs } })).key
  for (let batch = 0; batch < 12; batch += 1) {
    clock.advance(minuteMs)
    expect((await then.postBatch(batchOf(clock.now()), key)).status).toBe(200)
  }
  await then.stop()
  await log.close()
  await startOn(folder.path)
})

const exported = async (fields: Readonly<Record<string, string>>): Promise<readonly RecordedEvent[]> => {
  await person.get('/cellars')
  const { status, body } = await person.post('/exports', { ...fields, format: 'ndjson' })
  expect(status).toBe(200)
  const lines = body.split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line, (name, value) => asNumber[name]?.(value) ?? value))
}
const asNumber: Readonly<Record<string, (text: string) => number>> = { recordedAt: Date.parse, position: Number }

const isBehind = ({ body }: { readonly body: string }): boolean =>
  /are being sorted in|cannot show readings right now|log is unavailable/.test(body)

/** The first page that does not say that readings are missing. */
const wholePage = async (keg: string, query: Partial<KegQuery>): Promise<string> => {
  for (;;) {
    const page = await person.get(paths.keg(cellar, 'rack-1', keg, query))
    expect(page.status).toBe(200)
    if (!isBehind(page)) return page.body
  }
}

const expectCharts = async (): Promise<void> => {
  const history = [
    ...(await exported({ list: 'readings', cellar })),
    ...(await exported({ list: 'events', cellar, type: 'ReadingsPurged' })),
  ].toSorted((a, b) => a.position - b.position)
  const totals = { count: 0, late: 0, repeats: 0, ahead: 0, gaps: 0 }
  for (const keg of new Set(kegs)) {
    for (const query of ranges) {
      const toMs = query.to === undefined ? null : Date.parse(query.to)
      const compared = async () => pageAndExport(await wholePage(keg, query), { cellar, keg, history, toMs })
      let { shown, wanted, counts } = await compared()
      // A separate store can deliver a reading to the node after its answer. So the test asks again.
      while (!isEmbedded && !Bun.deepEquals(shown, wanted)) ({ shown, wanted, counts } = await compared())
      expect<unknown>(shown).toEqual(wanted)
      for (const name of ['count', 'late', 'repeats', 'ahead', 'gaps'] as const) totals[name] += counts[name]
    }
  }
  expect(Object.entries(totals).filter(([, total]) => total === 0)).toEqual([])
}

const equal = 'charts equal the exported readings'

test(equal, async () => {
  await send()
  await expectCharts()
})

const killUnderLoad = async (sendsMin: number): Promise<void> => {
  let sent = 0
  const repeatedly = async (work: () => Promise<unknown>): Promise<void> => {
    for (;;) await work()
  }
  const sendAndKill = async (): Promise<void> => {
    await send()
    sent += 1
    if (sent === sendsMin) service.signal('SIGKILL')
  }
  // The pages cause flushes. So some kills come within one.
  const page = () => person.get(paths.keg(cellar, 'rack-1', 'steady'))
  await Promise.allSettled([sendAndKill, sendAndKill, page, page].map(repeatedly))
  expect(await service.exited).toBe(137)
}

test(`${equal} after kill -9`, async () => {
  for (const sends of [2, 6, 12]) {
    await killUnderLoad(sends)
    await startOn(folder.path)
    await expectCharts()
  }
})

const path = modelPath(folder.path, 'readings')

test(`${equal} after writes to files failed`, async () => {
  // A test cannot fill a disk. With this limit, each write fails in the same way.
  const limitFiles = (bytes: string) => {
    const ran = Bun.spawnSync(['prlimit', '--pid', String(service.processId), `--fsize=${bytes}:`])
    expect(ran.exitCode).toBe(0)
  }
  for (let hasFailed = false; !hasFailed; ) {
    await send()
    limitFiles('1')
    // The model can have been flushed just before.
    hasFailed = isBehind(await person.get(paths.keg(cellar, 'rack-1', 'steady')))
    if (!hasFailed) limitFiles('unlimited')
  }
  limitFiles('unlimited')
  await expectCharts()
})

test(`${equal} after readings.db was deleted under the service`, async () => {
  rmSync(path)
  await send()
  await expectCharts()
})

const older = `${path}.older`
const copyFiles = (from: string, to: string): void => {
  for (const part of ['', '-wal', '-shm']) rmSync(to + part, { force: true })
  for (const part of ['', '-wal']) if (existsSync(from + part)) cpSync(from + part, to + part)
}

const spoilPagesOf = (table: string): void => {
  const database = new Database(path)
  const select = 'SELECT rootpage, page_size AS bytes FROM sqlite_schema, pragma_page_size WHERE name = ?'
  const page = database.query<{ rootpage: number; bytes: number }, [string]>(select).get(table)
  database.close()
  if (page === null) throw new Error(`There is no table ${table}`)
  const from = (page.rootpage - 1) * page.bytes
  writeFileSync(path, readFileSync(path).fill(0x5a, from, from + page.bytes))
}

const harms: readonly (readonly [what: string, end: NodeJS.Signals, harm: () => void])[] = [
  [
    'deleted',
    'SIGTERM',
    () => {
      copyFiles(path, older)
      rmSync(path)
    },
  ],
  ['replaced by an older one', 'SIGKILL', () => copyFiles(older, path)],
  ['truncated', 'SIGTERM', () => truncateSync(path, Math.floor(statSync(path).size / 2))],
  ['overwritten at its beginning', 'SIGTERM', () => writeFileSync(path, readFileSync(path).fill(0x5a, 0, 64))],
  ['damaged in its minutes', 'SIGTERM', () => spoilPagesOf('minutes')],
  ['damaged in its hours', 'SIGTERM', () => spoilPagesOf('hours')],
]

const harmed = async (signal: NodeJS.Signals, harm: () => void): Promise<void> => {
  await send()
  await end(signal)
  harm()
  await startOn(folder.path)
  await expectCharts()
}

for (const [what, signal, harm] of harms) test(`${equal} after readings.db was ${what}`, () => harmed(signal, harm))

test(`${equal} after a purge, and after readings.db was lost then`, async () => {
  const words = ['cellar', 'policy', cellar, '--retention', '1d', '--yes']
  expect((await cellarbook(words, { DATA_DIR: folder.path })).exitCode).toBe(0)
  // A cellar with a retention refuses older readings.
  lateMsMax = 18 * hourMs
  repeated = {}
  await send()
  // A purge comes soon after a start.
  await end('SIGTERM')
  await startOn(folder.path)
  while (!(await wholePage('steady', { range: '30d' })).includes('keeps readings for a limited time'));
  await send()
  await expectCharts()
  await harmed('SIGKILL', () => rmSync(path))
})

test(`${equal} in a copy of the log with the old readings.db`, async () => {
  await send()
  await end('SIGTERM')
  const from = isEmbedded ? folder.path : 'eventstore'
  const ran = await cellarbook(['log', 'copy', '--from', from, '--to', copied.path], { DATA_DIR: folder.path })
  expect([ran.exitCode, ran.stderr]).toEqual([0, expect.any(String)])
  copyFiles(path, modelPath(copied.path, 'readings'))
  await startOn(copied.path, { EVENTSTORE_URL: '' })
  await send()
  await expectCharts()
})

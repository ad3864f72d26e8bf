import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { cpSync, existsSync, rmSync, statSync, truncateSync } from 'node:fs'
import { modelPath } from '../../../src/derived/model-file.ts'
import { modelKinds } from '../../../src/derived/model-kinds.ts'
import { eventsOfItems } from '../../../src/domain/reading/recorded-run.ts'
import { ensureLogCreated } from '../../../src/log/log-identity.ts'
import { openSource } from '../../../src/log/open-source.ts'
import { askFromLog } from '../../support/ask/ask-from-log.ts'
import { fileContents, withoutIds } from '../../support/ask/file-contents.ts'
import { cellarbook, newFolder, startProcess, textOf } from '../../support/cellarbook.ts'
import { followedHere } from '../../support/derived/followed-here.ts'
import { openLogOf, sourceConfigOf } from '../../support/logs/engine.ts'
import { itemsAfter } from '../../support/logs/pages-of-source.ts'
import { timesToTry } from '../../support/long-trials.ts'
import { everythingOf, expectedOf } from '../../support/readings/expected-readings.ts'
import { seededEntropy, seededNumbers } from '../../support/seeded-entropy.ts'
import { manualClock } from '../../support/time/manual-clock.ts'

const rounds = timesToTry(6, 42)
const devices = 6
const next = seededNumbers(40)
const below = (max: number): number => next() % max
const minuteMs = 60_000

let repeated: object = {}
/** On time, late, repeated, or so far in the future that the model must not count it. */
const anyReading = (): object => {
  if (below(10) === 0 && 'keg' in repeated) return repeated
  const lateMs = [0, 0, 0, minuteMs, 50 * minuteMs, 20 * 60 * minuteMs, -9 * minuteMs, -11 * minuteMs][below(8)] ?? 0
  const timestamp = new Date(Date.now() - lateMs).toISOString()
  repeated = { cellar: 'wine', rack: `rack-${below(3)}`, keg: `keg-${below(40)}`, value: below(1_000) / 8, timestamp }
  return repeated
}

const post = async (url: string, key: string): Promise<boolean> => {
  const count = [1, 1, 3, 60][below(4)] ?? 1
  const readings = Array.from({ length: count }, anyReading)
  const response = await fetch(`${url}/api/v1/ingest${count === 1 ? '' : '/batch'}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-API-Key': key },
    body: JSON.stringify(count === 1 ? readings[0] : { readings }),
  })
  await response.text()
  return response.ok
}

const endUnderLoad = async (dataDir: string, key: string, signal: NodeJS.Signals): Promise<void> => {
  const service = await startProcess(dataDir)
  const answersMin = 60 + below(200)
  let answers = 0
  const device = async (): Promise<void> => {
    for (;;) {
      if (await post(service.url, key)) answers += 1
      if (answers === answersMin) service.signal(signal)
    }
  }
  await Promise.allSettled(Array.from({ length: devices }, device))
  expect(await service.exited).toBe(signal === 'SIGKILL' ? 137 : 0)
}

const copyFiles = (from: string, to: string): void => {
  for (const end of ['', '-wal', '-shm']) rmSync(to + end, { force: true })
  for (const end of ['', '-wal']) if (existsSync(from + end)) cpSync(from + end, to + end)
}

type Harm = (path: string, older: string) => void

/** A service that stops flushes its models, and a killed one does not. Then something happens to the files. */
const ends: readonly (readonly [end: NodeJS.Signals, harm: Harm | null])[] = [
  ['SIGTERM', (path, older) => copyFiles(path, older)],
  ['SIGTERM', null],
  ['SIGKILL', (path) => truncateSync(path, Math.floor(statSync(path).size / 2))],
  ['SIGKILL', (path, older) => copyFiles(older, path)],
  ['SIGTERM', null],
  ['SIGKILL', null],
]

test('models of a service that was killed often equal a computation from its log', async () => {
  const [folder, elsewhere] = [newFolder(), newFolder()]
  const { path } = folder
  const environment = { DATA_DIR: path }
  await cellarbook(['cellar', 'create', 'wine'], environment)
  const words = ['key', 'create', '--cellar', 'wine', '--limit', '10000000/60', '--json']
  const key = textOf((await cellarbook(words, environment)).lines[0], 'key')
  for (let done = 0; done < rounds; done += 1) {
    const [end, harm] = ends[done % ends.length] ?? ['SIGKILL', null]
    await endUnderLoad(path, key, end)
    for (const { name } of modelKinds) harm?.(modelPath(path, name), modelPath(elsewhere.path, name))
  }

  const log = await openLogOf(path)
  const logId = await ensureLogCreated(log, manualClock(), seededEntropy())
  const followed = followedHere(log, {
    dataDir: path,
    kinds: modelKinds,
    logId,
    source: await openSource(sourceConfigOf(path)),
  })
  await followed.whole('ask', 'readings')
  await followed.end()
  const source = await openSource(sourceConfigOf(path))
  const items = await itemsAfter(source, null)
  await source.close()
  await log.close()
  const events = eventsOfItems(items)
  expect(events.length).toBeGreaterThan(60 * rounds)
  const readings = new Database(modelPath(path, 'readings'), { readonly: true })
  expect(everythingOf(readings)).toEqual(expectedOf(items))
  readings.close()
  const asked = withoutIds(askFromLog(events))
  expect(fileContents(modelPath(path, 'ask'))).toEqual(asked)
  for (const each of [folder, elsewhere]) each.remove()
}, 600_000)

import { afterAll, afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { copyFileSync, existsSync, renameSync, rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { cellarbook, newFolder, type ServiceProcess, startedProcesses, textOf } from '../../support/cellarbook.ts'
import { validReading } from '../../support/test-service.ts'

setDefaultTimeout(600_000)

const folder = newFolder()
afterAll(() => folder.remove())

const processes = startedProcesses()
afterEach(processes.killAll)

const embedded = { EVENTSTORE_URL: '' }
const start = (dataDir: string) => processes.start(dataDir, { environment: embedded })
const run = (dataDir: string, ...words: readonly string[]) => cellarbook(words, { DATA_DIR: dataDir, ...embedded })

const post = async ({ url }: ServiceProcess, key: string): Promise<number> => {
  const headers = { 'Content-Type': 'application/json', 'X-API-Key': key }
  return (await fetch(`${url}/api/v1/ingest`, { method: 'POST', headers, body: JSON.stringify(validReading) })).status
}

let count = 0
const serviceWithKey = async () => {
  const dataDir = join(folder.path, `data-${count++}`)
  await run(dataDir, 'cellar', 'create', validReading.cellar)
  const made = await run(dataDir, 'key', 'create', '--cellar', validReading.cellar, '--json')
  const service = await start(dataDir)
  const key = textOf(made.lines[0], 'key')
  expect(await post(service, key)).toBe(200)
  return { dataDir, service, key }
}

const replace = (path: string): void => {
  copyFileSync(path, `${path}.copy`)
  renameSync(`${path}.copy`, path)
}

type Damage = (dataDir: string) => void
const restore = /Before the next start, put ".*" back as it was, or restore a backup into an empty folder\n$/
const nothingLost = /othing is lost\. Start the service again\..*\n$/
const damages: readonly (readonly [title: string, damage: Damage, remedy: RegExp])[] = [
  ['deleted data folder', (dataDir) => rmSync(dataDir, { recursive: true }), restore],
  ['deleted log', (dataDir) => rmSync(join(dataDir, 'log.db')), restore],
  ['replaced log', (dataDir) => replace(join(dataDir, 'log.db')), restore],
  ['truncated log', (dataDir) => truncateSync(join(dataDir, 'log.db'), 2_048), restore],
  ['truncated write-ahead log', (dataDir) => truncateSync(join(dataDir, 'log.db-wal'), 0), restore],
  ['deleted write-ahead log', (dataDir) => rmSync(join(dataDir, 'log.db-wal')), nothingLost],
  ['deleted lock', (dataDir) => rmSync(join(dataDir, 'log.lock')), nothingLost],
]

test.each(damages)('a %s ends the service with 78 and one plain line', async (_, damage, remedy) => {
  const { dataDir, service, key } = await serviceWithKey()
  damage(dataDir)
  // A service that does not notice would answer 200 for ever, so the loop ends with the process.
  let status = 200
  while (status === 200) status = await post(service, key).catch(() => 0)
  expect([0, 503]).toContain(status)
  expect(await service.exited).toBe(78)
  const [, told = ''] = /^cellarbook: (.*\n)/m.exec(service.stderr()) ?? []
  expect(told).toMatch(remedy)
  expect(service.stderr()).not.toMatch(/\n\s+at /)
  const lines = service
    .stdout()
    .split('\n')
    .filter((line) => line.includes('the files of the log were changed'))
  expect(lines).toHaveLength(1)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ why: told.trimEnd() })
})

test('readings acknowledged before the write-ahead log was deleted are there after the next start', async () => {
  const { dataDir, service, key } = await serviceWithKey()
  rmSync(join(dataDir, 'log.db-wal'))
  let acknowledged = 1
  while ((await post(service, key).catch(() => 0)) === 200) acknowledged += 1
  expect(await service.exited).toBe(78)
  const { lines } = await run(dataDir, 'log', 'read', '--type', 'ReadingAccepted', '--json')
  expect(lines.length).toBeGreaterThanOrEqual(acknowledged)
})

test('a service that lost its folder leaves the files of a second service', async () => {
  const { dataDir, service } = await serviceWithKey()
  service.signal('SIGSTOP')
  rmSync(dataDir, { recursive: true })
  const second = await start(dataDir)
  service.signal('SIGCONT')
  expect(await service.exited).toBe(78)
  for (const name of ['log.db', 'log.db-wal', 'control.sock']) expect(existsSync(join(dataDir, name))).toBe(true)
  expect((await run(dataDir, 'cellar', 'create', 'second')).exitCode).toBe(0)
  expect(await second.stop()).toBe(0)
  expect((await run(dataDir, 'cellar', 'list', '--json')).lines).toMatchObject([{ cellar: 'second' }])
})

test('a service that is told to stop leaves the files of a second service, too', async () => {
  const { dataDir, service } = await serviceWithKey()
  service.signal('SIGSTOP')
  rmSync(dataDir, { recursive: true })
  await start(dataDir)
  service.signal('SIGTERM')
  service.signal('SIGCONT')
  expect(await service.exited).toBe(78)
  expect(existsSync(join(dataDir, 'log.db-wal'))).toBe(true)
})

import { Database, SQLiteError } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { allEvents, askFromLog } from '../../support/ask/ask-from-log.ts'
import { fileContents, withoutIds } from '../../support/ask/file-contents.ts'
import { cellarbook, newFolder, type ServiceProcess, startProcess, textOf } from '../../support/cellarbook.ts'
import { openLogOf } from '../../support/logs/engine.ts'
import { until } from '../../support/time/until.ts'

const folder = newFolder()
const path = join(folder.path, 'ask.db')
const copy = join(folder.path, 'ask.copy')
const running: ServiceProcess[] = []
afterAll(async () => {
  for (const service of running) {
    service.signal('SIGKILL')
    await service.exited
  }
  folder.remove()
})

const start = async (): Promise<ServiceProcess> => {
  const service = await startProcess(folder.path)
  running.push(service)
  return service
}

const post = async ({ url }: ServiceProcess, key: string, count: number): Promise<void> => {
  const readings = Array.from({ length: count }, (_, index) => ({
    cellar: 'c',
    rack: `r${index % 5}`,
    keg: 'k',
    value: index,
    timestamp: '2026-03-01T12:00:00Z',
  }))
  const answer = await fetch(`${url}/api/v1/ingest/batch`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-API-Key': key },
    body: JSON.stringify({ readings }),
  })
  expect(answer.status).toBe(200)
}

const expectWhole = async (): Promise<void> => {
  const log = await openLogOf(folder.path)
  const events = await allEvents(log)
  await log.close()
  // A service that stops while it still reads the log leaves the rest to its next start.
  if (headPosition() !== events.at(-1)?.position) {
    const service = await start()
    await until(() => headPosition() === events.at(-1)?.position)
    expect(await service.stop()).toBe(0)
  }
  expect(fileContents(path)).toEqual(withoutIds(askFromLog(events)))
}

/** `undefined`: the file has no head yet. */
const headPosition = (): number | undefined => {
  try {
    using database = new Database(path, { readonly: true })
    return database.query<{ position: number }, []>('SELECT position FROM head').get()?.position
  } catch (cause) {
    if (cause instanceof SQLiteError) return undefined
    throw cause
  }
}

/** Starts the service, posts readings, and ends it, which writes the last change. Waits for the line before. */
const live = async (key: string, line = /"listening"/): Promise<void> => {
  const service = await start()
  await post(service, key, 50)
  await service.untilStdout(line)
  expect(await service.stop()).toBe(0)
}

test('ask.db says what the log says, also after it was deleted, damaged or replaced', async () => {
  const environment = { DATA_DIR: folder.path }
  await cellarbook(['cellar', 'create', 'c'], environment)
  const key = textOf((await cellarbook(['key', 'create', '--cellar', 'c', '--json'], environment)).lines[0], 'key')
  await live(key)
  await expectWhole()
  copyFileSync(path, copy)
  await live(key)
  await expectWhole()

  copyFileSync(copy, path)
  await live(key)
  await expectWhole()

  rmSync(path)
  await live(key)
  await expectWhole()

  const bytes = readFileSync(path)
  bytes.fill(0x5a, 0, 64)
  writeFileSync(path, bytes)
  await live(key, /ask.db is built again from the log/)
  await expectWhole()

  rmSync(path)
  mkdirSync(path)
  const service = await start()
  await service.untilStdout(/ask.db cannot be used/)
  expect(await service.stop()).toBe(0)
}, 600_000)

// A full disk gives the same error, but a test cannot fill a disk.
test('a locked ask.db is kept, and used as soon as it is free', async () => {
  const other = newFolder()
  const path = join(other.path, 'ask.db')
  const environment = { DATA_DIR: other.path }
  await cellarbook(['cellar', 'create', 'c'], environment)
  const before = await startProcess(other.path)
  running.push(before)
  expect(await before.stop()).toBe(0)
  const bytes = readFileSync(path)

  const program = new Database(path)
  program.run('PRAGMA locking_mode = EXCLUSIVE')
  program.run('BEGIN EXCLUSIVE')
  const service = await startProcess(other.path)
  running.push(service)
  await service.untilStdout(/ask.db cannot be used/)
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
  expect(readFileSync(path).equals(bytes)).toBe(true)
  program.run('ROLLBACK')
  program.close()
  await service.untilStdout(/ask.db is used again/)
  expect(await service.stop()).toBe(0)
  expect(service.stdout()).not.toContain('is built again')
  other.remove()
}, 600_000)

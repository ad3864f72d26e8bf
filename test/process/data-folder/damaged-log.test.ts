import { Database } from 'bun:sqlite'
import { afterAll, afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cellarbook, newFolder, startedProcesses, textOf } from '../../support/cellarbook.ts'
import { harmLog } from '../../support/logs/harm.ts'

setDefaultTimeout(600_000)

const folder = newFolder()
afterAll(() => folder.remove())

const processes = startedProcesses()
afterEach(processes.killAll)

const embedded = { EVENTSTORE_URL: '' }
const run = (dataDir: string, ...words: readonly string[]) => cellarbook(words, { DATA_DIR: dataDir, ...embedded })

/** Changes the row of the cellar's creation. Returns how the damage must be named. */
const harm = (dataDir: string): string => {
  let says = ''
  harmLog(dataDir, (database) => {
    const select =
      "SELECT position, name FROM events JOIN streams ON id = stream WHERE name GLOB 'cellar-*' AND body LIKE '%wine%'"
    const row = database.query<{ position: number; name: string }, []>(select).get()
    if (row === null) throw new Error('The log has no cellar')
    database.run('UPDATE events SET recorded_at = recorded_at + 1 WHERE position = ?', [row.position])
    const place = `revision 0 of "${row.name}", position ${row.position}`
    says = `The log is damaged at ${place}: the row does not match its checksum`
  })
  return says
}

/** Fills a page of the SQLite file with nonsense. */
const overwritePage = (file: string, table: string): void => {
  const { page, bytes } = placeOf(file, table)
  const harmed = readFileSync(file).fill(0xa5, (page - 1) * bytes, page * bytes)
  writeFileSync(file, harmed)
}

const placeOf = (file: string, table: string): { readonly page: number; readonly bytes: number } => {
  using database = new Database(file)
  database.run('PRAGMA wal_checkpoint(TRUNCATE)')
  const query = 'SELECT rootpage AS page, page_size AS bytes FROM sqlite_schema, pragma_page_size WHERE name = ?'
  const place = database.query<{ page: number; bytes: number }, [string]>(query).get(table)
  if (place === null) throw new Error(`The file has no "${table}"`)
  return place
}

describe('a log that SQLite finds malformed', () => {
  test('stops the start and a command with 78', async () => {
    const dataDir = join(folder.path, 'malformed')
    expect((await run(dataDir, 'cellar', 'create', 'wine')).exitCode).toBe(0)
    overwritePage(join(dataDir, 'log.db'), 'events')
    for (const words of [['serve'], ['cellar', 'list']]) {
      const { exitCode, stderr } = await run(dataDir, ...words)
      expect([words, exitCode, stderr]).toEqual([
        words,
        78,
        expect.stringMatching(/log is damaged: .*malformed.*backup/),
      ])
    }
  })
})

describe('a damaged index of idempotency keys', () => {
  test('is built again at the start, which says so in one line', async () => {
    const dataDir = join(folder.path, 'repeats')
    const first = await processes.start(dataDir, { environment: embedded })
    await first.stop()
    overwritePage(join(dataDir, 'idempotency.db'), 'appends')
    const service = await processes.start(dataDir, { environment: embedded })
    const warned = await service.untilStdout(/\{"level":"warn".*index of idempotency keys is built again.*\}/)
    expect(JSON.parse(warned?.[0] ?? '{}')).toMatchObject({ why: expect.any(String) })
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
  })

  test('stores no repeat again after its rows were deleted', async () => {
    const dataDir = join(folder.path, 'deleted-repeats')
    await run(dataDir, 'cellar', 'create', 'c')
    const key = textOf((await run(dataDir, 'key', 'create', '--cellar', 'c', '--json')).lines[0], 'key')
    const post = async (url: string): Promise<string> => {
      const headers = { 'Content-Type': 'application/json', 'X-API-Key': key, 'Idempotency-Key': 'one' }
      const body = '{"cellar":"c","rack":"r","keg":"k","value":1,"timestamp":"2026-03-01T12:00:00Z"}'
      const answer = await fetch(`${url}/api/v1/ingest`, { method: 'POST', headers, body })
      expect(answer.status).toBe(200)
      return answer.text()
    }
    const first = await processes.start(dataDir, { environment: embedded })
    const stored = await post(first.url)
    await first.stop()
    const index = new Database(join(dataDir, 'idempotency.db'))
    expect(index.run('DELETE FROM appends').changes).toBe(1)
    index.close()
    const service = await processes.start(dataDir, { environment: embedded })
    const warned = await service.untilStdout(/\{"level":"warn".*built again.*\}/)
    expect(JSON.parse(warned?.[0] ?? '{}')).toMatchObject({ why: expect.stringContaining('0 rows, but must have 1') })
    expect(await post(service.url)).toBe(stored)
  })
})

describe('a log with a changed row', () => {
  test('stops the start, a command and a copy with 78, and names the row', async () => {
    const dataDir = join(folder.path, 'changed')
    for (const cellar of ['wine', 'beer']) expect((await run(dataDir, 'cellar', 'create', cellar)).exitCode).toBe(0)
    const says = harm(dataDir)
    const copy = ['log', 'copy', '--from', dataDir, '--to', join(folder.path, 'copy')]
    for (const words of [['serve'], ['cellar', 'list'], ['log', 'read'], copy]) {
      const { exitCode, stderr } = await run(dataDir, ...words)
      expect([words, exitCode, stderr]).toEqual([words, 78, expect.stringContaining(says)])
      expect(stderr).not.toContain('bug')
    }
  })

  test('is named by a running service, which stays ready', async () => {
    const dataDir = join(folder.path, 'served')
    const service = await processes.start(dataDir, { environment: embedded })
    expect((await run(dataDir, 'cellar', 'create', 'wine')).exitCode).toBe(0)
    const says = harm(dataDir)
    const { exitCode, stderr } = await run(dataDir, 'log', 'read')
    expect([exitCode, stderr]).toEqual([78, expect.stringContaining(says)])
    const warned = await service.untilStdout(/\{"level":"warn".*"reason":"damaged".*\}/)
    expect(JSON.parse(warned?.[0] ?? '{}')).toMatchObject({ reason: 'damaged', why: expect.stringContaining(says) })
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
  })
})

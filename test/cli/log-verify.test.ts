import { afterAll, afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { copyFileSync, cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { cellarbook, newFolder, startedProcesses, textOf } from '../support/cellarbook.ts'
import { startLogServer } from '../support/log-server/server.ts'
import { harmLog } from '../support/logs/harm.ts'

setDefaultTimeout(600_000)

const folder = newFolder()
afterAll(() => folder.remove())
const processes = startedProcesses()
afterEach(processes.killAll)

const embedded = { EVENTSTORE_URL: '' }
const run = (dataDir: string, ...words: readonly string[]) => cellarbook(words, { DATA_DIR: dataDir, ...embedded })

const made = (async () => {
  const dataDir = join(folder.path, 'made')
  await run(dataDir, 'cellar', 'create', 'wine')
  copyFileSync(join(dataDir, 'log.db'), join(folder.path, 'old.db'))
  await run(dataDir, 'key', 'create', '--cellar', 'wine')
  return dataDir
})()
const copyOfMade = async (name: string): Promise<string> => {
  const dataDir = join(folder.path, name)
  cpSync(await made, dataDir, { recursive: true })
  return dataDir
}
const changeRow = (dataDir: string): void =>
  harmLog(dataDir, (database) => database.run('UPDATE events SET recorded_at = recorded_at + 1 WHERE position = 2'))

describe('cellarbook log verify', () => {
  test('says that a log is sound', async () => {
    const { exitCode, stdout, stderr } = await run(await made, 'log', 'verify')
    expect([exitCode, stdout]).toEqual([0, 'result   sound\nrows     3\nevents   3\nstreams  3\n'])
    expect(stderr).toEndWith('The whole log was read. It is sound.\n')
  })

  test('ends with 65 for a damaged log, and names the first damage', async () => {
    const dataDir = await copyOfMade('damaged')
    changeRow(dataDir)
    const { exitCode, stdout, stderr } = await run(dataDir, 'log', 'verify')
    expect([exitCode, stdout]).toEqual([65, expect.stringContaining('damage        1 changed row\n')])
    const place = /revision 0 of "cellar-\w+", position 2: the row does not match its checksum/
    expect(stdout).toMatch(place)
    expect(stderr).toMatch(place)
    expect(stderr).toContain('restore a backup into an empty data folder')
    const { exitCode: sameCode, lines } = await run(dataDir, 'log', 'verify', '--json')
    expect(sameCode).toBe(65)
    expect(lines).toMatchObject([
      { sound: false, damage: { row: 1 }, first: { kind: 'row', revision: 0, position: 2 } },
    ])
  })

  test('finds an end that only the witness knows', async () => {
    const dataDir = await copyOfMade('older')
    copyFileSync(join(folder.path, 'old.db'), join(dataDir, 'log.db'))
    const { exitCode, stdout } = await run(dataDir, 'log', 'verify')
    expect([exitCode, stdout]).toEqual([65, expect.stringContaining('position 3: the witness knows position 3')])
  })

  test('ends with another code if there is no log, or a newer one', async () => {
    const nowhere = await run(join(folder.path, 'nowhere'), 'log', 'verify')
    expect([nowhere.exitCode, nowhere.stderr]).toEqual([78, expect.stringContaining('there is none in')])
    const dataDir = await copyOfMade('newer')
    harmLog(dataDir, (database) => database.run('PRAGMA user_version = 99'))
    const newer = await run(dataDir, 'log', 'verify')
    expect([newer.exitCode, newer.stderr]).toEqual([78, expect.stringContaining('it has format 99')])
  })

  test('works beside a running service, and changes no file', async () => {
    const dataDir = await copyOfMade('served')
    const service = await processes.start(dataDir, { environment: embedded })
    const created = await run(dataDir, 'key', 'create', '--cellar', 'wine', '--json')
    const files = ['log.db', 'log.db-wal', 'log.witness'].map((name) => join(dataDir, name))
    const before = files.map((path) => Bun.hash(readFileSync(path)))
    const { exitCode, stdout, stderr } = await run(dataDir, 'log', 'verify')
    expect([exitCode, stdout, stderr]).toEqual([
      0,
      expect.stringContaining('the pages of the file: stop the service first'),
      'The whole log was read. It is sound.\n',
    ])
    expect(files.map((path) => Bun.hash(readFileSync(path)))).toEqual(before)
    const posted = await fetch(`${service.url}/api/v1/ingest`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-API-Key': textOf(created.lines[0], 'key') },
      body: JSON.stringify({ cellar: 'wine', rack: 'r', keg: 'k', value: 1, timestamp: '2026-03-01T12:00:00Z' }),
    })
    expect(posted.status).toBe(200)
    expect(await service.stop()).toBe(0)
  })

  test('checks a log in EventStoreDB', async () => {
    const server = await startLogServer()
    const environment = { DATA_DIR: join(folder.path, 'node'), EVENTSTORE_URL: server.url }
    await cellarbook(['cellar', 'create', 'wine'], environment)
    const { exitCode, lines } = await cellarbook(['log', 'verify', '--json'], environment)
    expect([exitCode, lines]).toMatchObject([0, [{ sound: true, rows: null, events: 2, streams: 2 }]])
    await server.stop()
  })
})

import { Database } from 'bun:sqlite'
import { afterAll, afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { formatVersion } from '../../src/log/sqlite/schema.ts'
import { cellarbook, newFolder, startedProcesses } from '../support/cellarbook.ts'

setDefaultTimeout(600_000)

const folder = newFolder()
afterAll(() => folder.remove())

const processes = startedProcesses()
afterEach(processes.killAll)

const embedded = { EVENTSTORE_URL: '' }
const option = '--accept-changed-schema'
const start = (dataDir: string, words: readonly string[] = []) =>
  processes.start(dataDir, { words, environment: embedded })
const run = (dataDir: string, ...words: readonly string[]) => cellarbook(words, { DATA_DIR: dataDir, ...embedded })
const change = (dataDir: string, ...statements: readonly string[]): void => {
  using database = new Database(join(dataDir, 'log.db'))
  for (const statement of statements) database.run(statement)
}

let count = 0
const freshFolder = (): string => join(folder.path, `data-${count++}`)

const difference = 'trigger events_stay is missing'
const changedLog = async (): Promise<string> => {
  const dataDir = freshFolder()
  await run(dataDir, 'cellar', 'create', 'wine')
  change(dataDir, 'DROP TRIGGER events_stay')
  return dataDir
}

const acceptances = async (dataDir: string) =>
  (await run(dataDir, 'log', 'read', '--stream', 'cellarbook-log', '--json')).lines.filter(
    ({ type }) => type === 'LogSchemaAccepted',
  )

describe('a log whose schema was changed', () => {
  test('is refused by the service and by every command, with 78 and what differs', async () => {
    const dataDir = await changedLog()
    for (const words of [['serve'], ['cellar', 'create', 'beer'], ['cellar', 'list'], ['log', 'read']]) {
      const { exitCode, stdout, stderr } = await run(dataDir, ...words)
      expect([words, exitCode, stdout]).toEqual([words, 78, ''])
      expect(stderr).toContain(difference)
      expect(stderr).toContain(option)
      expect(stderr.trimEnd().split('\n')).toHaveLength(1)
    }
  })

  test('is served when the option accepts it, with a warning and an event', async () => {
    const dataDir = await changedLog()
    const service = await start(dataDir, [option])
    const warned = await service.untilStdout(/\{"level":"warn".*schema.*\}/)
    expect(JSON.parse(warned?.[0] ?? '{}')).toMatchObject({ level: 'warn', differences: difference })
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
    expect((await run(dataDir, 'cellar', 'create', 'beer')).exitCode).toBe(0)
    expect(await acceptances(dataDir)).toMatchObject([
      { type: 'LogSchemaAccepted', data: { differences: [difference] }, metadata: { by: { kind: 'cli' } } },
    ])
  })

  test('needs the option at each start, and is recorded once for the same differences', async () => {
    const dataDir = await changedLog()
    expect(await (await start(dataDir, [option])).stop()).toBe(0)
    expect((await run(dataDir, 'serve')).exitCode).toBe(78)
    const again = await start(dataDir, [option])
    expect(await acceptances(dataDir)).toHaveLength(1)
    expect(await again.stop()).toBe(0)
    change(dataDir, 'CREATE TABLE notes (a)')
    await start(dataDir, [option])
    expect((await acceptances(dataDir)).map(({ data }) => data)).toEqual([
      { differences: [difference] },
      { differences: ['trigger events_stay is missing', 'table notes was added'] },
    ])
  })

  test('is copied when the option accepts it, into a log that records it', async () => {
    const dataDir = await changedLog()
    const target = freshFolder()
    const words = ['log', 'copy', '--from', dataDir, '--to', target]
    const refused = await run(dataDir, ...words)
    expect([refused.exitCode, refused.stderr]).toEqual([78, expect.stringContaining(difference)])
    expect((await run(dataDir, ...words, option)).exitCode).toBe(0)
    expect((await fetch(`${(await start(target)).url}/readyz`)).status).toBe(200)
    expect(await acceptances(target)).toMatchObject([{ data: { differences: [difference] } }])
  })

  test('has an option in the help', async () => {
    for (const words of [['serve'], ['log', 'copy']]) {
      expect((await cellarbook([...words, '--help'])).stdout).toContain(option)
    }
  })
})

test('a start and commands refuse a log of an older format', async () => {
  const dataDir = freshFolder()
  const created = await run(dataDir, 'cellar', 'create', 'wine')
  expect(created.exitCode).toBe(0)
  change(dataDir, `PRAGMA user_version = ${formatVersion - 1}`)
  const why = `it has format ${formatVersion - 1}, and this version supports only format ${formatVersion}`
  for (const words of [['serve'], ['cellar', 'list'], ['log', 'verify']]) {
    const refused = await run(dataDir, ...words)
    expect([refused.exitCode, refused.stderr]).toEqual([78, expect.stringContaining(why)])
  }
})

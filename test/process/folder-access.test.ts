import { afterAll, afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cellarbook, newFolder, startedProcesses, textOf } from '../support/cellarbook.ts'
import { isEmbedded } from '../support/logs/engine.ts'

setDefaultTimeout(600_000)

const folder = newFolder()
afterAll(() => folder.remove())

const { start, killAll } = startedProcesses()
afterEach(killAll)

let count = 0
const folderOfMode = (mode: number): string => {
  const path = join(folder.path, `data-${count++}`)
  mkdirSync(path)
  chmodSync(path, mode)
  return path
}

/** Makes the process believe that it runs as another user. */
const anotherUser = (): Readonly<Record<string, string>> => {
  const path = join(folder.path, 'another-user.ts')
  writeFileSync(path, 'process.geteuid = () => 54321')
  return { BUN_OPTIONS: `--preload ${path}` }
}

/** Every user accepts files of root. So if the tests run as root, they give the file to another user. */
const notOfRoot = (path: string): void => {
  if (process.geteuid?.() === 0) chownSync(path, 12345, 12345)
}

const commands = [['serve'], ['cellar', 'create', 'a'], ['cellar', 'list']]

describe('a data folder that other users can write', () => {
  test('is refused by the service and every command, and stays empty', async () => {
    const dataDir = folderOfMode(0o777)
    for (const words of commands) {
      const { exitCode, stdout, stderr } = await cellarbook(words, { DATA_DIR: dataDir })
      expect([words, exitCode, stdout]).toEqual([words, 78, ''])
      expect(stderr).toStartWith(`cellarbook: Cannot use the data folder "${dataDir}": `)
      expect(stderr).toContain(`Run: chmod go-w '${dataDir}'. `)
      expect(stderr.trimEnd().split('\n')).toHaveLength(1)
    }
    expect(readdirSync(dataDir)).toEqual([])
  })

  test('is used when ALLOW_SHARED_DATA_DIR accepts it, with one warning each time', async () => {
    const environment = { ALLOW_SHARED_DATA_DIR: '1' }
    const dataDir = folderOfMode(0o777)
    const created = await cellarbook(['cellar', 'create', 'a'], { DATA_DIR: dataDir, ...environment })
    expect([created.exitCode, created.stderr]).toEqual([0, expect.stringMatching(/^cellarbook: warning: .*0777/)])
    const service = await start(dataDir, { environment })
    const warned = await service.untilStdout(/\{"level":"warn".*0777.*\}/)
    expect(JSON.parse(warned?.[0] ?? '{}')).toMatchObject({ level: 'warn', msg: expect.stringContaining(dataDir) })
    expect(service.stdout().match(/0777/g)).toHaveLength(1)
  })
})

test('a data folder of another user is refused by the service and by every command', async () => {
  const dataDir = folderOfMode(0o700)
  notOfRoot(dataDir)
  for (const words of commands) {
    const { exitCode, stderr } = await cellarbook(words, { DATA_DIR: dataDir, ...anotherUser() })
    expect([words, exitCode]).toEqual([words, 78])
    expect(stderr).toContain(', and this process runs as user 54321. Run it as user ')
  }
  expect(readdirSync(dataDir)).toEqual([])
})

test('a command sends nothing to another user’s socket, even in an accepted folder', async () => {
  const dataDir = folderOfMode(0o777)
  let requests = 0
  const fetch = () => {
    requests += 1
    return new Response()
  }
  const socket = join(dataDir, 'control.sock')
  const server = Bun.serve({ unix: socket, fetch })
  notOfRoot(socket)
  const environment = { DATA_DIR: dataDir, ALLOW_SHARED_DATA_DIR: '1', ...anotherUser() }
  for (const words of commands.slice(1)) {
    const { exitCode, stdout, stderr } = await cellarbook(words, environment)
    expect([words, exitCode, stdout]).toEqual([words, 78, ''])
    expect(stderr).toContain(`Cannot trust "${socket}", so nothing was sent: it belongs to user `)
  }
  await server.stop(true)
  expect(requests).toBe(0)
})

test('the service and commands warn about a log that others can read', async () => {
  const dataDir = folderOfMode(0o755)
  await cellarbook(['cellar', 'create', 'a'], { DATA_DIR: dataDir })
  const lock = join(dataDir, 'log.lock')
  chmodSync(lock, 0o644)
  const listed = await cellarbook(['cellar', 'list', '--json'], { DATA_DIR: dataDir })
  expect(listed.exitCode).toBe(0)
  expect(listed.stderr).toContain(`Run: chmod go= '${lock}'\n`)
  const service = await start(dataDir)
  expect(await service.untilStdout(/"level":"warn".*can be read by other users/)).not.toBeNull()
})

test('every file belongs to its user only, whatever the mask of the process', async () => {
  const dataDir = join(folder.path, 'permissive', 'data')
  const maskBefore = process.umask(0)
  try {
    const service = await start(dataDir)
    await cellarbook(['cellar', 'create', 'c'], { DATA_DIR: dataDir })
    const made = await cellarbook(['key', 'create', '--cellar', 'c', '--json'], { DATA_DIR: dataDir })
    expect((await postBatch(service.url, textOf(made.lines[0], 'key'), 1)).status).toBe(200)
    const alive = modesIn(dataDir)
    expect(await service.stop()).toBe(0)
    for (const [name, mode] of [...alive, ...modesIn(dataDir)]) expect([name, mode]).toEqual([name, '600'])
    expect(statSync(dataDir).mode & 0o777).toBe(0o700)
    const names = alive.map(([name]) => name)
    expect(names).toContain('control.sock')
    expect(names).toContain('idempotency.db-wal')
    expect(names.includes('log.db-wal')).toBe(isEmbedded)
    expect(names.includes('log.db-shm')).toBe(isEmbedded)
  } finally {
    process.umask(maskBefore)
  }
})

const postBatch = (url: string, key: string, count: number): Promise<Response> => {
  const reading = { cellar: 'c', rack: 'r', keg: 'k', value: 1, timestamp: '2026-03-01T12:00:00Z' }
  const headers = { 'Content-Type': 'application/json', 'X-API-Key': key }
  const body = JSON.stringify({ readings: Array.from({ length: count }, () => reading) })
  return fetch(`${url}/api/v1/ingest/batch`, { method: 'POST', headers, body })
}

const modesIn = (path: string): readonly (readonly [name: string, mode: string])[] =>
  readdirSync(path).map((name) => [name, (statSync(join(path, name)).mode & 0o777).toString(8)] as const)

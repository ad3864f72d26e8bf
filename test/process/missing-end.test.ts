import { afterAll, afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { copyFileSync, cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cellarbook, newFolder, startedProcesses, textOf } from '../support/cellarbook.ts'
import { timesToTry } from '../support/long-trials.ts'
import { seededNumbers } from '../support/seeded-entropy.ts'

setDefaultTimeout(600_000)

const folder = newFolder()
afterAll(() => folder.remove())
const processes = startedProcesses()
afterEach(processes.killAll)

const embedded = { EVENTSTORE_URL: '' }
const option = '--accept-missing-events'
const start = (dataDir: string, words: readonly string[] = []) =>
  processes.start(dataDir, { words, environment: embedded })
const run = (dataDir: string, ...words: readonly string[]) => cellarbook(words, { DATA_DIR: dataDir, ...embedded })

const post = (url: string, key: string, headers: Record<string, string> = {}) =>
  fetch(`${url}/api/v1/ingest`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-API-Key': key, ...headers },
    body: JSON.stringify({ cellar: 'c', rack: 'r', keg: 'k', value: 1, timestamp: '2026-03-01T12:00:00Z' }),
  })

/** A closed log with its models, and beside it `old.db`: the log before any reading. */
const made = (async () => {
  const dataDir = join(folder.path, 'made')
  await run(dataDir, 'cellar', 'create', 'c')
  const key = textOf((await run(dataDir, 'key', 'create', '--cellar', 'c', '--json')).lines[0], 'key')
  const stolen = textOf((await run(dataDir, 'key', 'create', '--cellar', 'c', '--json')).lines[0], 'key')
  copyFileSync(join(dataDir, 'log.db'), join(folder.path, 'old.db'))
  const service = await start(dataDir)
  expect((await post(service.url, key, { 'Idempotency-Key': 'one' })).status).toBe(200)
  expect((await run(dataDir, 'key', 'revoke', stolen.slice(4, 12), '--reason', 'stolen')).exitCode).toBe(0)
  expect(await service.stop()).toBe(0)
  return { dataDir, key, stolen }
})()

const sources = {
  'log.witness': 'the witness knows position',
  'idempotency.db': 'idempotency.db knows position',
  'ask.db': 'ask.db knows position',
  'readings.db': 'readings.db knows position',
}
type Source = keyof typeof sources

let copies = 0
/** A copy of the made folder whose log is the old one. Of the files beside it, only `kept` are left. */
const putBack = async (kept: readonly Source[]): Promise<string> => {
  const dataDir = join(folder.path, `copy-${copies++}`)
  cpSync((await made).dataDir, dataDir, { recursive: true })
  copyFileSync(join(folder.path, 'old.db'), join(dataDir, 'log.db'))
  for (const name of Object.keys(sources)) if (!kept.some((one) => one === name)) rmSync(join(dataDir, name))
  return dataDir
}

describe('the log of a killed service', () => {
  /** The text of all events, and the folder. */
  const killed = async () => {
    const dataDir = join(folder.path, 'killed')
    await run(dataDir, 'cellar', 'create', 'c')
    const key = textOf((await run(dataDir, 'key', 'create', '--cellar', 'c', '--json')).lines[0], 'key')
    const service = await start(dataDir)
    for (let left = 40; left > 0; left -= 1) expect((await post(service.url, key)).status).toBe(200)
    expect((await run(dataDir, 'key', 'revoke', key.slice(4, 12), '--reason', 'lost')).exitCode).toBe(0)
    service.signal('SIGKILL')
    await service.exited
    return { dataDir, ...(await read(dataDir)) }
  }
  const read = async (dataDir: string) => {
    const copy = `${dataDir}-${copies++}`
    cpSync(dataDir, copy, { recursive: true, filter: (path) => !path.endsWith('.sock') })
    const { exitCode, stdout, stderr } = await run(copy, 'log', 'read', '--json')
    rmSync(copy, { recursive: true })
    return { exitCode, stdout, stderr }
  }

  test('is refused or read as before when a bit of its end flips', async () => {
    const { dataDir, exitCode, stdout } = await killed()
    expect(exitCode).toBe(0)
    const path = join(dataDir, 'log.db-wal')
    const whole = readFileSync(path)
    const next = seededNumbers(3)
    let refused = 0
    for (let trial = 0; trial < timesToTry(20, 60); trial += 1) {
      const wal = Buffer.from(whole)
      const at = next() % wal.length
      wal[at] = (wal[at] ?? 0) ^ (1 << (next() % 8))
      writeFileSync(path, wal)
      const found = await read(dataDir)
      if (found.exitCode === 0) expect(found.stdout).toBe(stdout)
      else {
        refused += 1
        expect([found.exitCode, found.stdout, found.stderr]).toEqual([78, '', expect.stringContaining(option)])
      }
    }
    expect(refused).toBeGreaterThan(10)
  })
})

describe('a log that was put back without its folder', () => {
  test('is refused and left alone beside the newer write-ahead log of a killed service', async () => {
    const dataDir = await putBack([])
    cpSync((await made).dataDir, dataDir, { recursive: true })
    const old = readFileSync(join(folder.path, 'old.db'))
    const service = await start(dataDir)
    for (let left = 40; left > 0; left -= 1) expect((await post(service.url, (await made).key)).status).toBe(200)
    service.signal('SIGKILL')
    await service.exited
    writeFileSync(join(dataDir, 'log.db'), old)
    const { exitCode, stderr } = await run(dataDir, 'serve')
    expect([exitCode, stderr]).toEqual([
      78,
      expect.stringContaining('is neither in its file nor in its write-ahead log'),
    ])
    expect(readFileSync(join(dataDir, 'log.db')).equals(old)).toBeTrue()
  })

  test.each(Object.keys(sources) as Source[])('is refused with 78 by what %s knows', async (source) => {
    const dataDir = await putBack([source])
    for (const words of [['serve'], ['cellar', 'list'], ['log', 'copy', '--from', dataDir, '--to', `${dataDir}-new`]]) {
      const { exitCode, stderr } = await run(dataDir, ...words)
      expect([words, exitCode, stderr]).toEqual([words, 78, expect.stringContaining(sources[source])])
      expect(stderr).toContain('Positions ')
      expect(stderr).toContain(option)
      expect(stderr.trimEnd().split('\n')).toHaveLength(1)
    }
  })

  test('is served when nothing newer lies beside it', async () => {
    const dataDir = await putBack([])
    expect((await fetch(`${(await start(dataDir)).url}/readyz`)).status).toBe(200)
    expect(existsSync(join(dataDir, 'log.witness'))).toBeTrue()
  })

  test('is served with the option, which the log records once', async () => {
    const { key } = await made
    const dataDir = await putBack(['log.witness', 'idempotency.db'])
    const service = await start(dataDir, [option])
    expect(await service.untilStdout(/\{"level":"warn".*the end of the log is missing.*\}/)).not.toBeNull()
    expect((await post(service.url, key, { 'Idempotency-Key': 'one' })).status).toBe(200)
    expect(await service.stop()).toBe(0)
    const again = await start(dataDir)
    expect((await post(again.url, key)).status).toBe(200)
    const { lines } = await run(dataDir, 'log', 'read', '--type', 'LogLossAccepted', '--json')
    expect(lines).toMatchObject([{ type: 'LogLossAccepted', metadata: { by: { kind: 'cli' } } }])
    expect(JSON.stringify(lines)).toContain('idempotency.db knows position')
  })

  test('suspends a key that was revoked in the lost events, as ask.db knows', async () => {
    const { key, stolen } = await made
    const dataDir = await putBack(['log.witness', 'ask.db'])
    const service = await start(dataDir, [option])
    const keyId = stolen.slice(4, 12)
    expect((await post(service.url, stolen)).status).toBe(401)
    const warned = await service.untilStdout(/\{"level":"warn".*the log has lost changes.*\}/)
    expect(JSON.parse(warned?.[0] ?? '{}')).toMatchObject({ keys: keyId, cellars: '', operators: 0 })
    expect((await post(service.url, key)).status).toBe(200)
    const { lines } = await run(dataDir, 'log', 'read', '--type', 'KeySuspended', '--json')
    const reason = 'The log has lost its last events, and this key was changed in them'
    expect(lines).toMatchObject([{ stream: `key-${keyId}`, data: { reason }, metadata: { by: { kind: 'system' } } }])
    expect((await run(dataDir, 'key', 'resume', keyId, '--reason', 'found')).exitCode).toBe(0)
    expect(await service.stop()).toBe(0)
    expect((await post((await start(dataDir)).url, stolen)).status).toBe(200)
  })

  test('has its option in the help', async () => {
    expect((await cellarbook(['serve', '--help'])).stdout).toContain(option)
  })
})

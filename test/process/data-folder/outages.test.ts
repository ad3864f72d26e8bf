import { Database } from 'bun:sqlite'
import { afterAll, afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { holdDataFolder } from '../../../src/log/data-folder.ts'
import { cellarbook, environmentOf, gather, newFolder, root, startedProcesses } from '../../support/cellarbook.ts'
import { selfSigned } from '../../support/certificate.ts'

setDefaultTimeout(600_000)

const folder = newFolder()
afterAll(() => folder.remove())

const processes = startedProcesses()
afterEach(processes.killAll)

const embedded = { EVENTSTORE_URL: '' }
const start = (dataDir: string) => processes.start(dataDir, { environment: embedded })
const run = (dataDir: string, ...words: readonly string[]) => cellarbook(words, { DATA_DIR: dataDir, ...embedded })

let count = 0
const freshFolder = (): string => join(folder.path, `data-${count++}`)
const folderWithLog = async (): Promise<string> => {
  const dataDir = freshFolder()
  expect((await run(dataDir, 'cellar', 'create', 'wine')).exitCode).toBe(0)
  return dataDir
}

const refusedStart = async (dataDir: string): Promise<readonly [exitCode: number, said: string]> => {
  const { exitCode, stderr } = await run(dataDir, 'serve')
  expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  expect(stderr).not.toContain('a bug ended')
  return [exitCode, stderr]
}

// Root ignores modes. So for root, a folder in the place of the socket makes the removal fail.
const makeUnremovable = (dataDir: string): void => {
  const socket = join(dataDir, 'control.sock')
  if (process.geteuid?.() !== 0) chmodSync(dataDir, 0o500)
  else {
    rmSync(socket, { force: true })
    mkdirSync(socket)
  }
}

describe('a file system that refuses a change', () => {
  test('does not make a stop a bug: exit code 0 and a warning', async () => {
    const dataDir = await folderWithLog()
    const service = await start(dataDir)
    makeUnremovable(dataDir)
    expect(await service.stop()).toBe(0)
    chmodSync(dataDir, 0o700)
    expect(service.stderr()).not.toContain('a bug ended')
    expect(service.stdout()).toContain('"msg":"cannot remove the command socket: the next start does"')
    expect(service.stdout()).toContain('"msg":"stopped"')
  })

  test('ends a start with 78 and names the socket', async () => {
    const dataDir = await folderWithLog()
    mkdirSync(join(dataDir, 'control.sock'))
    const [exitCode, said] = await refusedStart(dataDir)
    expect([exitCode, said]).toEqual([78, expect.stringContaining(`Cannot create "${dataDir}/control.sock": `)])
  })
})

describe('a folder in the place of a file', () => {
  test.each([
    ['log.lock', 78, 'Cannot write to the data folder'],
    ['log.db', 78, 'Cannot write to the data folder'],
  ])('%s ends the start with %i and one plain line', async (name, code, begin) => {
    const dataDir = await folderWithLog()
    rmSync(join(dataDir, name), { force: true })
    mkdirSync(join(dataDir, name))
    const [exitCode, said] = await refusedStart(dataDir)
    expect([exitCode, said]).toEqual([code, expect.stringMatching(new RegExp(`^cellarbook: ${begin} .*\\n$`))])
  })
})

/** Starts a service that has to wait. `startProcess` would wait for the address. */
const waitingStart = async (dataDir: string, environment = {}) => {
  const child = Bun.spawn([process.execPath, 'src/main.ts', 'serve'], {
    cwd: root,
    env: environmentOf({ DATA_DIR: dataDir, ...embedded, ...environment }),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = [gather(child.stdout), gather(child.stderr)]
  const told = await stdout.until(/\{.*"msg":"the data folder is in use: the start waits"\}/)
  return { child, stdout, stderr, told: JSON.parse(told?.[0] ?? '{}') as unknown }
}

describe('a start', () => {
  test('waits with one line for a process that holds the folder', async () => {
    const dataDir = await folderWithLog()
    const held = holdDataFolder(dataDir)
    const { child, stderr, told } = await waitingStart(dataDir)
    expect(told).toMatchObject({ level: 'warn', why: expect.stringContaining('another process holds it') })
    held.release()
    expect(await stderr.until(/listens on/)).not.toBeNull()
    child.kill('SIGTERM')
    expect(await child.exited).toBe(0)
  })

  test('says at a SIGHUP that it reads its certificate later', async () => {
    const dataDir = await folderWithLog()
    const { cert, key } = selfSigned()
    const environment = { TLS_CERT: join(dataDir, 'cert.pem'), TLS_KEY: join(dataDir, 'key.pem') }
    writeFileSync(environment.TLS_CERT, cert)
    writeFileSync(environment.TLS_KEY, key)
    const held = holdDataFolder(dataDir)
    const { child, stdout } = await waitingStart(dataDir, environment)
    child.kill('SIGHUP')
    expect((await stdout.until(/SIGHUP changes nothing|the service starts/))?.[0]).toBe('the service starts')
    held.release()
    child.kill('SIGTERM')
    expect(await child.exited).toBe(0)
  })

  test('waits for a program that reads the log of a killed service', async () => {
    const dataDir = await folderWithLog()
    const killed = await start(dataDir)
    const reader = new Database(join(dataDir, 'log.db'), { readonly: true })
    reader.run('BEGIN')
    reader.query('SELECT count(*) FROM events').values()
    expect((await run(dataDir, 'cellar', 'create', 'beer')).exitCode).toBe(0)
    killed.signal('SIGKILL')
    await killed.exited
    const { child, stderr, told } = await waitingStart(dataDir)
    expect(told).toMatchObject({ why: expect.stringContaining('Wait for that program, or end it') })
    reader.close()
    expect(await stderr.until(/listens on/)).not.toBeNull()
    child.kill('SIGTERM')
    expect(await child.exited).toBe(0)
  })

  test('does not wait for a service that listens but does not answer', async () => {
    const dataDir = await folderWithLog()
    const service = await start(dataDir)
    service.signal('SIGSTOP')
    const { exitCode, stdout, stderr } = await run(dataDir, 'serve')
    service.signal('SIGCONT')
    expect([exitCode, stdout]).toEqual([78, ''])
    expect(stderr).toContain('another process holds it')
  })

  test('that is told to stop while it waits ends with 0', async () => {
    const dataDir = await folderWithLog()
    const held = holdDataFolder(dataDir)
    const { child } = await waitingStart(dataDir)
    child.kill('SIGTERM')
    expect(await child.exited).toBe(0)
    held.release()
  })
})

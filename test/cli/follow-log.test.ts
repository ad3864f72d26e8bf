import { afterAll, afterEach, describe, expect, setDefaultTimeout, spyOn, test } from 'bun:test'
import { join } from 'node:path'
import { questionsOfLog } from '../../src/asked/questions-of-log.ts'
import { askService } from '../../src/cli/control/control-client.ts'
import { startControlServer } from '../../src/cli/control/control-server.ts'
import { readLogLines } from '../../src/cli/control/read-log.ts'
import { systemClock } from '../../src/clock.ts'
import { wholeLog } from '../../src/domain/search/event-filter.ts'
import { systemEntropy } from '../../src/entropy.ts'
import { ensureLogCreated } from '../../src/log/log-identity.ts'
import { cellarbook, environmentOf, gather, newFolder, root, startedProcesses, textOf } from '../support/cellarbook.ts'
import { onEmbedded, storeUrl } from '../support/logs/engine.ts'
import { freshPrefix, openAt } from '../support/logs/event-store-log.ts'
import { createMemoryLog } from '../support/logs/memory-log.ts'
import { freshKeyStream, keySuspensions } from '../support/logs/sample-events.ts'
import { until } from '../support/time/until.ts'

// Each command starts a process, so the default timeout of 5 s is too short.
setDefaultTimeout(600_000)

const folders: { remove(): void }[] = []
const freshFolder = (): string => {
  const folder = newFolder()
  folders.push(folder)
  return folder.path
}
afterAll(() => {
  for (const folder of folders) folder.remove()
})
const processes = startedProcesses()
afterEach(() => processes.killAll())

const follow = (environment: Readonly<Record<string, string>>, ...words: string[]) => {
  const child = Bun.spawn([process.execPath, 'src/main.ts', 'log', 'read', '--follow', '--json', ...words], {
    cwd: root,
    env: environmentOf(environment),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  return { child, stdout: gather(child.stdout), stderr: gather(child.stderr) }
}

describe('log read --follow beside the service', () => {
  test('prints each new event at once, and ends with Ctrl-C', async () => {
    const dataDir = freshFolder()
    const service = await processes.start(dataDir)
    await cellarbook(['cellar', 'create', 'before'], { DATA_DIR: dataDir })
    const { child, stdout } = follow({ DATA_DIR: dataDir }, '--kind', 'cellars')
    expect(await stdout.until(/"before"/)).not.toBeNull()
    for (const name of ['first', 'second']) {
      await cellarbook(['cellar', 'create', name], { DATA_DIR: dataDir })
      expect(await stdout.until(new RegExp(`"${name}"`))).not.toBeNull()
    }
    child.kill('SIGINT')
    await child.exited
    expect(child.signalCode).toBe('SIGINT')
    expect(stdout.text().trimEnd().split('\n')).toHaveLength(3)
    expect(await service.stop()).toBe(0)
  })

  test('ends with exit code 69 when the service stops, and says where to go on', async () => {
    const dataDir = freshFolder()
    const service = await processes.start(dataDir)
    const { lines } = await cellarbook(['cellar', 'create', 'a', '--json'], { DATA_DIR: dataDir })
    expect(lines).toHaveLength(1)
    const { child, stdout, stderr } = follow({ DATA_DIR: dataDir })
    await stdout.until(/CellarCreated/)
    expect(await service.stop()).toBe(0)
    expect(await child.exited).toBe(69)
    await stderr.ended
    const last = stdout.text().trimEnd().split('\n').at(-1) ?? ''
    const position = textOf({ ...Object(JSON.parse(last)) }, 'position')
    expect(stderr.text()).toBe(
      `cellarbook: The service has stopped. To go on when it runs again, add: --from ${position}\n`,
    )
  })

  test('ends with exit code 0 when the reader has closed the pipe', async () => {
    const dataDir = freshFolder()
    await processes.start(dataDir)
    const main = join(root, 'src/main.ts')
    const script = `( "${process.execPath}" "${main}" log read --follow --json; echo "exit code $?" >&2 ) | head -n 1`
    const child = Bun.spawn(['sh', '-c', script], {
      env: environmentOf({ DATA_DIR: dataDir }),
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const stderr = gather(child.stderr)
    await gather(child.stdout).until(/\n/)
    let count = 0
    while (child.exitCode === null) {
      await cellarbook(['cellar', 'create', `cellar-${count}`], { DATA_DIR: dataDir })
      count += 1
    }
    await stderr.ended
    expect(stderr.text()).toBe('exit code 0\n')
  })
})

describe('log read --follow without a service', () => {
  onEmbedded('elsewhere other nodes can write')('prints what is there, and says that no more can come', async () => {
    const dataDir = freshFolder()
    await cellarbook(['cellar', 'create', 'a'], { DATA_DIR: dataDir })
    const ran = await cellarbook(['log', 'read', '--follow', '--json'], { DATA_DIR: dataDir })
    expect(ran.exitCode).toBe(0)
    expect(ran.lines.map((line) => line['type'])).toEqual(['LogCreated', 'CellarCreated'])
    expect(ran.stderr).toBe('cellarbook: No service runs with this data folder, so no more events can come\n')
  })

  test('goes on with the events of other nodes on EventStoreDB', async () => {
    const store = { EVENTSTORE_URL: await storeUrl(), EVENTSTORE_PREFIX: freshPrefix() }
    const log = await openAt(store.EVENTSTORE_URL, store.EVENTSTORE_PREFIX)
    await ensureLogCreated(log, systemClock, systemEntropy)
    const { child, stdout } = follow({ DATA_DIR: freshFolder(), ...store }, '--type', 'KeySuspended')
    for (const count of [1, 2, 3]) {
      await log.append(freshKeyStream(), 'none', keySuspensions(1))
      await until(() => stdout.text().split('\n').length === count + 1)
    }
    child.kill('SIGINT')
    await child.exited
    await log.close()
  })
})

describe('the control socket', () => {
  const followed = {
    op: 'read_log',
    ...wholeLog,
    follow: true,
  } as const

  test('ends a command when its client has left, and when the service stops', async () => {
    const dataDir = freshFolder()
    const log = createMemoryLog()
    await log.append(freshKeyStream(), 'none', keySuspensions(1))
    using signals = spyOn(AbortSignal, 'any')
    const context = { questions: questionsOfLog(log), core: () => Promise.reject(new Error('none')), linkUrl: String }
    const control = startControlServer({ dataDir, context, onBug: () => {} })
    const isEnded = (index: number): boolean => Object(signals.mock.results[index]?.value).aborted

    const left = await askService(dataDir, followed)
    expect(await left?.next()).toMatchObject({ done: false, value: { kind: 'event' } })
    expect(isEnded(0)).toBe(false)
    await left?.return({ exitCode: 0, message: null })
    await until(() => isEnded(0))

    const stays = await askService(dataDir, followed)
    expect(await stays?.next()).toMatchObject({ done: false, value: { kind: 'event' } })
    expect(isEnded(1)).toBe(false)
    const [end] = await Promise.all([stays?.next(), control.stop()])
    expect(end).toMatchObject({ done: true, value: { exitCode: 69 } })
  })

  test('a command that follows ends at the signal', async () => {
    const log = createMemoryLog()
    await log.append(freshKeyStream(), 'none', keySuspensions(1))
    const abort = new AbortController()
    const lines = readLogLines({ questions: questionsOfLog(log), signal: abort.signal }, followed)
    expect((await lines.next()).done).toBe(false)
    const next = lines.next()
    abort.abort()
    expect(await next).toMatchObject({
      done: true,
      value: { exitCode: 69, message: expect.stringContaining('--from 1') },
    })
  })
})

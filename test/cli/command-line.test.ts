import { afterAll, describe, expect, setDefaultTimeout, spyOn, test } from 'bun:test'
import { existsSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { version } from '../../package.json' with { type: 'json' }
import { openCore } from '../../src/actors/open-core.ts'
import { questionsOfLog } from '../../src/asked/questions-of-log.ts'
import { askService } from '../../src/cli/control/control-client.ts'
import { encodeOperation } from '../../src/cli/control/control-protocol.ts'
import { operationBytesMax, startControlServer } from '../../src/cli/control/control-server.ts'
import { type Place, performAnywhere } from '../../src/cli/control/perform-anywhere.ts'
import { CommandFailed } from '../../src/cli/exit-codes.ts'
import { createProgress, progressLineMs, progressRedrawMs } from '../../src/cli/show/output.ts'
import { systemClock } from '../../src/clock.ts'
import { parseConfig } from '../../src/config.ts'
import { systemEntropy } from '../../src/entropy.ts'
import { heldRetryMs, heldWaitMsMax } from '../../src/limits.ts'
import { ensureLogCreated } from '../../src/log/log-identity.ts'
import { cellarbook, environmentOf, newFolder } from '../support/cellarbook.ts'
import { isEmbedded, onEmbedded, openLogOf, storeUrl } from '../support/logs/engine.ts'
import { freshPrefix, openAt } from '../support/logs/event-store-log.ts'
import { createMemoryLog } from '../support/logs/memory-log.ts'
import { seededEntropy } from '../support/seeded-entropy.ts'
import { manualClock } from '../support/time/manual-clock.ts'

// Each command starts a process, so the default timeout of 5 s is too short.
setDefaultTimeout(600_000)

const folder = newFolder()
afterAll(() => folder.remove())
const inFolder = { DATA_DIR: folder.path }

describe('the command line', () => {
  test.each([
    [[]],
    [['key']],
    [['sell']],
    [['cellar', 'create']],
    [['cellar', 'create', 'a', 'b']],
    [['cellar', 'list', '--jsno']],
    [['cellar', 'rename', 'a']],
    [['cellar', 'policy', 'a', '--limit', '0']],
    [['cellar', 'policy', 'a', '--retention', 'for ever']],
    [['key', 'create']],
    [['key', 'create', '--cellar', 'a', '--limit', '0/60']],
    [['key', 'create', '--cellar', 'a', '--limit', 'many']],
    [['key', 'create', '--cellar', 'a', '--expires-in', '30 days']],
    [['key', 'create', '--cellar', 'a', '--expires-at', '2026-02-30']],
    [['key', 'create', '--cellar', 'a', '--expires-in', '1d', '--expires-at', '2999-01-01']],
    [['key', 'change']],
    [['key', 'change', 'abcdefgh']],
    [['key', 'change', 'abcdefgh', '--limit', 'never']],
    [['key', 'change', 'abcdefgh', '--expires-at', 'default']],
    [['key', 'change', 'abcdefgh', '--expires-in', '1d', '--expires-at', 'never']],
    [['key', 'history', 'abcdefgh', '--at', 'some day']],
    [['operator', 'link', '--role', 'owner']],
    [['log', 'read', '--type', 'KeyStolen']],
    [['log', 'read', '--from', '-1']],
    [['simulate', '--cellar', 'a', '--devices', '0']],
    [['simulate', '--cellar', 'a']],
  ])('answers %p with exit code 64, nothing on stdout and help on stderr', async (words) => {
    const ran = await cellarbook(words, inFolder)
    expect([ran.exitCode, ran.stdout]).toEqual([64, ''])
    expect(ran.stderr).not.toBe('')
    expect(ran.stderr).not.toMatch(/\n\s+at /)
  })

  test.each([
    [['--help']],
    [['serve', '--help']],
    [['key', '--help']],
    [['key', 'create', '--help']],
    [['key', 'change', '--help']],
    [['log', 'read', '-h']],
  ])('explains itself on stdout for %p', async (words) => {
    const ran = await cellarbook(words, inFolder)
    expect([ran.exitCode, ran.stderr]).toEqual([0, ''])
    expect(ran.stdout).toStartWith('Usage: cellarbook')
    expect(ran.stdout).not.toContain('undefined')
  })

  test.each([
    [['log', 'export'], ['--format']],
    [
      ['log', 'copy'],
      ['--from', '--to'],
    ],
    [['key', 'create'], ['--cellar']],
    [['simulate'], ['--cellar']],
    [['key', 'change'], []],
  ])('says in the help of %p which options are required', async (words, required) => {
    const { stdout } = await cellarbook([...words, '--help'], inFolder)
    const options = stdout.split(/^ +(?=-)/m).filter((option) => option.includes('(required)'))
    expect(options.map((option) => option.split(' ')[0])).toEqual(required)
  })

  test('names in its help every environment variable that is read', async () => {
    const asked = new Set<string>()
    const watched = new Proxy<Record<string, string>>({}, { get: (_, name) => void asked.add(String(name)) })
    expect(parseConfig(watched).ok).toBe(true)
    expect(asked.size).toBeGreaterThan(10)
    const { stdout } = await cellarbook(['--help'], inFolder)
    // npm, npx and `bun run` set this one.
    asked.delete('npm_config_user_agent')
    for (const name of asked) expect(stdout).toContain(name)
  })

  test.each([
    [['help'], ['--help']],
    [
      ['help', 'key'],
      ['key', '--help'],
    ],
    [
      ['help', 'key', 'create'],
      ['key', 'create', '--help'],
    ],
    [
      ['key', 'help', 'create'],
      ['key', 'create', '--help'],
    ],
    [
      ['help', 'serve'],
      ['serve', '--help'],
    ],
  ])('%p explains %p', async (words, same) => {
    const [ran, other] = [await cellarbook(words, inFolder), await cellarbook(same, inFolder)]
    expect([ran.exitCode, ran.stderr, ran.stdout]).toEqual([0, '', other.stdout])
    expect(ran.stdout).toStartWith('Usage: cellarbook')
  })

  test('explains no unknown command, with exit code 64', async () => {
    for (const words of [['nothing'], ['key', 'nothing'], ['key', 'create', 'more']]) {
      const ran = await cellarbook(['help', ...words], inFolder)
      expect([words, ran.exitCode, ran.stdout]).toEqual([words, 64, ''])
      expect(ran.stderr).toContain(`There is no command "${words.join(' ')}"`)
    }
  })

  test('prints the version of the package on stdout', async () => {
    const ran = await cellarbook(['--version'], inFolder)
    expect([ran.exitCode, ran.stdout, ran.stderr]).toEqual([0, `${version}\n`, ''])
  })

  const needALog = [
    ['cellar', 'list', '--json'],
    ['key', 'create', '--cellar', 'wine-berlin'],
    ['log', 'read'],
    ['log', 'find', '7'],
    ['operator', 'link', '--email', 'ada@example.org', '--json'],
  ]

  test('a place without a log in the store is named, and no log is created', async () => {
    const [url, prefix] = [await storeUrl(), freshPrefix()]
    const place = { EVENTSTORE_URL: url, EVENTSTORE_PREFIX: prefix, DATA_DIR: join(folder.path, 'node') }
    for (const words of needALog) {
      const ran = await cellarbook(words, place)
      expect([words, ran.exitCode, ran.stdout]).toEqual([words, 78, ''])
      expect(ran.stderr).toStartWith(`cellarbook: There is no log in EventStoreDB with the prefix "${prefix}".`)
    }
    const log = await openAt(url, prefix)
    expect(await log.readAll({ limit: 1 })).toEqual([])
    await log.close()
    expect((await cellarbook(['cellar', 'create', 'wine-berlin'], place)).exitCode).toBe(0)
    expect((await cellarbook(['key', 'list'], place)).exitCode).toBe(0)
  })

  onEmbedded('elsewhere a log may be there without the folder')(
    'a data folder without a log is named, and no log is created',
    async () => {
      const missing = join(folder.path, 'missing')
      for (const words of needALog) {
        const ran = await cellarbook(words, { DATA_DIR: missing })
        expect([words, ran.exitCode, ran.stdout]).toEqual([words, 78, ''])
        expect(ran.stderr).toStartWith(`cellarbook: There is no log in the data folder "${missing}".`)
      }
      expect(existsSync(missing)).toBe(false)
    },
  )

  test('an unusable data folder is named with the reason and exit code 78', async () => {
    const [file, loop] = [join(folder.path, 'file'), join(folder.path, 'loop')]
    writeFileSync(file, '')
    symlinkSync(loop, loop)
    for (const [dataDir, why] of [
      [file, 'it is not a folder'],
      [loop, 'its symbolic links form a circle'],
      [join(folder.path, 'x'.repeat(300)), 'its name is too long'],
    ] as const) {
      for (const words of [
        ['cellar', 'list'],
        ['cellar', 'create', 'a'],
      ]) {
        const ran = await cellarbook(words, { DATA_DIR: dataDir })
        expect([words, ran.exitCode, ran.stdout]).toEqual([words, 78, ''])
        expect(ran.stderr).toBe(`cellarbook: Cannot use the data folder "${dataDir}": ${why}\n`)
      }
    }
  })

  test('a reader that closes the pipe ends log read with exit code 0', async () => {
    const filled = newFolder()
    // The output must be longer than a pipe can hold. Otherwise the program would not notice that its reader is gone.
    const title = 'x'.repeat(100)
    const log = await openLogOf(filled.path)
    await ensureLogCreated(log, systemClock, systemEntropy)
    const by = { kind: 'system' } as const
    const metadata = { by, requestId: 'r', correlationId: 'r', causationId: 'r' }
    const renames = Array.from(
      { length: 2_000 },
      () => ({ id: crypto.randomUUID(), type: 'CellarRenamed', recordedAt: 1, data: { title }, metadata }) as const,
    )
    await log.append('cellar-1', 'none', renames)
    await log.close()
    const main = join(import.meta.dir, '../../src/main.ts')
    const script = `"${process.execPath}" "${main}" log read --json; echo "exit code $?" >&2`
    const child = Bun.spawn(['sh', '-c', `( ${script} ) | head -n 1`], {
      env: environmentOf({ DATA_DIR: filled.path }),
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [stdout, stderr] = [await new Response(child.stdout).text(), await new Response(child.stderr).text()]
    expect(stdout.split('\n')).toHaveLength(2)
    expect(stderr).toBe('exit code 0\n')
    expect(readdirSync(filled.path).sort()).toEqual(isEmbedded ? ['log.db', 'log.lock', 'log.witness'] : ['log.lock'])
    filled.remove()
  })
})

describe('performAnywhere()', () => {
  /** Another process holds the folder for the first `looksUntilFree` looks. No service listens on the socket. */
  const heldPlace = (looksUntilFree: number) => {
    const looks = { count: 0, waitedMs: 0 }
    const place: Place = {
      dataDir: join(folder.path, 'nobody'),
      openLog: async () => (++looks.count > looksUntilFree ? createMemoryLog() : 'held'),
      questionsOf: questionsOfLog,
      openCore: (log, questions) => openCore({ log, questions, clock: manualClock(), entropy: seededEntropy() }),
      linkUrl: String,
      wait: async (ms) => {
        looks.waitedMs += ms
      },
    }
    return { place, looks }
  }

  test('waits for another command that holds the folder', async () => {
    const { place, looks } = heldPlace(3)
    const answer = await performAnywhere({ op: 'create_cellar', cellar: 'patient', title: '' }, place)
    expect(await answer.next()).toMatchObject({ done: false, value: { kind: 'cellar' } })
    expect(await answer.next()).toEqual({ done: true, value: { exitCode: 0, message: null } })
    expect(looks.waitedMs).toBe(3 * heldRetryMs)
  })

  test('gives up with exit code 69 when the holder keeps the folder and is silent', async () => {
    const { place, looks } = heldPlace(Number.POSITIVE_INFINITY)
    const failure = await performAnywhere({ op: 'list_cellars' }, place).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(CommandFailed)
    expect(failure).toMatchObject({ exitCode: 69, message: expect.stringContaining('does not answer on its socket') })
    expect(looks.waitedMs).toBeGreaterThanOrEqual(heldWaitMsMax)
  })
})

describe('the control socket', () => {
  const questions = questionsOfLog(createMemoryLog())
  const context = { questions, core: () => Promise.reject(new Error('none')), linkUrl: String }

  test('an incomplete answer is an error', async () => {
    const place = newFolder()
    const bodies = ['{"line":{"kind":"none"}}\n', '']
    const server = Bun.serve({ unix: join(place.path, 'control.sock'), fetch: () => new Response(bodies.shift()) })
    const strange = await askService(place.path, { op: 'list_cellars' })
    await expect(strange?.next()).rejects.toThrow('it has another version')
    const cut = await askService(place.path, { op: 'list_cellars' })
    await expect(cut?.next()).rejects.toThrow(CommandFailed)
    await server.stop(true)
    place.remove()
  })

  // By default, Bun's server ends a silent answer after 10 s, and Bun's client after 5 minutes. A test cannot wait so long. So
  // it only checks the options that turn these timeouts off.
  test('neither side ends a silent answer', async () => {
    const place = newFolder()
    using serve = spyOn(Bun, 'serve')
    using request = spyOn(globalThis, 'fetch')
    const control = startControlServer({ dataDir: place.path, context, onBug: () => {} })
    await askService(place.path, { op: 'list_cellars' })
    expect(serve.mock.calls).toMatchObject([[{ idleTimeout: 0 }]])
    expect(request.mock.calls).toMatchObject([[expect.anything(), { timeout: false }]])
    await control.stop()
    place.remove()
  })

  test('takes a command at its bound and names a longer one as too long', async () => {
    const place = newFolder()
    const bugs: unknown[] = []
    const control = startControlServer({ dataDir: place.path, context, onBug: (bug) => bugs.push(bug) })
    const ofBytes = (bytes: number) => {
      const emptyBytes = encodeOperation({ op: 'create_cellar', cellar: 'a', title: '' }).length
      return { op: 'create_cellar', cellar: 'a', title: 'x'.repeat(bytes - emptyBytes) } as const
    }
    const answer = await askService(place.path, ofBytes(operationBytesMax))
    await answer?.next()
    expect(bugs).toHaveLength(1)
    const failure = await askService(place.path, ofBytes(operationBytesMax + 1)).catch((error: unknown) => error)
    expect(failure).toMatchObject({ exitCode: 1, message: expect.stringContaining('too long for the running service') })
    expect(bugs).toHaveLength(1)
    await control.stop()
    place.remove()
  })

  test('answers an unknown command with a sentence', async () => {
    const place = newFolder()
    const control = startControlServer({ dataDir: place.path, context, onBug: () => {} })
    const unix = join(place.path, 'control.sock')
    for (const body of ['', 'null', '{"op":"drop_everything"}', '{"op":"create_cellar","cellar":1}']) {
      const answer = await fetch('http://cellarbook/', { method: 'POST', unix, body })
      expect(await answer.text()).toContain('Cannot run the command: the running service has another version')
    }
    await control.stop()
    place.remove()
  })

  test('a bug in a command is described in the log lines only', async () => {
    const place = newFolder()
    const bugs: unknown[] = []
    const control = startControlServer({ dataDir: place.path, context, onBug: (bug) => bugs.push(bug) })
    const answer = await askService(place.path, { op: 'list_cellars' })
    expect(await answer?.next()).toEqual({
      done: true,
      value: { exitCode: 1, message: 'Cannot finish the command: the service has a bug. Its log lines say where' },
    })
    expect(bugs).toHaveLength(1)
    await control.stop()
    expect(await askService(place.path, { op: 'list_cellars' })).toBeNull()
    place.remove()
  })
})

describe('createProgress()', () => {
  const drawn = (isTTY: boolean) => {
    let nowMs = 0
    const written: string[] = []
    const progress = createProgress({ isTTY, write: (text) => written.push(text) }, () => nowMs)
    const at = (ms: number): void => {
      nowMs = ms
      progress.show(`at ${ms}`)
    }
    return { progress, written, at }
  }

  test('redraws one line on a terminal', () => {
    const { progress, written, at } = drawn(true)
    for (const ms of [0, progressRedrawMs - 1, progressRedrawMs, progressRedrawMs + 1]) at(ms)
    progress.end('done')
    expect(written).toEqual([`\r\u001b[2Kat ${progressRedrawMs}`, '\r\u001b[2Kdone\n'])
  })

  test('writes a line every few seconds elsewhere', () => {
    const { progress, written, at } = drawn(false)
    for (const ms of [progressLineMs - 1, progressLineMs, progressLineMs + 1]) at(ms)
    progress.end('done')
    expect(written).toEqual([`at ${progressLineMs}\n`, 'done\n'])
  })
})

import { afterAll, afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createPrivateKey } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { version } from '../../package.json' with { type: 'json' }
import type { NewEvent } from '../../src/domain/events.ts'
import { readPageEventsMax } from '../../src/limits.ts'
import {
  cellarbook,
  environmentOf,
  newFolder,
  root,
  type ServiceProcess,
  startProcess,
  textOf,
} from '../support/cellarbook.ts'
import { selfSigned } from '../support/certificate.ts'
import { isEmbedded, onEmbedded, openLogOf } from '../support/logs/engine.ts'
import { addUnknownToFile } from '../support/logs/unknown-records.ts'

setDefaultTimeout(600_000)

const slowMs = 60_000
const folder = newFolder()
afterAll(() => folder.remove())

const running: ServiceProcess[] = []
const start = async (...parameters: Parameters<typeof startProcess>): Promise<ServiceProcess> => {
  const service = await startProcess(...parameters)
  running.push(service)
  return service
}
afterEach(async () => {
  for (const service of running.splice(0)) {
    service.signal('SIGKILL')
    await service.exited
  }
})

let count = 0
const freshFolder = (): string => join(folder.path, `data-${count++}`)

const refusedStart = async (environment: Readonly<Record<string, string>>) => {
  const { exitCode, stdout, stderr } = await cellarbook(['serve'], environment)
  expect(stdout).toBe('')
  expect(stderr).not.toMatch(/\n\s+at /)
  return { exitCode, stderr }
}

describe('serve', () => {
  test(
    'creates a missing folder that only its owner can read',
    async () => {
      const dataDir = freshFolder()
      const service = await start(dataDir)
      expect((await fetch(`${service.url}/livez`)).status).toBe(200)
      expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
      expect(statSync(dataDir).mode & 0o777).toBe(0o700)
      expect(JSON.parse(service.stdout().split('\n')[0] ?? '')).toMatchObject({ msg: 'listening', version })
      const files = readdirSync(dataDir)
      expect(files).toContain('control.sock')
      expect(files).toContain('excused.json')
      expect(files.includes('log.db')).toBe(isEmbedded)
      for (const file of files) expect([file, statSync(join(dataDir, file)).mode & 0o777]).toEqual([file, 0o600])
    },
    slowMs,
  )

  test('prints every fault of the environment at once, and exits with 78', async () => {
    const { exitCode, stderr } = await refusedStart({ PORT: 'http', LOG_LEVEL: 'loud', TLS_KEY: 'key.pem' })
    expect(exitCode).toBe(78)
    expect(stderr.trimEnd().split('\n')).toEqual([
      'cellarbook: PORT is "http": it must be a whole number from 0 (any free port) to 65535',
      'cellarbook: TLS_KEY is set, but TLS_CERT is not: https needs both',
      'cellarbook: LOG_LEVEL is "loud": it must be one of trace, debug, info, warn, error, fatal, silent',
    ])
  })

  test(
    'a second service on the same folder is refused, and the first continues',
    async () => {
      const dataDir = freshFolder()
      const service = await start(dataDir)
      const { exitCode, stderr } = await refusedStart({ DATA_DIR: dataDir })
      expect(exitCode).toBe(78)
      expect(stderr).toBe(
        `cellarbook: Cannot use the data folder "${dataDir}": another process holds it. Stop that process first\n`,
      )
      expect((await cellarbook(['cellar', 'create', 'still-here'], { DATA_DIR: dataDir })).exitCode).toBe(0)
      expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
    },
    slowMs,
  )

  test(
    'a port in use is named, with exit code 78, and the folder is released',
    async () => {
      const service = await start(freshFolder())
      const dataDir = freshFolder()
      const { port } = new URL(service.url)
      const { exitCode, stderr } = await refusedStart({ DATA_DIR: dataDir, PORT: port })
      expect(exitCode).toBe(78)
      expect(stderr).toStartWith(`cellarbook: Cannot listen on 127.0.0.1 port ${port}: the port is in use. `)
      expect((await start(dataDir)).url).toStartWith('http://')
    },
    slowMs,
  )

  test('a file in place of the data folder is refused with exit code 78', async () => {
    const file = freshFolder()
    writeFileSync(file, 'not a folder')
    const { exitCode, stderr } = await refusedStart({ DATA_DIR: file })
    expect(exitCode).toBe(78)
    expect(stderr).toStartWith(`cellarbook: Cannot write to the data folder "${file}": `)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  })

  test('an unreadable certificate is named, with exit code 78', async () => {
    const missing = join(folder.path, 'missing.pem')
    const { exitCode, stderr } = await refusedStart({ DATA_DIR: freshFolder(), TLS_CERT: missing, TLS_KEY: missing })
    expect(exitCode).toBe(78)
    expect(stderr).toContain('Cannot read TLS_CERT or TLS_KEY: ')
  })

  test('a wrong certificate or key is named in a sentence, with exit code 78', async () => {
    const [one, another] = [selfSigned(), selfSigned()]
    const file = (name: string, text: string): string => {
      const path = join(folder.path, name)
      writeFileSync(path, text)
      return path
    }
    const cert = file('cert.pem', one.cert)
    const key = file('key.pem', one.key)
    const begin = 'cellarbook: Cannot use TLS_CERT and TLS_KEY: '
    const wrong = [
      [cert, file('other.pem', another.key), 'the key belongs to another certificate\n'],
      [file('text.pem', 'hello'), key, 'a file is not complete PEM\n'],
      [cert, file('cut.pem', one.key.slice(0, -40)), 'a file is not complete PEM\n'],
      [key, cert, 'a file is not complete PEM\n'],
      [cert, file('locked.pem', withPassphrase(one.key)), 'the key has a passphrase. Use a key without one\n'],
    ] as const
    for (const [TLS_CERT, TLS_KEY, rule] of wrong) {
      const { exitCode, stderr } = await refusedStart({ DATA_DIR: freshFolder(), TLS_CERT, TLS_KEY })
      expect([exitCode, stderr]).toEqual([78, begin + rule])
    }
  })

  // These addresses are reserved for documents (RFC 5737, RFC 3849). A host name would depend on the resolver.
  test.each(['192.0.2.1', '2001:db8::1'])('HOST=%s is refused as not an address of this machine', async (HOST) => {
    const { exitCode, stderr } = await refusedStart({ DATA_DIR: freshFolder(), HOST })
    expect([exitCode, stderr]).toEqual([
      78,
      `cellarbook: Cannot listen on ${HOST} port 0: HOST "${HOST}" is not an address of this machine\n`,
    ])
  })

  onEmbedded('the event is added to the file')(
    'names an unknown event by stream, revision and type, and guesses nothing',
    async () => {
      const dataDir = freshFolder()
      await cellarbook(['cellar', 'create', 'sound'], { DATA_DIR: dataDir })
      addUnknownToFile(dataDir, 'cellar-new', recordedAt)
      const { exitCode, stderr } = await refusedStart({ DATA_DIR: dataDir })
      expect(exitCode).toBe(1)
      expect(stderr).toMatch(
        /^cellarbook: Cannot decode event WrittenByANewerVersion at revision 0 of "cellar-new": .*\n$/,
      )
      const read = await cellarbook(['log', 'read', '--json'], { DATA_DIR: dataDir })
      expect(read.exitCode).toBe(1)
      expect(read.stderr).toBe(stderr)
    },
    slowMs,
  )

  test.each([readPageEventsMax, readPageEventsMax + 1, 3 * readPageEventsMax])(
    'reads past one append of %i readings, a page or more',
    async (count) => {
      const dataDir = freshFolder()
      const { key, keyId } = await newKey(dataDir)
      const log = await openLogOf(dataDir)
      await log.append(
        `readings-${keyId}`,
        'none',
        Array.from({ length: count }, () => acceptedReading(keyId)),
      )
      await log.close()
      const service = await start(dataDir)
      const { lines } = await cellarbook(['key', 'list', '--json'], { DATA_DIR: dataDir })
      expect(lines).toMatchObject([{ id: keyId, lastUsedAt: new Date(recordedAt).toISOString() }])
      const body = JSON.stringify(acceptedReading(keyId).data)
      const headers = { 'Content-Type': 'application/json', 'X-API-Key': key }
      const response = await fetch(`${service.url}/api/v1/ingest`, { method: 'POST', headers, body })
      expect(response.headers.get('X-Receipt')).toBe(`readings-${keyId}@${count}`)
    },
    slowMs,
  )

  test(
    'is ready with a log that is ahead of its clock, and writes one line',
    async () => {
      const dataDir = freshFolder()
      const { keyId } = await newKey(dataDir)
      const log = await openLogOf(dataDir)
      const ahead = { ...acceptedReading(keyId), recordedAt: Date.now() + 3_600_000 }
      await log.append(`readings-${keyId}`, 'none', [ahead])
      await log.close()
      const service = await start(dataDir)
      expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
      const lines = service
        .stdout()
        .split('\n')
        .filter((line) => line.includes('ahead of the clock'))
      expect(lines).toHaveLength(1)
      expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'warn', byMs: expect.any(Number) })
    },
    slowMs,
  )

  test(
    'replaces the socket of a killed service, and commands find the new one',
    async () => {
      const dataDir = freshFolder()
      const killed = await start(dataDir)
      killed.signal('SIGKILL')
      await killed.exited
      expect(existsSync(join(dataDir, 'control.sock'))).toBe(true)
      expect((await cellarbook(['cellar', 'create', 'a'], { DATA_DIR: dataDir })).exitCode).toBe(0)
      const next = await start(dataDir)
      const link = await cellarbook(['operator', 'link', '--json'], { DATA_DIR: dataDir })
      expect(textOf(link.lines[0], 'url')).toStartWith(`${next.url}/link/`)
    },
    slowMs,
  )

  test(
    'commands reach a data folder whose path is longer than a socket address',
    async () => {
      const dataDir = join(freshFolder(), 'x'.repeat(100), 'y'.repeat(60))
      mkdirSync(dataDir, { recursive: true })
      const service = await start(dataDir)
      const link = await cellarbook(['operator', 'link', '--json'], { DATA_DIR: dataDir })
      expect(textOf(link.lines[0], 'url')).toStartWith(`${service.url}/link/`)
    },
    slowMs,
  )

  test(
    'the printed command for the first link reaches this service from any shell',
    async () => {
      const service = await start(join(folder.path, "it's $HOME `id` data"))
      const told = await service.untilStderr(/, run: (.* operator link)\n/)
      const command = told?.[1] ?? ''
      const shell = Bun.spawn(['sh', '-c', `${command} --json`], { cwd: root, env: environmentOf({}), stdout: 'pipe' })
      const link: unknown = await new Response(shell.stdout).json()
      expect(link).toMatchObject({ role: 'admin', url: expect.stringContaining(`${service.url}/link/`) })
    },
    slowMs,
  )

  test(
    'pages show strangers the command for a link without the path of the executable',
    async () => {
      const service = await start(freshFolder())
      const page = await (await fetch(`${service.url}/sign-in`)).text()
      expect(page).toContain(`<code>${basename(process.execPath)} src/main.ts operator link</code>`)
      expect(page).not.toContain(dirname(process.execPath))
    },
    slowMs,
  )

  test(
    'shows the set-up link only on a terminal, and only while nobody can sign in',
    async () => {
      const kept = await start(freshFolder())
      expect(await kept.untilStderr(/run: DATA_DIR='.*' \S+ src\/main.ts operator link\n/)).not.toBeNull()
      expect(kept.stderr() + kept.stdout()).not.toContain('/link/')

      const dataDir = freshFolder()
      const shown = await onTerminal(dataDir)
      expect(shown.screen).toMatch(/http:\/\/127\.0\.0\.1:\d+\/link\/[0-9A-Za-z]{43}\s/)
      expect(shown.kept).toContain('"msg":"listening"')
      expect(shown.kept).not.toContain('/link/')
    },
    slowMs,
  )
})

const withPassphrase = (key: string): string =>
  String(createPrivateKey(key).export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' }))

const newKey = async (dataDir: string): Promise<{ readonly key: string; readonly keyId: string }> => {
  await cellarbook(['cellar', 'create', 'c'], { DATA_DIR: dataDir })
  const { lines } = await cellarbook(['key', 'create', '--cellar', 'c', '--json'], { DATA_DIR: dataDir })
  return { key: textOf(lines[0], 'key'), keyId: textOf(lines[0], 'id') }
}

const recordedAt = Date.UTC(2026, 2, 1)

const acceptedReading = (keyId: string): NewEvent<'ReadingAccepted'> => {
  const id = crypto.randomUUID()
  const metadata = { by: { kind: 'key', keyId }, requestId: id, correlationId: id, causationId: id } as const
  const data = { cellar: 'c', rack: 'r', keg: 'k', value: 1, timestamp: '2026-03-01T12:00:00Z' }
  return { id, type: 'ReadingAccepted', recordedAt, data, metadata }
}

/** Starts the service with a terminal as stderr and a file as stdout. */
const onTerminal = async (dataDir: string): Promise<{ readonly screen: string; readonly kept: string }> => {
  const file = `${dataDir}.lines`
  const main = join(import.meta.dir, '../../src/main.ts')
  let screen = ''
  let shown = (): void => {}
  const hasShown = new Promise<void>((resolve) => {
    shown = resolve
  })
  const decoder = new TextDecoder()
  const child = Bun.spawn(['sh', '-c', `exec "${process.execPath}" "${main}" serve >"${file}"`], {
    env: environmentOf({ DATA_DIR: dataDir }),
    terminal: {
      cols: 200,
      rows: 50,
      data: (_, piece) => {
        screen += decoder.decode(piece, { stream: true })
        if (/\/link\/\w+\s/.test(screen)) shown()
      },
    },
  })
  await Promise.race([hasShown, child.exited])
  child.kill('SIGTERM')
  await child.exited
  return { screen, kept: await Bun.file(file).text() }
}

describe('serve --demo', () => {
  test(
    'devices post at once, and the next start replaces their key',
    async () => {
      const dataDir = freshFolder()
      for (const start of [1, 2]) {
        const service = await startProcess(dataDir, { words: ['--demo'] })
        running.push(service)
        const used = await untilKeyIsUsed(dataDir)
        expect(used.map((key) => [key['label'], key['status']])).toEqual([
          ['Demo devices', 'active'],
          ...(start === 2 ? [['Demo devices', 'revoked']] : []),
        ])
        expect(service.stdout()).not.toContain('clr_')
        expect(await service.stop()).toBe(0)
      }
      const cellars = await cellarbook(['cellar', 'list', '--json'], { DATA_DIR: dataDir })
      expect(cellars.lines).toMatchObject([{ cellar: 'demo-cellar', title: 'Demo cellar', keys: 2 }])
    },
    slowMs,
  )
})

/** Waits until a device has used the key. If no device posts, the test times out. */
const untilKeyIsUsed = async (dataDir: string): Promise<readonly Record<string, unknown>[]> => {
  while (true) {
    const { lines } = await cellarbook(['key', 'list', '--json'], { DATA_DIR: dataDir })
    if (typeof lines[0]?.['lastUsedAt'] === 'string') return lines
  }
}

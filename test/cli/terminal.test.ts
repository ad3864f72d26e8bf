import { afterAll, afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { encodeFrame } from '../../src/cli/control/control-protocol.ts'
import type { By } from '../../src/domain/events.ts'
import { cellarbook, newFolder, startProcess } from '../support/cellarbook.ts'

setDefaultTimeout(600_000)

const folder = newFolder()
afterAll(() => folder.remove())

/** A terminal that obeys this text clears its screen, changes its title and reverses the order of letters. */
const hostile = 'a\u001b[2J\u009b31m\u001b]0;owned\u0007\u202egnp\u2066\nb'
const escaped = 'a\\u001b[2J\\u009b31m\\u001b]0;owned\\u0007\\u202egnp\\u2066\\u000ab'
const steering = /[\p{Cc}\u202e\u2066]/u
const linesOf = (text: string): readonly string[] => text.trimEnd().split('\n')

let count = 0
const freshFolder = (): string => {
  const path = join(folder.path, `data-${count++}`)
  mkdirSync(path, { mode: 0o700 })
  return path
}

const servers: Bun.Server<unknown>[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop(true)
})

/** Starts a fake service that answers every command with these frames. */
const answering = (...frames: readonly Parameters<typeof encodeFrame>[0][]): string => {
  const dataDir = freshFolder()
  const body = frames.map(encodeFrame).join('')
  const maskBefore = process.umask(0o177)
  servers.push(Bun.serve({ unix: join(dataDir, 'control.sock'), fetch: () => new Response(body) }))
  process.umask(maskBefore)
  return dataDir
}

/** Returns an environment in which Bun runs this text before the program. */
const preload = (text: string): Readonly<Record<string, string>> => {
  const path = join(folder.path, `preload-${count++}.ts`)
  writeFileSync(path, text)
  return { BUN_OPTIONS: `--preload ${path}` }
}

describe('control characters are escaped', () => {
  test('in the message that ends a command', async () => {
    const DATA_DIR = answering({ end: { exitCode: 1, message: hostile } })
    const ran = await cellarbook(['cellar', 'list'], { DATA_DIR, EVENTSTORE_URL: '' })
    expect([ran.exitCode, ran.stdout, ran.stderr]).toEqual([1, '', `cellarbook: ${escaped}\n`])
  })

  test('in an event, and --json keeps the value', async () => {
    const by: By = { kind: 'operator', email: hostile }
    const value = {
      position: hostile,
      stream: hostile,
      revision: 0,
      id: hostile,
      type: hostile,
      recordedAt: hostile,
      data: { [hostile]: hostile },
      metadata: { by, requestId: hostile },
    }
    const frames = [{ line: { kind: 'event', value } }, { end: { exitCode: 0, message: null } }] as const
    const DATA_DIR = answering(...frames)
    const plain = await cellarbook(['log', 'read'], { DATA_DIR, EVENTSTORE_URL: '' })
    expect(plain.stdout.match(/\\u001b\[2J/g)).toHaveLength(6)
    for (const line of linesOf(plain.stdout)) expect(line).not.toMatch(steering)
    const found = await cellarbook(['log', 'find', '7'], { DATA_DIR: answering(...frames), EVENTSTORE_URL: '' })
    expect(found.stdout.match(/\\u001b\[2J/g)?.length).toBeGreaterThan(6)
    for (const line of linesOf(found.stdout)) expect(line).not.toMatch(steering)
    const json = await cellarbook(['log', 'read', '--json'], { DATA_DIR, EVENTSTORE_URL: '' })
    for (const line of linesOf(json.stdout)) expect(line).not.toMatch(steering)
    expect(json.lines).toEqual([value])
  })

  test('in a note beside the result', async () => {
    const made = { id: hostile, cellar: hostile, label: hostile, note: hostile, status: 'active' } as const
    const limit = { readings: 1, windowMs: 1_000 }
    const times = { expiresAt: hostile, createdAt: hostile, lastUsedAt: hostile }
    const key = { ...made, ...times, limit, key: hostile, predecessor: hostile, replaced: hostile }
    const link = { url: hostile, email: hostile, role: 'admin', expiresAt: hostile } as const
    const answers = [
      [{ kind: 'key', value: key }, ['key', 'rotate', '7Qp2mZ4k']],
      [{ kind: 'link', value: link }, ['operator', 'link']],
    ] as const
    for (const [line, words] of answers) {
      const DATA_DIR = answering({ line }, { end: { exitCode: 0, message: null } })
      const ran = await cellarbook(words, { DATA_DIR, EVENTSTORE_URL: '' })
      expect([words, ran.exitCode]).toEqual([words, 0])
      expect([ran.stdout, ran.stderr]).toEqual([expect.stringContaining(escaped), expect.stringContaining(escaped)])
      for (const shown of [...linesOf(ran.stdout), ...linesOf(ran.stderr)]) expect(shown).not.toMatch(steering)
    }
  })

  test('in what an address answers to simulated devices', async () => {
    const answer = () => Response.json({ code: hostile, message: hostile }, { status: 400 })
    const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: answer })
    servers.push(server)
    const words = ['simulate', '--cellar', 'a', '--duration', '1s', '--rate', '20', '--url', server.url.href]
    const { stderr } = await cellarbook(words, { CELLARBOOK_KEY: 'any' })
    expect(stderr).toContain(escaped)
    for (const line of linesOf(stderr)) expect(line).not.toMatch(steering)
  })

  test('in words and in environment variables', async () => {
    const typed = hostile.replace('\n', '')
    const file = join(freshFolder(), typed)
    writeFileSync(file, '')
    const runs = [
      await cellarbook([typed], { DATA_DIR: freshFolder() }),
      await cellarbook(['key', 'create', '--cellar', 'a', `--${typed}`], { DATA_DIR: freshFolder() }),
      await cellarbook(['help', typed], { DATA_DIR: freshFolder() }),
      await cellarbook(['serve'], { DATA_DIR: file }),
      await cellarbook(['serve'], { LOG_LEVEL: typed, PUBLIC_URL: typed }),
    ]
    for (const { stderr } of runs) {
      expect(stderr).toContain('\\u001b')
      for (const line of linesOf(stderr)) expect(line).not.toMatch(steering)
    }
  })

  const bug = `new Error(${JSON.stringify(hostile)})`
  test.each([
    ['thrown', `globalThis.fetch = async () => ({ get status() { throw ${bug} } })`],
    ['that nobody waits for', `globalThis.fetch = () => new Promise(() => { Promise.reject(${bug}) })`],
  ])('in a bug of a command, one %s', async (_, text) => {
    const ran = await cellarbook(['cellar', 'create', 'a'], { DATA_DIR: freshFolder(), ...preload(text) })
    expect([ran.exitCode, linesOf(ran.stderr)[0]]).toEqual([1, `cellarbook: a bug ended the command: ${escaped}`])
    for (const line of linesOf(ran.stderr)) expect(line).not.toMatch(steering)
    expect(ran.stderr).toMatch(/\n {4}at /)
  })

  test('in a bug of the service, on the screen and in its log lines', async () => {
    const text = `
      const write = process.stderr.write.bind(process.stderr)
      process.stderr.write = (text) => {
        if (text.includes('listens on')) Promise.reject(new Error(${JSON.stringify(hostile)}))
        return write(text)
      }`
    const service = await startProcess(join(freshFolder(), hostile), { environment: preload(text) })
    expect(await service.exited).toBe(1)
    await service.untilStderr(/never/)
    await service.untilStdout(/never/)
    expect(service.stderr()).toContain(`cellarbook: a bug ended the service: ${escaped}\n`)
    const lines = linesOf(service.stdout())
    for (const line of [...linesOf(service.stderr()), ...lines]) expect(line).not.toMatch(steering)
    expect(lines.map((line) => JSON.parse(line).error?.message)).toContain(hostile)
  })
})

import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { packageManager } from '../../package.json'
import { sameSignalMsMax } from '../../src/cli/until-stopped.ts'
import {
  cellarbook,
  environmentOf,
  gather,
  newFolder,
  root,
  type ServiceProcess,
  startProcess,
  textOf,
} from '../support/cellarbook.ts'
import { startLoad } from '../support/load.ts'
import { until } from '../support/time/until.ts'
import { acceptedInLog } from './accepted-in-log.ts'

setDefaultTimeout(600_000)

const slowMs = 60_000
const folder = newFolder()
const environment = { DATA_DIR: folder.path }
afterAll(() => folder.remove())

const newKey = async (): Promise<string> => {
  await cellarbook(['cellar', 'create', 'load'], environment)
  const words = ['key', 'create', '--cellar', 'load', '--limit', '10000000/60', '--json']
  return textOf((await cellarbook(words, environment)).lines[0], 'key')
}

let value = 0
const nextValue = (): number => value++

/** A request of which the service has received the head and half of the body. */
type HalfPost = { readonly value: number; finish(): void; readonly answer: Promise<string> }

const startHalfPost = async (service: ServiceProcess, key: string): Promise<HalfPost> => {
  const { hostname, port } = new URL(service.url)
  const sent = nextValue()
  const body = JSON.stringify({
    cellar: 'load',
    rack: 'slow',
    keg: 'k',
    value: sent,
    timestamp: '2026-03-01T12:00:00Z',
  })
  const socket = connect(Number(port), hostname)
  const answer = wholeAnswer(socket)
  const head = [
    'POST /api/v1/ingest HTTP/1.1',
    `Host: ${hostname}:${port}`,
    `X-API-Key: ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ].join('\r\n')
  await new Promise<void>((resolve) => socket.write(`${head}\r\n\r\n${body.slice(0, 20)}`, () => resolve()))
  return { value: sent, finish: () => socket.write(body.slice(20)), answer }
}

const wholeAnswer = (socket: Socket): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = ''
    socket.on('data', (piece) => {
      text += piece.toString()
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(text))
  })

const untilDraining = async (service: ServiceProcess): Promise<void> => {
  const said = await service.untilStdout(/"msg":"draining"/)
  expect(said).not.toBeNull()
}

describe('a drain', () => {
  test(
    'answers every open request, and acknowledged readings are in the log',
    async () => {
      const key = await newKey()
      const service = await startProcess(folder.path)
      const posts = await Promise.all(Array.from({ length: 20 }, () => startHalfPost(service, key)))
      // The service reads this request last. So when it is answered, all requests above have been read.
      await (await fetch(`${service.url}/livez`)).text()
      service.signal('SIGTERM')
      await untilDraining(service)
      for (const post of posts) post.finish()
      const answers = await Promise.all(posts.map((post) => post.answer))
      expect(await service.exited).toBe(0)
      const accepted = await acceptedInLog(folder.path)
      for (const [index, answer] of answers.entries()) {
        expect(answer).toStartWith('HTTP/1.1 200 OK\r\n')
        const receipt = /x-receipt: (\S+)/i.exec(answer)?.[1]
        expect(accepted.get(posts[index]?.value ?? -1)).toEqual([receipt ?? 'none'])
      }
    },
    slowMs,
  )

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'by %s under load stores exactly the acknowledged readings and exits with 0',
    async (signal) => {
      const key = await newKey()
      const service = await startProcess(folder.path)
      const load = startLoad({ url: service.url, key, cellar: 'load', devices: 24, nextValue })
      await load.untilAcknowledged(500)
      service.signal(signal)
      expect(await service.exited).toBe(0)
      await load.ended
      expect(load.refused).toEqual([])
      const accepted = await acceptedInLog(folder.path)
      expect(load.acknowledged.filter((post) => accepted.get(post.value)?.join() !== post.receipt)).toEqual([])
      // Connections that the service had not accepted yet are reset by the system. So their readings must not be in the log.
      expect(load.unanswered.filter((post) => accepted.has(post.value))).toEqual([])
    },
    slowMs,
  )

  test(
    'does not begin at a SIGHUP, which only writes a line',
    async () => {
      const service = await startProcess(folder.path)
      service.signal('SIGHUP')
      expect(await service.untilStdout(/"level":"info".*SIGHUP changes nothing/)).not.toBeNull()
      expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
      expect(await service.stop()).toBe(0)
    },
    slowMs,
  )

  test.skipIf(process.platform !== 'linux')(
    'on a terminal does not begin at a SIGHUP, but when the terminal is closed',
    async () => {
      const log = join(folder.path, 'lines')
      let shown = ''
      const terminal = new Bun.Terminal({
        data: (_, piece) => {
          shown += new TextDecoder().decode(piece)
        },
      })
      const service = Bun.spawn(['sh', '-c', `exec "${process.execPath}" src/main.ts serve > "${log}"`], {
        cwd: root,
        env: environmentOf({ DATA_DIR: folder.path }),
        terminal,
      })
      const lines = (): string => (existsSync(log) ? readFileSync(log, 'utf8') : '')
      await until(() => shown.includes('Open this link'))
      service.kill('SIGHUP')
      await until(() => lines().includes('SIGHUP changes nothing'))
      expect(lines()).not.toContain('draining')
      // A shell sends the signal when its terminal is closed. Here the terminal is closed a little later than `close()`.
      terminal.close()
      const repeat = setInterval(() => service.kill('SIGHUP'), sameSignalMsMax / 10)
      await until(() => lines().includes('draining'))
      clearInterval(repeat)

      expect(await service.exited).toBe(0)
      expect(lines()).toMatch(/"because":"SIGHUP".*\n.*"msg":"stopped"/)
    },
    slowMs,
  )

  test.skipIf(process.platform !== 'linux')(
    'begins when the terminal is closed that has only the log lines',
    async () => {
      let shown = ''
      const terminal = new Bun.Terminal({
        data: (_, piece) => {
          shown += new TextDecoder().decode(piece)
        },
      })
      const service = Bun.spawn(['sh', '-c', `exec "${process.execPath}" src/main.ts serve 2> /dev/null`], {
        cwd: root,
        env: environmentOf({ DATA_DIR: folder.path }),
        terminal,
      })
      await until(() => shown.includes('"msg":"listening"'))
      terminal.close()
      const repeat = setInterval(() => service.kill('SIGHUP'), sameSignalMsMax / 10)
      // 129: a signal that came much later than the first one has ended the drain.
      expect([0, 129]).toContain(await service.exited)
      clearInterval(repeat)
    },
    slowMs,
  )

  test(
    'is ended by a second signal, but not by an echo of the first',
    async () => {
      const key = await newKey()
      const service = await startProcess(folder.path)
      const post = await startHalfPost(service, key)
      await (await fetch(`${service.url}/livez`)).text()
      service.signal('SIGINT')
      await untilDraining(service)
      service.signal('SIGINT')
      post.finish()
      expect(await post.answer).toStartWith('HTTP/1.1 200')
      expect(await service.exited).toBe(0)

      const stubborn = await startProcess(folder.path)
      const stuck = await startHalfPost(stubborn, key)
      const cut = stuck.answer.catch(() => 'cut')
      await (await fetch(`${stubborn.url}/livez`)).text()
      stubborn.signal('SIGTERM')
      await untilDraining(stubborn)
      // The process ignores a second signal that comes too soon after the first one. So the signal is sent again and again.
      const repeat = setInterval(() => stubborn.signal('SIGTERM'), sameSignalMsMax / 2)
      expect(await stubborn.exited).toBe(143)
      clearInterval(repeat)
      expect(['', 'cut']).toContain(await cut)
    },
    slowMs,
  )

  test(
    'answers 503 at /readyz, asks clients to disconnect, and releases the folder',
    async () => {
      const key = await newKey()
      const service = await startProcess(folder.path)
      const post = await startHalfPost(service, key)
      const before = await fetch(`${service.url}/readyz`)
      expect([before.status, before.headers.get('Connection')]).toEqual([200, null])
      service.signal('SIGTERM')
      await untilDraining(service)
      const after = await fetch(`${service.url}/readyz`)
      expect([after.status, after.headers.get('Connection')]).toEqual([503, 'close'])
      post.finish()
      await post.answer
      expect(await service.exited).toBe(0)
      expect(service.stderr()).not.toContain('rror')
      const next = await startProcess(folder.path)
      expect(await next.stop()).toBe(0)
    },
    slowMs,
  )

  test.each([
    ['info', 0],
    ['debug', 7],
  ])(
    'at LOG_LEVEL=%s writes the last sums of refusals, and %i single lines',
    async (level, single) => {
      const service = await startProcess(folder.path, { environment: { LOG_LEVEL: level } })
      const wrong = { method: 'POST', headers: { 'X-API-Key': 'wrong' } }
      for (let sent = 0; sent < 7; sent += 1) await (await fetch(`${service.url}/api/v1/ingest`, wrong)).text()
      expect(await service.stop()).toBe(0)
      const lines = service
        .stdout()
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
      const sums = lines.filter(({ msg }) => msg === 'requests refused')
      expect(sums.reduce((total, { requests }) => total + requests, 0)).toBe(7)
      expect(sums[0]).toMatchObject({ level: 'info', addresses: [{ address: '127.0.0.1' }] })
      expect(lines.filter(({ msg }) => msg === 'request refused')).toHaveLength(single)
      expect(lines.at(-1)).toMatchObject({ msg: 'stopped' })
    },
    slowMs,
  )

  test.skipIf(process.platform !== 'linux' || Bun.which('npx') === null)(
    'also happens under npx, which passes no signal on and is named in commands',
    async () => {
      const npx = Bun.spawn(['npx', '--yes', packageManager, 'start'], {
        cwd: join(import.meta.dir, '../..'),
        env: environmentOf(environment),
        stdout: 'pipe',
        stderr: 'pipe',
      })
      const stdout = gather(npx.stdout)
      const stderr = gather(npx.stderr)
      await stdout.until(/"msg":"listening"/)
      npx.kill('SIGTERM')
      // The pipe closes only when the service itself has ended.
      await stdout.ended
      expect(stdout.text()).toMatch(/"because":"npx has ended".*\n.*"msg":"stopped"/)
      expect(await stderr.until(/ npx --yes bun@\S+ run cellarbook operator link\n/)).not.toBeNull()
    },
    slowMs,
  )
})

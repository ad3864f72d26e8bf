/** Runs the command of docs/devices.md, "A retry that stores nothing twice", as it stands there, through a proxy that fails. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, isThere, reportMissing, toolOf } from '../clients/tools.ts'
import { acceptedReadings } from '../support/answers.ts'
import { Door } from '../support/log-server/server-door.ts'
import { openFreshLog } from '../support/logs/engine.ts'
import { type FaultyLog, faultyLog } from '../support/logs/faulty-log.ts'
import { type TemporaryFolder, temporaryFolder } from '../support/temporary-folder.ts'
import { type Service, startService, testCellar, validReading } from '../support/test-service.ts'
import { until } from '../support/time/until.ts'

const guide = await Bun.file(new URL('../../docs/devices.md', import.meta.url)).text()
const [, afterHeading = ''] = guide.split('## A retry that stores nothing twice')
const command = /```sh\n(.*?)```/s.exec(afterHeading)?.[1] ?? ''

let log: FaultyLog
let service: Service
let door: Door
let folder: TemporaryFolder
let key: string
beforeEach(async () => {
  log = faultyLog(await openFreshLog())
  service = await startService({ log })
  key = (await service.createKey()).key
  door = new Door(Number(new URL(service.url).port))
  await door.open()
  folder = temporaryFolder()
  // curl then tells on stderr what it does, so that a test knows when a try has failed.
  writeFileSync(join(folder.path, '.curlrc'), 'verbose\n')
})
afterEach(async () => {
  await door.close()
  await service.stop()
  await log.close()
  folder.remove()
})

type Run = {
  /** What the command prints: the status of the last answer. */
  readonly status: Promise<string>
  /** What curl tells about all tries so far. */
  told(): string
}

const run = (text = command, apiKey = key): Run => {
  const child = Bun.spawn(['sh', '-c', text], {
    cwd: folder.path,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: folder.path,
      BASE: `http://127.0.0.1:${door.port}`,
      CELLARBOOK_KEY: apiKey,
    },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  let told = ''
  const reading = child.stderr.pipeThrough(new TextDecoderStream()).pipeTo(
    new WritableStream({
      write: (chunk) => {
        told += chunk
      },
    }),
  )
  const status = async (): Promise<string> => {
    const [printed] = await Promise.all([new Response(child.stdout).text(), reading, child.exited])
    return printed.trim()
  }
  return { status: status(), told: () => told }
}

const times = (told: string, words: string): number => told.split(words).length - 1

const curl: Client = { name: 'curl', isInstalledByCi: true, command: toolOf('curl') === null ? null : ['curl'] }

test('the retry command of the guide has its curl here, or curl is named', () => {
  expect(reportMissing([curl])).toEqual([])
})

describe.skipIf(!isThere(curl))('the retry command of the guide', () => {
  test('stores one reading when the connection breaks before the append', async () => {
    const held = log.hold('before')
    const sent = run()
    await until(() => held.waiting === 1)
    door.cut()
    // The first request still runs. curl does not repeat a 409 by itself, so the loop of the command does.
    await until(() => sent.told().includes('409'))
    held.release()
    expect(await sent.status).toBe('200')
    expect(times(sent.told(), 'Idempotent-Replayed: true')).toBe(1)
    expect(await acceptedReadings(log)).toHaveLength(1)
  })

  test('gets the first answer when the connection breaks after the append', async () => {
    const held = log.hold('after')
    const sent = run()
    await until(() => held.waiting === 1)
    door.cut()
    held.release()
    expect(await sent.status).toBe('200')
    expect(times(sent.told(), 'Idempotent-Replayed: true')).toBe(1)
    expect(await acceptedReadings(log)).toHaveLength(1)
  })

  test('sends again when the connection is refused', async () => {
    await door.close()
    const sent = run()
    await until(() => /refused/i.test(sent.told()))
    await door.open()
    expect(await sent.status).toBe('200')
    expect(await acceptedReadings(log)).toHaveLength(1)
  })

  test('sends again after a 503', async () => {
    log.failAppend({ fault: 'not_written' })
    const sent = run()
    expect(await sent.status).toBe('200')
    expect(times(sent.told(), '503 Service Unavailable')).toBe(1)
    expect(await acceptedReadings(log)).toHaveLength(1)
  })

  test('waits after a 429 as long as Retry-After says', async () => {
    const limited = await service.createKey({ limit: { readings: 1, windowMs: 2_000 } })
    expect((await service.post(validReading, limited.key)).status).toBe(200)
    const beganMs = performance.now()
    const sent = run(command, limited.key)
    await until(() => sent.told().includes('Retry-After: 2'))
    service.clock.advance(4_000)
    expect(await sent.status).toBe('200')
    expect(performance.now() - beganMs).toBeGreaterThan(1_900)
    expect(times(sent.told(), '429 Too Many Requests')).toBe(1)
  })

  test.each([
    ['400', command.replace('"value":21.5', '"value":"x"')],
    ['401', command.replace('$CELLARBOOK_KEY', 'clr_wrong')],
    ['403', command.replaceAll(testCellar, 'another-cellar')],
    ['404', command.replace('/api/v1/ingest', '//api/v1/ingest')],
  ])('sends only once when the answer is %s', async (status, text) => {
    expect(text).not.toBe(command)
    const sent = run(text)
    expect(await sent.status).toBe(status)
    expect(times(sent.told(), '> POST ')).toBe(1)
    expect(await acceptedReadings(log)).toEqual([])
  })

  test('sends nothing if there is no idempotency key', async () => {
    const text = command.replace('/proc/sys/kernel/random/uuid', '/no/such/file')
    expect(text).not.toBe(command)
    const sent = run(text)
    expect(await sent.status).toBe('')
    expect(sent.told()).toContain('IDEMPOTENCY_KEY')
    expect(times(sent.told(), '> POST ')).toBe(0)
  })
})

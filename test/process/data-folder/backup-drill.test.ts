import { afterAll, afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { paths } from '../../../views/paths.ts'
import { visitor } from '../../http/dashboard/visitor.ts'
import { cellarbook, environmentOf, newFolder, root, startedProcesses, textOf } from '../../support/cellarbook.ts'
import { startLoad } from '../../support/load.ts'
import { until } from '../../support/time/until.ts'

setDefaultTimeout(600_000)

const folder = newFolder()
afterAll(() => folder.remove())
const processes = startedProcesses()
afterEach(processes.killAll)

const batches = 40
const embedded = { EVENTSTORE_URL: '' }
const run = (dataDir: string, ...words: readonly string[]) => cellarbook(words, { DATA_DIR: dataDir, ...embedded })
const original = join(folder.path, 'original')
const restored = join(folder.path, 'restored')
const target = join(folder.path, 'backups')

const reading = { cellar: 'wine', rack: 'rack-1', keg: 'keg', value: 1, timestamp: '2026-03-01T12:00:00Z' }

const post = async (url: string, key: string, body: object, repeat?: string): Promise<string> => {
  const response = await fetch(`${url}/api/v1/ingest${'readings' in body ? '/batch' : ''}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-API-Key': key, ...(repeat && { 'Idempotency-Key': repeat }) },
    body: JSON.stringify(body),
  })
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)])
  return response.headers.get('X-Receipt') ?? ''
}

/** Without the lock, which stays. A killed backup also leaves the lock's journal. */
const namesIn = (path: string): string[] =>
  readdirSync(path)
    .filter((name) => !/\.lock(-journal)?$/.test(name))
    .sort()

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/** Kills a backup with -9 while it writes. */
const killBackup = async (logId: string): Promise<void> => {
  const child = Bun.spawn([process.execPath, join(root, 'src/main.ts'), 'backup', target], {
    cwd: root,
    env: environmentOf({ DATA_DIR: original, ...embedded }),
    stdout: 'ignore',
    stderr: 'ignore',
  })
  await until(() => sizeOf(join(target, `.cellarbook-${logId}.partial`)) > 0 || child.exitCode !== null)
  child.kill('SIGKILL')
  expect(await child.exited).toBe(137)
}

const eventsUpTo = async (dataDir: string, position: number): Promise<readonly string[]> => {
  const { lines } = await run(dataDir, 'log', 'read', '--to', String(position), '--json')
  return lines.map((line) => JSON.stringify(line))
}

test('a restored backup has all that was acknowledged before its position', async () => {
  await run(original, 'cellar', 'create', 'wine')
  const made = await run(original, 'key', 'create', '--cellar', 'wine', '--limit', '10000000/60', '--json')
  const [key, keyId] = [textOf(made.lines[0], 'key'), textOf(made.lines[0], 'id')]
  const service = await processes.start(original, { environment: embedded })
  for (let batch = 0; batch < batches; batch += 1)
    await post(service.url, key, { readings: Array(1_000).fill(reading) })
  const early = await post(service.url, key, reading, 'early')
  let value = 0
  const load = startLoad({ url: service.url, key, cellar: 'wine', devices: 8, nextValue: () => value++ })
  await load.untilAcknowledged(100)
  const first = await run(original, 'backup', target, '--json')
  expect(first.exitCode).toBe(0)
  const whole = namesIn(target)

  await killBackup(textOf(first.lines[0], 'logId'))
  expect(namesIn(target).filter((name) => !name.endsWith('.partial'))).toEqual(whole)
  await load.untilAcknowledged(load.acknowledged.length + 100)

  const before = load.acknowledged.length
  const second = await run(original, 'backup', target, '--json')
  expect(second.exitCode).toBe(0)
  expect(namesIn(target).filter((name) => name.startsWith('.'))).toEqual([])
  await load.untilAcknowledged(load.acknowledged.length + 100)
  await run(original, 'key', 'change', keyId, '--label', 'after the backup')
  const exported = ['log', 'export', '--kind', 'keys', '--format', 'ndjson', '--out', join(folder.path, 'keys.ndjson')]
  expect((await run(original, ...exported)).exitCode).toBe(0)
  const late = await post(service.url, key, reading, 'late')
  service.signal('SIGKILL')
  await service.exited
  await load.ended
  expect(load.refused).toEqual([])

  expect((await run(restored, 'restore', textOf(second.lines[0], 'path'), '--yes')).exitCode).toBe(0)
  expect((await run(restored, 'log', 'verify')).exitCode).toBe(0)
  const lastPosition = Number(second.lines[0]?.['lastPosition'])
  const expected = await eventsUpTo(original, lastPosition)
  expect(expected).toHaveLength(lastPosition)
  expect(Bun.deepEquals(await eventsUpTo(restored, lastPosition), expected)).toBe(true)
  const receipts = new Set(
    (await run(restored, 'log', 'read', '--json')).lines.map((line) => `${line['stream']}@${line['revision']}`),
  )
  expect(load.acknowledged.slice(0, before).filter(({ receipt }) => !receipts.has(receipt))).toEqual([])
  expect(receipts.has(late)).toBe(false)
  const resumed = await run(restored, ...exported, '--resume')
  expect([resumed.exitCode, resumed.stderr]).toEqual([1, expect.stringContaining('is not in this log')])

  const again = await processes.start(restored, { environment: embedded })
  // The index of idempotency keys is built again first.
  while ((await fetch(`${again.url}/readyz`)).status !== 200);
  expect(await post(again.url, key, reading, 'early')).toBe(early)
  const reissued = await post(again.url, key, reading, 'late')
  expect(Number(reissued.split('@')[1])).toBeLessThan(Number(late.split('@')[1]))
  expect(await again.stop()).toBe(0)
})

test('a restored log forgets a revocation and the use of a link', async () => {
  const [killed, older] = [join(folder.path, 'killed'), join(folder.path, 'older')]
  await run(killed, 'cellar', 'create', 'wine')
  const made = await run(killed, 'key', 'create', '--cellar', 'wine', '--json')
  const link = textOf((await run(killed, 'operator', 'link', '--json')).lines[0], 'url')
  const path = paths.link(link.split('/').at(-1) ?? '')
  const useLink = async (url: string): Promise<number> => {
    const person = visitor(url)
    await person.get(path)
    return (await person.post(path, { email: 'ada@example.org', password: 'glacier tumble orbit pickle' })).status
  }
  const backup = join(folder.path, 'before.db')
  expect((await run(killed, 'backup', backup)).exitCode).toBe(0)
  const service = await processes.start(killed, { environment: embedded })
  expect(await useLink(service.url)).toBe(303)
  expect(await useLink(service.url)).not.toBe(303)
  await run(killed, 'key', 'revoke', textOf(made.lines[0], 'id'))
  service.signal('SIGKILL')
  await service.exited
  const after = await run(killed, 'backup', join(folder.path, 'after.db'), '--json')
  expect(after.exitCode).toBe(0)

  expect((await run(older, 'restore', backup, '--yes')).exitCode).toBe(0)
  const again = await processes.start(older, { environment: embedded })
  await post(again.url, textOf(made.lines[0], 'key'), reading)
  expect(await useLink(again.url)).toBe(303)
  expect(await again.stop()).toBe(0)
})

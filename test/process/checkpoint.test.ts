import { afterAll, expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkpointEventsMin } from '../../src/limits.ts'
import { cellarbook, newFolder, type ServiceProcess, startProcess, textOf } from '../support/cellarbook.ts'
import { acceptedInLog } from './accepted-in-log.ts'

const folder = newFolder()
const path = join(folder.path, 'checkpoint')
const running: ServiceProcess[] = []
afterAll(async () => {
  for (const service of running) {
    service.signal('SIGKILL')
    await service.exited
  }
  folder.remove()
})

const start = async (): Promise<ServiceProcess> => {
  const service = await startProcess(folder.path)
  running.push(service)
  return service
}

const post = async (url: string, key: string, count: number): Promise<void> => {
  for (let left = count; left > 0; left -= 100) {
    const answers = await Promise.all(
      Array.from({ length: Math.min(100, left) }, () =>
        fetch(`${url}/api/v1/ingest`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', 'X-API-Key': key },
          body: JSON.stringify({ cellar: 'c', rack: 'r', keg: 'k', value: 1, timestamp: '2026-03-01T12:00:00Z' }),
        }),
      ),
    )
    expect(answers.every(({ status }) => status === 200)).toBeTrue()
  }
}

const thrownAway = /the checkpoint is not used/

test('SIGTERM leaves a checkpoint for the next start, and a damaged checkpoint is replaced', async () => {
  const environment = { DATA_DIR: folder.path }
  await cellarbook(['cellar', 'create', 'c'], environment)
  const key = textOf((await cellarbook(['key', 'create', '--cellar', 'c', '--json'], environment)).lines[0], 'key')
  expect(existsSync(path)).toBeFalse()

  const first = await start()
  await post(first.url, key, checkpointEventsMin)
  expect(await first.stop()).toBe(0)
  const written = readFileSync(path)

  const second = await start()
  await post(second.url, key, 1)
  second.signal('SIGKILL')
  await second.exited
  expect(second.stdout()).not.toMatch(thrownAway)
  expect(readFileSync(path).equals(written)).toBeTrue()

  writeFileSync(path, written.subarray(0, -1))
  const third = await start()
  await post(third.url, key, 1)
  expect(await third.stop()).toBe(0)
  expect(third.stdout()).toMatch(thrownAway)
  expect(existsSync(path)).toBeTrue()
  expect((await acceptedInLog(folder.path)).get(1)).toHaveLength(checkpointEventsMin + 2)
}, 600_000)

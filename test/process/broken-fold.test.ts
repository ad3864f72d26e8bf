import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { readingsStream } from '../../src/domain/streams.ts'
import { cellarbook, newFolder, type ServiceProcess, startProcess, textOf } from '../support/cellarbook.ts'

const slowMs = 60_000
const folder = newFolder()
const running: ServiceProcess[] = []
afterAll(async () => {
  for (const service of running) {
    service.signal('SIGKILL')
    await service.exited
  }
  folder.remove()
})

const environment = { DATA_DIR: folder.path }

const post = (url: string, key: string): Promise<Response> =>
  fetch(`${url}/api/v1/ingest`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-API-Key': key },
    body: JSON.stringify({ cellar: 'c', rack: 'r', keg: 'k', value: 1, timestamp: '2026-03-01T12:00:00Z' }),
  })

/**
 * Writes a reading behind the service's back, as a program would that ignores who holds the folder: the key's actor meets
 * it as a conflict and reads it, but no subscription delivers it, so what comes after it leaves a gap in the projections.
 */
const appendBehindTheServicesBack = (stream: string): void => {
  const plain = new Database(join(folder.path, 'log.db'))
  plain.run(
    `INSERT INTO events
       SELECT (SELECT max(position + count) FROM events), stream, revision + count, count, recorded_at, body
         FROM events WHERE stream = (SELECT id FROM streams WHERE name = ?) ORDER BY revision DESC LIMIT 1`,
    [stream],
  )
  plain.close()
}

test(
  'a fold that fails after the start ends the service as any bug outside a request, and the next one folds the log anew',
  async () => {
    await cellarbook(['cellar', 'create', 'c'], environment)
    const created = await cellarbook(['key', 'create', '--cellar', 'c', '--json'], environment)
    const [key, keyId] = [textOf(created.lines[0], 'key'), textOf(created.lines[0], 'id')]
    const service = await startProcess(folder.path)
    running.push(service)
    expect((await post(service.url, key)).status).toBe(200)

    appendBehindTheServicesBack(readingsStream(keyId))
    // Whatever the one who asked is told, it is not that all is well from here on: the process goes.
    await post(service.url, key).catch(() => {})
    expect(await service.exited).toBe(1)
    expect(service.stderr()).toContain(`a bug ended the service: Cannot fold revision 2 of "${readingsStream(keyId)}"`)
    expect(service.stdout()).toContain('"msg":"the service ends: a bug outside of any request"')

    const next = await startProcess(folder.path)
    running.push(next)
    const answer = await post(next.url, key)
    expect(answer.headers.get('X-Receipt')).toBe(`${readingsStream(keyId)}@3`)
    expect(await next.stop()).toBe(0)
  },
  slowMs,
)

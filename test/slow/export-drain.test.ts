import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { drainMsMax } from '../../src/limits.ts'
import { paths } from '../../views/paths.ts'
import { visitor } from '../http/dashboard/visitor.ts'
import { cellarbook, newFolder, startedProcesses, textOf } from '../support/cellarbook.ts'
import { rawConnect } from '../support/raw-http.ts'

setDefaultTimeout(600_000)

const folder = newFolder()
const environment = { DATA_DIR: folder.path }
const { start, killAll } = startedProcesses()
afterAll(async () => {
  await killAll()
  folder.remove()
})

const postReadings = async (url: string, key: string, batches: number): Promise<void> => {
  const reading = { cellar: 'wine', rack: 'r', keg: 'k', value: 1, timestamp: '2026-03-01T12:00:00Z' }
  const body = JSON.stringify({ readings: Array(1_000).fill(reading) })
  const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' }
  for (let batch = 0; batch < batches; batch += 1) {
    expect((await fetch(`${url}/api/v1/ingest/batch`, { method: 'POST', headers, body })).status).toBe(200)
  }
}

const recordsOf = async () =>
  (await cellarbook(['log', 'read', '--stream', 'exports-log', '--json'], environment)).lines

test('a stopping service cuts off an export that nobody reads, and records it', async () => {
  const service = await start(folder.path)
  await cellarbook(['cellar', 'create', 'wine'], environment)
  const made = await cellarbook(['key', 'create', '--cellar', 'wine', '--limit', '1000000/60', '--json'], environment)
  await postReadings(service.url, textOf(made.lines[0], 'key'), 30)

  const link = await cellarbook(['operator', 'link', '--json'], environment)
  const path = paths.link(textOf(link.lines[0], 'url').split('/').at(-1) ?? '')
  const person = visitor(service.url)
  await person.get(path)
  const password = 'glacier tumble orbit pickle'
  expect((await person.post(path, { email: 'ada@example.org', password })).status).toBe(303)

  const csrf = /name="_csrf" value="([^"]*)"/.exec((await person.get('/cellars')).body)?.[1] ?? ''
  const body = new URLSearchParams({ _csrf: csrf, list: 'readings', cellar: 'wine', format: 'ndjson' }).toString()
  const connection = await rawConnect(service.url)
  connection.pause()
  await connection.send(
    `POST /exports HTTP/1.1\r\nHost: ${new URL(service.url).host}\r\nSec-Fetch-Site: same-origin\r\n` +
      `Cookie: ${[...person.cookies].map(([name, value]) => `${name}=${value}`).join('; ')}\r\n` +
      `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
  while ((await recordsOf()).length === 0);
  // The export has filled the buffers of the socket before the service has answered so many commands.
  for (let asked = 0; asked < 5; asked += 1) await recordsOf()

  const stoppedAt = performance.now()
  expect(await service.stop()).toBe(0)
  expect(performance.now() - stoppedAt).toBeLessThan(drainMsMax)
  const records = await recordsOf()
  expect(records).toMatchObject([
    {
      data: { phase: 'begun', address: '127.0.0.1' },
      metadata: { by: { kind: 'operator', email: 'ada@example.org' } },
    },
    { data: { phase: 'cut_off', why: 'the service stopped', begunRevision: 0 } },
  ])
  connection.drop()
})

import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { cellarbook, newFolder, type ServiceProcess, startProcess, textOf } from '../support/cellarbook.ts'
import { validReading } from '../support/test-service.ts'

setDefaultTimeout(600_000)

const folder = newFolder()
let service: ServiceProcess | null = null

afterAll(async () => {
  await service?.stop()
  folder.remove()
})

// The reserve is larger than any disk, so every disk counts as almost full.
test('a service below DISK_RESERVE refuses readings, says so once, and still revokes keys', async () => {
  const environment = { EVENTSTORE_URL: '', DATA_DIR: folder.path }
  service = await startProcess(folder.path, { environment: { ...environment, DISK_RESERVE: '8191TiB' } })
  const said = await service.untilStdout(/\{.*"reason":"full".*\}/)
  expect(JSON.parse(said?.[0] ?? '{}')).toMatchObject({ level: 'error', msg: 'The disk is almost full. Not ready.' })
  expect((await fetch(`${service.url}/readyz`)).status).toBe(503)

  await cellarbook(['cellar', 'create', validReading.cellar], environment)
  const made = await cellarbook(['key', 'create', '--cellar', validReading.cellar, '--json'], environment)
  const [keyId, key] = [textOf(made.lines[0], 'id'), textOf(made.lines[0], 'key')]
  expect(await post(service, key)).toEqual([503, 'STORAGE_FULL'])
  expect((await cellarbook(['key', 'revoke', keyId], environment)).exitCode).toBe(0)
  expect(await post(service, key)).toEqual([401, undefined])
  expect(service.stdout().match(/Not ready/g)).toHaveLength(1)
})

test('a DISK_RESERVE that is too small ends the start with exit code 78', async () => {
  const ran = await cellarbook(['serve'], { EVENTSTORE_URL: '', DATA_DIR: folder.path, DISK_RESERVE: '63MiB' })
  expect(ran.exitCode).toBe(78)
  expect(ran.stderr).toContain('DISK_RESERVE is "63MiB": it must be a size of at least 64MiB')
})

const post = async ({ url }: ServiceProcess, key: string): Promise<[status: number, code: unknown]> => {
  const headers = { 'Content-Type': 'application/json', 'X-API-Key': key }
  const response = await fetch(`${url}/api/v1/ingest`, { method: 'POST', headers, body: JSON.stringify(validReading) })
  return [response.status, Reflect.get(Object(await response.json()), 'code')]
}

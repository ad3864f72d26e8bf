import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { newFolder, type ServiceProcess, startProcess } from '../support/cellarbook.ts'
import { startLogServer } from '../support/log-server/server.ts'

setDefaultTimeout(600_000)

const folder = newFolder()
const server = await startLogServer()
let service: ServiceProcess | null = null

afterAll(async () => {
  await service?.stop()
  await server.stop()
  folder.remove()
})

test('a service writes one line when it is not ready and one when it recovers', async () => {
  service = await startProcess(folder.path, { environment: { EVENTSTORE_URL: server.url } })
  await server.kill()
  const said = await service.untilStdout(/\{.*"msg":"The event log cannot be written\. Not ready\."\}/)
  const expected = { level: 'error', reason: 'log_away', why: expect.stringContaining('127.0.0.1') }
  expect(JSON.parse(said?.[0] ?? '{}')).toMatchObject(expected)
  expect((await fetch(`${service.url}/readyz`)).status).toBe(503)
  await server.restart()
  expect(await service.untilStdout(/"msg":"It is over: The event log cannot be written\."/)).not.toBeNull()
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
  expect(service.stdout().match(/Not ready/g)).toHaveLength(1)
})

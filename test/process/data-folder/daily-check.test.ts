import { afterAll, afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { cellarbook, newFolder, startedProcesses } from '../../support/cellarbook.ts'
import { harmLog } from '../../support/logs/harm.ts'

setDefaultTimeout(600_000)

const folder = newFolder()
afterAll(() => folder.remove())
const processes = startedProcesses()
afterEach(processes.killAll)

test('a service finds a row that was changed while it ran, and stays ready', async () => {
  const dataDir = join(folder.path, 'data')
  const environment = { EVENTSTORE_URL: '' }
  await cellarbook(['cellar', 'create', 'wine'], { DATA_DIR: dataDir, ...environment })
  const service = await processes.start(dataDir, { environment })
  harmLog(dataDir, (database) => database.run('UPDATE events SET recorded_at = recorded_at + 1 WHERE position = 2'))
  const line = await service.untilStdout(/\{.*"msg":"the log was checked: it is damaged"\}/)
  const first = expect.stringContaining('position 2: the row does not match its checksum')
  expect(JSON.parse(line?.[0] ?? '{}')).toMatchObject({ level: 'error', first, found: '1 changed row' })
  const warning = await service.untilStdout(/\{.*"reason":"damaged".*\}/)
  expect(JSON.parse(warning?.[0] ?? '{}')).toMatchObject({ level: 'warn', why: first })
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
  expect(await service.stop()).toBe(0)
})

import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { parseEventStoreUrl } from '../src/eventstore-url.ts'
import { openLog } from '../src/open-log.ts'
import { diskReserveBytesDefault } from '../src/variables.ts'
import { type LogServer, startLogServer } from './support/log-server/server.ts'
import { freshPrefix } from './support/logs/event-store-log.ts'
import { seededEntropy } from './support/seeded-entropy.ts'
import { type TemporaryFolder, temporaryFolder } from './support/temporary-folder.ts'
import { manualClock } from './support/time/manual-clock.ts'

setDefaultTimeout(600_000)

const opened: { folder: TemporaryFolder; server: LogServer }[] = []

afterEach(async () => {
  for (const { folder, server } of opened.splice(0)) {
    await server.stop()
    folder.remove()
  }
})

const openOn = async (server: LogServer) => {
  const folder = temporaryFolder()
  opened.push({ folder, server })
  const eventStore = parseEventStoreUrl(server.url)
  if ('rule' in eventStore) throw new Error(eventStore.rule)
  const place = { dataDir: folder.path, allowSharedDataDir: false }
  const config = {
    ...place,
    eventStore: { ...eventStore.value, prefix: freshPrefix() },
    diskReserveBytes: diskReserveBytesDefault,
  }
  return openLog(config, { clock: manualClock(), entropy: seededEntropy() })
}

test('a start waits for a store that answers reads but takes no appends yet', async () => {
  const server = await startLogServer()
  let refusals = 0
  let appends = 0
  server.faults.beforeAppend = async () => {
    appends += 1
    if (appends === 1) refusals = 3
  }
  server.faults.isReady = () => {
    if (refusals === 0) return true
    refusals -= 1
    return false
  }
  const log = await openOn(server)
  expect(appends).toBe(2)
  expect(await log.readAll({ limit: 2 })).toMatchObject([{ type: 'LogCreated' }])
  await log.close()
})

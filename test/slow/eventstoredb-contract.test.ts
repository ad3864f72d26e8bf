/** The contract on the test log server always, and on the server that `TEST_EVENTSTORE_URL` names when it is set. */
import { afterAll } from 'bun:test'
import { parseEventStore } from '../../src/eventstore-url.ts'
import { openEventStoreLog } from '../../src/log/eventstoredb.ts'
import { describeEventLog } from '../log/contract.ts'
import { startLogServer } from '../support/log-server/server.ts'

const settingsOf = (url: string, prefix: string) => {
  const parsed = parseEventStore(url, prefix)
  if ('fault' in parsed) throw new Error(parsed.fault)
  return parsed.value
}

/** Nothing of a real server's log is emptied: each run has a prefix of its own. */
const prefix = `test${crypto.randomUUID().slice(0, 8)}-`

const server = await startLogServer()
afterAll(() => server.stop())
describeEventLog('eventstoredb over the test log server', async () => {
  const log = await openEventStoreLog({ settings: settingsOf(server.url, prefix) })
  return { log, dispose: () => log.close() }
})

const realUrl = process.env['TEST_EVENTSTORE_URL']
if (realUrl !== undefined) {
  describeEventLog('eventstoredb over a real server', async () => {
    const log = await openEventStoreLog({ settings: settingsOf(realUrl, prefix) })
    return { log, dispose: () => log.close() }
  })
}

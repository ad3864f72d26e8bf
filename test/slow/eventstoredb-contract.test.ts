/** The contract on the test log server always, and on the server that `TEST_EVENTSTORE_URL` names when it is set. */
import { afterAll, setDefaultTimeout } from 'bun:test'
import { describeEventLog } from '../log/contract.ts'
import { startLogServer } from '../support/log-server/server.ts'
import { openAt } from '../support/logs/event-store-log.ts'

// A busy machine needs longer than the 5 s that a plain `bun test` gives.
setDefaultTimeout(60_000)

const server = await startLogServer()
afterAll(() => server.stop())

const describeAt = (name: string, url: string): void =>
  describeEventLog(`eventstoredb over ${name}`, async () => {
    const log = await openAt(url)
    return { log, dispose: () => log.close() }
  })

describeAt('the test log server', server.url)
const realUrl = process.env['TEST_EVENTSTORE_URL']
if (realUrl !== undefined) describeAt('a real server', realUrl)

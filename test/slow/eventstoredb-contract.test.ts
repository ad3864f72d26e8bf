/** Runs the contract of the log on the test log server, and on the server of `TEST_EVENTSTORE_URL` if it is set. */
import { afterAll, setDefaultTimeout } from 'bun:test'
import { describeEventLog } from '../log/contract.ts'
import { startLogServer } from '../support/log-server/server.ts'
import { openAt } from '../support/logs/event-store-log.ts'

setDefaultTimeout(600_000)

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

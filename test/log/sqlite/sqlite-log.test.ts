import { expect, setDefaultTimeout, test } from 'bun:test'
import { storeStreamsRememberedMax } from '../../../src/limits.ts'
import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import { describeInProcessLog } from '../../support/logs/in-process.ts'
import { keySuspended } from '../../support/logs/sample-events.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { describeEventLog } from '../contract.ts'

// The default timeout of 5 s is too short on a busy CPU.
setDefaultTimeout(600_000)

const open = async () => {
  const folder = temporaryFolder()
  const log = openSqliteLog({ dataDir: folder.path })
  const dispose = async (): Promise<void> => {
    await log.close()
    folder.remove()
  }
  return { log, dispose }
}

describeEventLog('sqlite', open)
describeInProcessLog('sqlite', open)

/** One stream more than the log remembers. The log has an event of each. */
const withManyStreams = async () => {
  const { log, dispose } = await open()
  const streams = Array.from({ length: storeStreamsRememberedMax + 1 }, (_, number) => `key-${number}`)
  const atOnce = 400
  for (let from = 0; from < streams.length; from += atOnce) {
    const some = streams.slice(from, from + atOnce)
    await Promise.all(some.map((stream) => log.append(stream, 'none', [keySuspended()])))
  }
  return { log, dispose }
}

test('a log with more streams than it remembers names the stream of each event', async () => {
  const { log, dispose } = await withManyStreams()
  // Their ids differ by the number of remembered streams, so they have the same place in memory.
  const [first, last] = ['key-0', `key-${storeStreamsRememberedMax}`]
  for (const stream of [first, last, first]) {
    expect((await log.read(stream, { limit: 1 })).map((event) => event.stream)).toEqual([stream])
  }
  await dispose()
})

test('a log with more streams than it remembers knows the revisions that it is writing', async () => {
  const { log, dispose } = await withManyStreams()
  // The stream that was met longest ago, then as many others as make the log forget it, then that stream again. All in one turn.
  const oldest = 'key-1'
  const appended = [
    log.append(oldest, 0, [keySuspended()]),
    log.append('key-new', 'none', [keySuspended()]),
    log.append('key-newer', 'none', [keySuspended()]),
    log.append(oldest, 1, [keySuspended()]),
    log.append('key-new', 0, [keySuspended()]),
  ]
  expect((await Promise.all(appended)).map(({ outcome }) => outcome)).toEqual(Array(5).fill('written'))
  expect((await log.read(oldest, { limit: 10 })).map(({ revision }) => revision)).toEqual([0, 1, 2])
  await dispose()
})

import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { constants, getPriority } from 'node:os'
import { join } from 'node:path'
import { checkDelayMs, checkedRowsPerStep } from '../../../src/limits.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import {
  BackgroundCheck,
  type EndedCheck,
  type FromCheckThread,
  type ToCheckThread,
} from '../../../src/log/verify/background-check.ts'
import { WorkerThread } from '../../../src/worker-thread.ts'
import { reading } from '../../support/logs/sample-events.ts'
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary-folder.ts'
import { drivenSchedule } from '../../support/time/driven-schedule.ts'
import { until } from '../../support/time/until.ts'

setDefaultTimeout(600_000)

let folder: TemporaryFolder
let log: EventLog
beforeEach(async () => {
  folder = temporaryFolder()
  log = openSqliteLog({ dataDir: folder.path })
  await log.append('readings-one', 'none', [reading('readings-one')])
})
afterEach(async () => {
  await log.close()
  folder.remove()
})

const begun = async (thread?: string, acceptsSchema = false) => {
  const schedule = drivenSchedule()
  const ended: EndedCheck[] = []
  const check = new BackgroundCheck({
    logPath: join(folder.path, 'log.db'),
    acceptsSchema,
    later: schedule.after,
    now: () => 0,
    onEnd: (one) => ended.push(one),
    ...(thread === undefined ? {} : { thread: new URL(`data:text/javascript,${encodeURIComponent(thread)}`) }),
  })
  await schedule.advance(checkDelayMs)
  return { check, ended }
}

describe('BackgroundCheck', () => {
  test('tells no result after it was stopped', async () => {
    const { check, ended } = await begun(`self.onmessage = ({ data }) => {
      if (data.kind === 'check') return
      self.postMessage({ kind: 'failed', why: 'too late' })
      self.postMessage('closed')
    }`)
    await check.stop()
    expect([check.last, ended]).toEqual([null, []])
  })

  test('does not tell a change of the schema that a person has accepted', async () => {
    using database = new Database(join(folder.path, 'log.db'), { readwrite: true })
    database.run('DROP TRIGGER events_stay')
    for (const acceptsSchema of [true, false]) {
      const { check, ended } = await begun(undefined, acceptsSchema)
      await until(() => ended.length > 0)
      const first = acceptsSchema ? null : expect.objectContaining({ kind: 'schema' })
      expect(ended).toMatchObject([{ kind: 'checked', result: { first } }])
      await check.stop()
    }
  })

  test('tells that its thread has failed', async () => {
    const { check, ended } = await begun('self.onmessage = () => { throw new Error("broken") }')
    await until(() => ended.length > 0)
    expect(ended).toEqual([{ kind: 'failed', why: expect.stringContaining('broken'), at: 0, tookMs: 0 }])
    await check.stop()
  })
})

describe('the thread of the check', () => {
  const begunThread = async (told: FromCheckThread[]): Promise<WorkerThread<ToCheckThread, FromCheckThread>> => {
    const rows = Array.from({ length: 40 * checkedRowsPerStep }, (_, at) =>
      log.append('readings-one', at, [reading('readings-one')]),
    )
    await Promise.all(rows)
    const thread = new WorkerThread<ToCheckThread, FromCheckThread>({
      module: new URL('../../../src/log/verify/check-thread.ts', import.meta.url),
      onMessage: (message) => told.push(message),
      onFault: (why) => told.push({ kind: 'failed', why }),
    })
    thread.post({ kind: 'check', path: join(folder.path, 'log.db'), acceptsSchema: false })
    return thread
  }

  test('stops between two steps when it is told to close', async () => {
    const told: FromCheckThread[] = []
    const thread = await begunThread(told)
    await thread.close({ kind: 'close' })
    expect(told).toEqual([])
  })

  test('leaves the processor to the other threads', async () => {
    const threads = (): readonly string[] => readdirSync('/proc/self/task')
    const before = new Set(threads())
    const own = getPriority(process.pid)
    const thread = await begunThread([])
    const isLow = (id: string): boolean => !before.has(id) && priorityOf(id) === constants.priority.PRIORITY_LOW
    await until(() => threads().some(isLow))
    expect(getPriority(process.pid)).toBe(own)
    await thread.close({ kind: 'close' })
  })
})

/** Returns `null` if the thread has ended. */
const priorityOf = (threadId: string): number | null => {
  try {
    return getPriority(Number(threadId))
  } catch {
    return null
  }
}

import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import type { NewEvent } from '../../../src/domain/events.ts'
import { ReadingRun } from '../../../src/domain/reading/recorded-run.ts'
import type { AppendResult, EventLog } from '../../../src/log/event-log.ts'
import type { CommitVerdict } from '../../../src/log/sqlite/sqlite-commits.ts'
import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import { caughtUp, collect } from '../../support/logs/collector.ts'
import { columnsOf } from '../../support/logs/columns-of.ts'
import { appendPlainRow } from '../../support/logs/plain-rows.ts'
import { keySuspended, reading, startMs } from '../../support/logs/sample-events.ts'
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary-folder.ts'
import { commitsHere } from './commits-here.ts'

let folder: TemporaryFolder
let log: EventLog
/** One function for each waiting commit group, the oldest group first. A call lets the group commit. */
let handedOver: (() => void)[]
let faults: ((database: Database) => void)[]

beforeEach(() => {
  folder = temporaryFolder()
  handedOver = []
  faults = []
  log = openSqliteLog({
    dataDir: folder.path,
    commits: (path) => {
      const commits = commitsHere((database) => faults.shift()?.(database))(path)
      return {
        ...commits,
        commit: (group) => {
          const { promise, resolve } = Promise.withResolvers<CommitVerdict>()
          handedOver.push(() => resolve(commits.commit(group)))
          return promise
        },
      }
    },
  })
})

afterEach(async () => {
  const closed = log.close()
  await commitAll()
  await closed
  folder.remove()
})

const commitNext = async (): Promise<void> => {
  handedOver.shift()?.()
  await turn()
}

const commitAll = async (): Promise<void> => {
  while (handedOver.length > 0) await commitNext()
}

/** `null` means that the append has no answer yet. */
type Told = { outcome: AppendResult['outcome'] | 'not_written' | null; revision: number | null }

/** Appends in a turn of its own, so that the append gets a group of its own. */
const append = async (stream: string, expected: 'none' | number, event: NewEvent): Promise<Told> => {
  const told: Told = { outcome: null, revision: null }
  log.append(stream, expected, [event]).then(
    (result) => {
      told.outcome = result.outcome
      if (result.outcome !== 'conflict') told.revision = result.events[0]?.revision ?? null
    },
    () => {
      told.outcome = 'not_written'
    },
  )
  await turn()
  await turn()
  return told
}

const noRoom = (database: Database): void => {
  database.run('PRAGMA max_page_count = 1')
  database.run('INSERT INTO streams (id, name) VALUES (1000, hex(zeroblob(100000)))')
}
const roomAgain = (database: Database): void => {
  database.run('PRAGMA max_page_count = 100000')
}

test('a group is sent while the group before it is written', async () => {
  const first = await append('key-one', 'none', keySuspended())
  const second = await append('key-one', 0, keySuspended())
  expect(handedOver).toHaveLength(2)
  expect([first.outcome, second.outcome]).toEqual([null, null])
  await commitNext()
  expect([first.outcome, second.outcome]).toEqual(['written', null])
  await commitNext()
  expect(second).toEqual({ outcome: 'written', revision: 1 })
})

test('a third group waits until the first is written', async () => {
  const told = [await append('key-one', 'none', keySuspended()), await append('key-two', 'none', keySuspended())]
  told.push(await append('key-three', 'none', keySuspended()), await append('key-four', 'none', keySuspended()))
  expect(handedOver).toHaveLength(2)
  await commitNext()
  expect(handedOver).toHaveLength(2)
  await commitAll()
  expect(told.map(({ outcome }) => outcome)).toEqual(['written', 'written', 'written', 'written'])
})

test('the group behind a failed group is judged again', async () => {
  const follower = collect(log, { after: null })
  await follower.until(caughtUp)
  faults = [noRoom, roomAgain]
  const lost = await append('key-one', 'none', keySuspended())
  const upon = await append('key-one', 0, keySuspended())
  const later = await append('key-two', 'none', keySuspended())
  await commitAll()
  expect(lost.outcome).toBe('not_written')
  expect(upon.outcome).toBe('conflict')
  expect(later).toEqual({ outcome: 'written', revision: 0 })
  expect(follower.events).toEqual([...(await log.readAll({ limit: 10 }))])
  expect(follower.events.map(({ stream, position }) => [stream, position])).toEqual([['key-two', 1]])
})

test('after a failed group, older groups go before new ones', async () => {
  const follower = collect(log, { after: null })
  await follower.until(caughtUp)
  faults = [noRoom, roomAgain]
  await append('key-one', 'none', keySuspended())
  const underWay = await append('key-two', 'none', keySuspended())
  const waiting = await append('key-three', 'none', keySuspended())
  await commitAll()
  expect([underWay.outcome, waiting.outcome]).toEqual(['written', 'written'])
  expect(follower.events.map(({ stream, position }) => [stream, position])).toEqual([
    ['key-two', 1],
    ['key-three', 2],
  ])
})

test('after rows of another program, older groups go before new ones', async () => {
  const follower = collect(log, { after: null })
  await follower.until(caughtUp)
  const told = [await append('key-one', 'none', keySuspended()), await append('key-two', 'none', keySuspended())]
  told.push(await append('key-three', 'none', keySuspended()))
  const other = new Database(join(folder.path, 'log.db'))
  appendPlainRow(other, 'key-other', { count: 1, recordedAt: 1, body: '[]' })
  // The row above takes position 1, so the commit of the first group fails. The positions of the later groups are then wrong,
  // so these groups may be written only with new positions.
  await commitNext()
  await commitNext()
  await commitNext()
  other.run('BEGIN IMMEDIATE')
  await commitNext()
  other.run('ROLLBACK')
  other.close()
  await commitAll()
  const written = told.filter(({ outcome }) => outcome === 'written').length
  expect(told.map(({ outcome }) => outcome)).not.toContain('already_written')
  expect(follower.events.map(({ position }) => position)).toEqual(Array.from({ length: written }, (_, at) => at + 2))
  const [, two] = told
  expect(await log.read('key-two', { limit: 5 })).toHaveLength(two?.outcome === 'written' ? 1 : 0)
})

test('"already written" is answered only when the event is durable', async () => {
  const event = keySuspended()
  const first = await append('key-one', 'none', event)
  const again = await append('key-one', 'none', event)
  expect([first.outcome, again.outcome]).toEqual([null, null])
  await commitNext()
  expect([first.outcome, again.outcome]).toEqual(['written', 'already_written'])
})

test('a repeated run under way is answered "already written" too', async () => {
  const { data } = reading('readings-one')
  const batch = columnsOf([data, { ...data, value: 2 }])
  const requests = [data, batch].map((readings) => {
    return { requestId: crypto.randomUUID(), readings, idempotency: null }
  })
  const run = new ReadingRun('one', startMs, requests)
  const first = log.append('readings-one', 'none', run)
  await turn()
  const again = log.append('readings-one', 'none', run)
  await turn()
  await commitAll()
  expect((await first).outcome).toBe('written')
  const ids = run.events().map(({ id }) => expect.objectContaining({ id }))
  expect(await again).toEqual({ outcome: 'already_written', events: ids })
})

test('a repeated append is written itself when the first one fails', async () => {
  const event = keySuspended()
  faults = [noRoom, roomAgain]
  const first = await append('key-one', 'none', event)
  const again = await append('key-one', 'none', event)
  await commitAll()
  expect([first.outcome, again.outcome]).toEqual(['not_written', 'written'])
  expect(await log.read('key-one', { limit: 5 })).toHaveLength(1)
})

test('a group that cannot be judged fails after the group under way', async () => {
  const other = new Database(join(folder.path, 'log.db'))
  const underWay = await append('key-one', 'none', keySuspended())
  // Without this table, the log cannot look up the last revision of the second stream.
  other.run('ALTER TABLE streams RENAME TO gone')
  const unjudged = await append('key-two', 'none', keySuspended())
  other.run('ALTER TABLE gone RENAME TO streams')
  other.close()
  expect([underWay.outcome, unjudged.outcome]).toEqual([null, null])
  const closed = log.close()
  await commitAll()
  await closed
  expect([underWay.outcome, unjudged.outcome]).toEqual(['written', 'not_written'])
})

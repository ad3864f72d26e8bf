import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { appendReadingsMax } from '../../../src/actors/key/key-actor.ts'
import { type EventLog, Outage } from '../../../src/log/event-log.ts'
import {
  logQueueBytesMax,
  logQueueChangesBytesMax,
  logQueueChangesMax,
  logQueueReadingsMax,
} from '../../../src/log/queue-room.ts'
import { trimEventsMax } from '../../../src/log/sqlite/sqlite-commits.ts'
import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import { storeWalBytesMax } from '../../../src/log/sqlite/wal-copying.ts'
import { caughtUp, collect } from '../../support/logs/collector.ts'
import { appendPlainRow } from '../../support/logs/plain-rows.ts'
import { keySuspended, keySuspensions, reading, readingsRefused } from '../../support/logs/sample-events.ts'
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary-folder.ts'
import { commitsHere, failedFsync, outOfSpace } from './commits-here.ts'

// The default timeout of 5 s is too short on a busy CPU.
setDefaultTimeout(600_000)

let folder: TemporaryFolder
let log: EventLog
/** Each entry runs at one coming commit, and can make it fail. The first entry is for the next commit. */
let faults: ((database: Database) => void)[]
let commits: number

beforeEach(() => {
  folder = temporaryFolder()
  faults = []
  commits = 0
  log = openSqliteLog({
    dataDir: folder.path,
    commits: commitsHere((database) => {
      commits += 1
      faults.shift()?.(database)
    }),
  })
})
afterEach(async () => {
  await log.close()
  folder.remove()
})

const failureOf = (answer: Promise<unknown>): Promise<unknown> =>
  answer.then(
    (result) => result,
    (cause: unknown) => cause,
  )

describe('group commit', () => {
  test('writes all appends of one turn in one commit', async () => {
    const appends = Array.from({ length: 500 }, (_, index) => log.append(`key-${index}`, 'none', [keySuspended()]))
    const results = await Promise.all(appends)
    expect(results.every(({ outcome }) => outcome === 'written')).toBe(true)
    expect(commits).toBe(1)
  })

  test('writes appends of several callbacks of a turn in one commit', async () => {
    const answered = Promise.withResolvers<void>()
    const appends = Array.from({ length: 50 }, (_, index) =>
      answered.promise.then(() => log.append(`key-${index}`, 'none', [keySuspended()])),
    )
    answered.resolve()
    await Promise.all(appends)
    expect(commits).toBe(1)
  })

  test('judges each append of a group by those before it', async () => {
    const [first, second] = [keySuspended(), keySuspended()]
    const results = await Promise.all([
      log.append('key-one', 'none', [first]),
      log.append('key-one', 0, [second]),
      log.append('key-one', 0, [keySuspended()]),
      log.append('key-one', 'none', [first, second]),
      log.append('key-one', 1, [keySuspended()]),
    ])
    expect(results.map(({ outcome }) => outcome)).toEqual([
      'written',
      'written',
      'conflict',
      'already_written',
      'written',
    ])
    expect(commits).toBe(1)
  })
})

describe('the queue of the log', () => {
  test('refuses one reading past its limit as overloaded', async () => {
    const appends = fillWithReadings()
    const failure = await failureOf(log.append('readings-one', 'none', [reading('readings-one')]))
    expect(failure).toBeInstanceOf(Outage)
    expect(failure).toMatchObject({ outcome: 'not_written', reason: 'overloaded' })
    for (const result of await Promise.all(appends)) expect(result).toMatchObject({ outcome: 'written' })
    expect(await log.append('readings-one', 'none', [reading('readings-one')])).toMatchObject({ outcome: 'written' })
  })

  test('has no extra room for summaries of refused readings', async () => {
    const appends = fillWithReadings()
    const failure = await failureOf(log.append('refusals-one', 'none', [readingsRefused()]))
    expect(failure).toMatchObject({ outcome: 'not_written', reason: 'overloaded' })
    await Promise.all(appends)
    expect(await log.append('refusals-one', 'none', [readingsRefused()])).toMatchObject({ outcome: 'written' })
  })

  test('has extra, bounded room for events that are no readings', async () => {
    const appends: Promise<unknown>[] = fillWithReadings()
    const changes = 1_024
    for (let key = 0; key < logQueueChangesMax / changes; key++) {
      appends.push(log.append(`key-${key}`, 'none', keySuspensions(changes)))
    }
    const failure = await failureOf(log.append('key-one', 'none', [keySuspended()]))
    expect(failure).toMatchObject({ outcome: 'not_written', reason: 'overloaded' })
    for (const result of await Promise.all(appends)) expect(result).toMatchObject({ outcome: 'written' })
    expect(await log.append('key-one', 'none', [keySuspended()])).toMatchObject({ outcome: 'written' })
  })

  test('refuses bytes past its limit', async () => {
    const half = 'x'.repeat((logQueueBytesMax + logQueueChangesBytesMax) / 2 - 1_000)
    const fits = [log.append('key-1', 'none', [keySuspended(half)]), log.append('key-2', 'none', [keySuspended(half)])]
    const failure = await failureOf(log.append('key-3', 'none', [keySuspended('x'.repeat(2_000))]))
    expect(failure).toMatchObject({ name: 'Outage', outcome: 'not_written', reason: 'overloaded' })
    for (const result of await Promise.all(fits)) expect(result).toMatchObject({ outcome: 'written' })
  })

  const fillWithReadings = (): Promise<unknown>[] =>
    Array.from({ length: logQueueReadingsMax / appendReadingsMax }, (_, stream) => {
      const readings = Array.from({ length: appendReadingsMax }, () => reading(`readings-${stream}`))
      return log.append(`readings-${stream}`, 'none', readings)
    })
})

/** After a failed fsync, SQLite has rolled back, but the commit may still be on disk. */
describe('a commit whose fsync fails', () => {
  test('is repeated before its appends are answered', async () => {
    await log.append('key-one', 'none', keySuspensions(1))
    const follower = collect(log, { after: null })
    await follower.until(caughtUp)
    faults = [failedFsync]
    const results = await Promise.all([
      log.append('key-one', 0, [keySuspended()]),
      log.append('key-two', 'none', keySuspensions(2)),
      log.append('key-two', 'none', [keySuspended()]),
    ])
    expect(results.map(({ outcome }) => outcome)).toEqual(['written', 'written', 'conflict'])
    expect(commits).toBe(3)
    expect(log.health()).toEqual({ ok: true })
    expect(follower.events.map(({ stream, revision }) => [stream, revision])).toEqual([
      ['key-one', 0],
      ['key-one', 1],
      ['key-two', 0],
      ['key-two', 1],
    ])
    expect(follower.events).toEqual([...(await log.readAll({ limit: 10 }))])
  })

  test('and fails again stops the log with unknown outcome', async () => {
    await log.append('key-one', 'none', keySuspensions(1))
    const follower = collect(log, { after: null })
    await follower.until(caughtUp)
    faults = [failedFsync, failedFsync]
    const answers = [
      log.append('key-one', 0, [keySuspended()]),
      log.append('key-one', 7, [keySuspended()]),
      log.append('key-two', 'none', [keySuspended()]),
    ]
    for (const failure of await Promise.all(answers.map(failureOf))) {
      expect(failure).toBeInstanceOf(Outage)
      expect(failure).toMatchObject({ outcome: 'unknown', reason: 'unavailable' })
    }
    expect(log.health()).toEqual({ ok: false, why: expect.stringContaining('disk I/O error') })
    expect(await failureOf(log.append('key-two', 'none', [keySuspended()]))).toMatchObject({
      outcome: 'not_written',
      reason: 'unavailable',
    })
    expect(commits).toBe(3)
    expect(follower.events).toHaveLength(1)
    expect(await log.read('key-one', { limit: 5 })).toHaveLength(1)
  })

  test('but has visible rows stops the log', async () => {
    faults = [
      (database) => {
        database.run('COMMIT')
        throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_FSYNC' })
      },
    ]
    const failure = await failureOf(log.append('key-one', 'none', [keySuspended()]))
    expect(failure).toMatchObject({ name: 'Outage', outcome: 'unknown' })
    expect(log.health()).toMatchObject({ ok: false })
  })
})

describe('a truncation', () => {
  const fill = async (count: number): Promise<void> => {
    const revisions = Array.from({ length: count }, (_, revision) => revision)
    await Promise.all(
      revisions.map((revision) =>
        log.append('readings-one', revision === 0 ? 'none' : revision - 1, [reading('readings-one')]),
      ),
    )
    commits = 0
  }
  const firstRevision = async () => (await log.read('readings-one', { limit: 1 }))[0]?.revision
  const rows = (): number => {
    const plain = new Database(join(folder.path, 'log.db'), { readonly: true })
    const [[count] = []] = plain.query('SELECT count(*) FROM events').values()
    plain.close()
    return Number(count)
  }

  test('deletes a bounded number of events in each commit', async () => {
    await fill(2 * trimEventsMax + 2)
    const left: number[] = []
    faults = Array.from({ length: 4 }, () => (database: Database) => {
      left.push(Number(database.query('SELECT count(*) FROM events').values()[0]?.[0]))
    })
    await log.truncate('readings-one', 2 * trimEventsMax + 1)
    expect(left).toEqual([2 * trimEventsMax + 2, trimEventsMax + 2, 2, 1])
    expect(commits).toBe(4)
  })

  test('whose fsync fails is repeated, keptFrom and rows alike', async () => {
    await fill(3)
    faults = [failedFsync, () => {}, failedFsync]
    await log.truncate('readings-one', 2)
    expect(commits).toBe(4)
    expect(rows()).toBe(1)
    expect(await firstRevision()).toBe(2)
    expect(log.health()).toEqual({ ok: true })
  })

  test('whose fsync fails again is unknown, and stops the log', async () => {
    await fill(3)
    faults = [failedFsync, failedFsync]
    expect(await failureOf(log.truncate('readings-one', 2))).toMatchObject({ name: 'Outage', outcome: 'unknown' })
    expect(log.health()).toMatchObject({ ok: false })
    expect(await failureOf(log.truncate('readings-one', 2))).toMatchObject({ name: 'Outage', outcome: 'not_written' })
    expect(await firstRevision()).toBe(0)
  })

  test('that was interrupted hides its rows, and the next one finishes it', async () => {
    await fill(3)
    faults = [() => {}, outOfSpace]
    expect(await failureOf(log.truncate('readings-one', 2))).toMatchObject({ name: 'Outage', outcome: 'not_written' })
    expect(rows()).toBe(3)
    expect(await firstRevision()).toBe(2)

    await log.close()
    log = openSqliteLog({ dataDir: folder.path })
    expect(await firstRevision()).toBe(2)
    expect(await log.readAll({ limit: 5 })).toMatchObject([{ revision: 2 }])
    await log.truncate('readings-one', 2)
    expect(rows()).toBe(1)
  })

  test('leaves rows to the next one when the log is closed', async () => {
    await fill(3 * trimEventsMax + 1)
    let closed = Promise.resolve()
    faults = [
      () => {},
      () => {
        closed = log.close()
      },
    ]
    await log.truncate('readings-one', 3 * trimEventsMax)
    await closed
    expect(commits).toBe(2)
    log = openSqliteLog({ dataDir: folder.path })
    expect(await firstRevision()).toBe(3 * trimEventsMax)
    await log.truncate('readings-one', 3 * trimEventsMax)
    expect(rows()).toBe(1)
  })
})

describe('a file that cannot be read', () => {
  /**
   * Runs the statement on another connection. Without the table `streams`, the log can append only to streams in its memory.
   */
  const otherwise = (statement: string): void => {
    const other = new Database(join(folder.path, 'log.db'))
    other.run(statement)
    other.close()
  }
  const failReads = (): void => otherwise('ALTER TABLE streams RENAME TO gone')
  const mendReads = (): void => otherwise('ALTER TABLE gone RENAME TO streams')

  test('is an outage for reads, subscriptions and appends', async () => {
    await log.append('key-one', 'none', [keySuspended()])
    failReads()
    const unread = { name: 'Outage', outcome: 'not_written', reason: 'unavailable' }
    expect(await failureOf(log.read('key-one', { limit: 1 }))).toMatchObject(unread)
    expect(await failureOf(log.append('key-two', 'none', [keySuspended()]))).toMatchObject(unread)
    const dropped = await new Promise((resolve) => {
      log.subscribe({ after: null }, { onEvents: () => {}, onDropped: resolve })
    })
    expect(dropped).toMatchObject(unread)
    mendReads()
    expect(await log.append('key-two', 'none', [keySuspended()])).toMatchObject({ outcome: 'written' })
  })

  test('inside a group undoes the numbers before it', async () => {
    await log.append('key-one', 'none', [keySuspended()])
    failReads()
    const again = keySuspended()
    await Promise.all([
      failureOf(log.append('key-one', 0, [again])),
      failureOf(log.append('key-two', 'none', [keySuspended()])),
    ])
    mendReads()
    expect(await log.append('key-one', 0, [again])).toMatchObject({
      outcome: 'written',
      events: [{ revision: 1, position: 2 }],
    })
  })

  test('does not hide the unknown outcome of a commit', async () => {
    await log.append('key-one', 'none', [keySuspended()])
    faults = [
      failedFsync,
      (database) => {
        // Reads fail before the log hears that the commit failed. So the log cannot find out whether the commit is on disk.
        queueMicrotask(failReads)
        failedFsync(database)
      },
    ]
    expect(await failureOf(log.append('key-one', 0, [keySuspended()]))).toMatchObject({ outcome: 'unknown' })
    mendReads()
  })
})

describe('a full disk', () => {
  const limitPages = (database: Database, more: number): void => {
    const [[pages] = [0]] = database.query('PRAGMA page_count').values()
    database.run(`PRAGMA max_page_count = ${Number(pages) + more}`)
  }

  test('refuses appends as full and unwritten until there is room', async () => {
    await log.append('key-one', 'none', [keySuspended()])
    faults = [(database) => limitPages(database, 2)]
    await log.append('key-one', 0, [keySuspended()])

    const large = keySuspended('x'.repeat(1_000_000))
    const failures = await Promise.all([
      failureOf(log.append('key-one', 1, [keySuspended()])),
      failureOf(log.append('key-two', 'none', [large])),
    ])
    for (const failure of failures) {
      expect(failure).toBeInstanceOf(Outage)
      expect(failure).toMatchObject({ outcome: 'not_written', reason: 'full' })
    }
    expect(log.health()).toEqual({ ok: true })
    expect(await log.read('key-two', { limit: 1 })).toEqual([])

    // The disk has room again. The append gets the revision of the append that failed, so no gap is left.
    faults = [(database) => limitPages(database, 10_000)]
    expect(await log.append('key-one', 1, [keySuspended()])).toMatchObject({ outcome: 'written' })
    expect(await log.append('key-two', 'none', [large])).toMatchObject({ outcome: 'written' })
    const all = await log.readAll({ limit: 10 })
    expect(all.map(({ position }) => position)).toEqual([1, 2, 3, 4])
  })

  test('at COMMIT means unwritten, without another try', async () => {
    faults = [
      (database) => {
        limitPages(database, 0)
        database.run('INSERT INTO streams (id, name) VALUES (1000, hex(zeroblob(100000)))')
      },
    ]
    const failure = await failureOf(log.append('key-one', 'none', [keySuspended()]))
    expect(failure).toMatchObject({ name: 'Outage', outcome: 'not_written', reason: 'full' })
    expect(commits).toBe(1)
    expect(log.health()).toEqual({ ok: true })
    expect(await log.readAll({ limit: 1 })).toEqual([])
  })
})

describe('a group that has no room', () => {
  test('refuses its readings and writes its other events', async () => {
    const revoked = keySuspended()
    faults = [outOfSpace, () => {}]
    const [first, change, second] = await Promise.all([
      failureOf(log.append('readings-one', 'none', [reading('readings-one')])),
      log.append('key-one', 'none', [revoked]),
      failureOf(log.append('readings-two', 'none', [reading('readings-two')])),
    ])
    for (const refused of [first, second]) expect(refused).toMatchObject({ outcome: 'not_written', reason: 'full' })
    expect(change).toMatchObject({ outcome: 'written' })
    expect((await log.readAll({ limit: 10 })).map(({ id, position }) => [id, position])).toEqual([[revoked.id, 1]])
    expect(await log.append('readings-one', 'none', [reading('readings-one')])).toMatchObject({ outcome: 'written' })
  })

  test('is refused whole when nothing else fits', async () => {
    faults = [outOfSpace, outOfSpace]
    const failures = await Promise.all([
      failureOf(log.append('readings-one', 'none', [reading('readings-one')])),
      failureOf(log.append('key-one', 'none', [keySuspended()])),
    ])
    expect(failures).toMatchObject([{ reason: 'full' }, { reason: 'full' }])
    expect(commits).toBe(2)
    expect(await log.readAll({ limit: 10 })).toEqual([])
  })

  test('keeps the order of the groups behind it', async () => {
    await log.append('key-one', 'none', [keySuspended()])
    faults = [outOfSpace]
    const first = [
      failureOf(log.append('readings-one', 'none', [reading('readings-one')])),
      log.append('key-one', 0, [keySuspended()]),
    ]
    await Promise.resolve()
    const behind = [log.append('key-one', 1, [keySuspended()]), log.append('key-two', 'none', [keySuspended()])]
    await Promise.resolve()
    const last = log.append('key-one', 2, [keySuspended()])
    const results = await Promise.all([...first, ...behind, last])
    expect(results.slice(1).map((result) => Reflect.get(Object(result), 'outcome'))).toEqual(Array(4).fill('written'))
    const key = await log.read('key-one', { limit: 10 })
    expect(key.map(({ revision }) => revision)).toEqual([0, 1, 2, 3])
  })
})

describe('a group that was undone', () => {
  test('leaves no trace of its new streams', async () => {
    const lost = keySuspended()
    faults = [
      (database) => {
        database.run('PRAGMA max_page_count = 1')
        database.run('INSERT INTO streams (id, name) VALUES (1000, hex(zeroblob(100000)))')
      },
      (database) => database.run('PRAGMA max_page_count = 10000'),
    ]
    // The first append begins a stream. For the second append, the log must look up that stream before it is committed.
    const failures = await Promise.all([
      failureOf(log.append('key-lost', 'none', [lost])),
      failureOf(log.append('key-lost', 'none', [lost])),
    ])
    expect(failures).toMatchObject([{ reason: 'full' }, { reason: 'full' }])
    const result = await log.append('key-kept', 'none', [keySuspended()])
    expect(await log.readAll({ limit: 10 })).toEqual('events' in result ? [...result.events] : [])
    expect(await log.read('key-lost', { limit: 1 })).toEqual([])
    expect(await log.append('key-lost', 'none', [lost])).toMatchObject({ outcome: 'written' })
  })
})

describe('another program at the file', () => {
  test('with the write lock makes appends fail as unwritten', async () => {
    const other = new Database(join(folder.path, 'log.db'))
    other.run('BEGIN IMMEDIATE')
    expect(await failureOf(log.append('key-one', 'none', [keySuspended()]))).toMatchObject({
      outcome: 'not_written',
      reason: 'unavailable',
    })
    other.run('ROLLBACK')
    other.close()
    expect(await log.append('key-one', 'none', [keySuspended()])).toMatchObject({ outcome: 'written' })
  })

  test('that appends rows causes a conflict, then appends continue', async () => {
    await log.append('key-one', 'none', [keySuspended()])
    const other = new Database(join(folder.path, 'log.db'))
    appendPlainRow(other, 'key-one', {
      count: 1,
      recordedAt: 1,
      body: JSON.stringify([{ ...keySuspended(), schemaVersion: 1 }]),
    })
    other.close()
    expect(await log.append('key-one', 0, [keySuspended()])).toEqual({ outcome: 'conflict', currentRevision: 1 })
    expect(await log.append('key-one', 1, [keySuspended()])).toMatchObject({
      outcome: 'written',
      events: [{ revision: 2, position: 3 }],
    })
  })
})

describe('the write-ahead log', () => {
  const walBytes = (): number => statSync(join(folder.path, 'log.db-wal')).size
  const fill = async (stream: string, bytes: number): Promise<void> => {
    const text = 'x'.repeat(256 * 1024)
    for (let revision = 0; revision * text.length < bytes; revision++) {
      await log.append(stream, revision === 0 ? 'none' : revision - 1, [keySuspended(text)])
    }
  }

  test('stays near its limit', async () => {
    await fill('key-one', 4 * storeWalBytesMax)
    expect(walBytes()).toBeLessThan(1.2 * storeWalBytesMax)
  })

  test('waits for a reader of an old state, and then starts over', async () => {
    await log.append('key-one', 'none', [keySuspended()])
    const reader = new Database(join(folder.path, 'log.db'), { readonly: true })
    reader.run('BEGIN')
    reader.query('SELECT count(*) FROM events').values()
    await fill('key-two', 2 * storeWalBytesMax)
    expect(walBytes()).toBeGreaterThan(1.5 * storeWalBytesMax)
    expect([log.health(), log.troubles?.()]).toEqual([{ ok: true }, []])
    await fill('key-five', 2 * storeWalBytesMax)
    const why = 'another program has read it for long: more than 64 MiB wait in log.db-wal'
    expect([log.health(), log.troubles?.()]).toEqual([{ ok: true }, [{ kind: 'wal_held', why }]])
    reader.close()
    await fill('key-three', storeWalBytesMax)
    expect(log.troubles?.()).toEqual([])
    const before = walBytes()
    await fill('key-four', 2 * storeWalBytesMax)
    expect(walBytes()).toBe(before)
  })
})

import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import {
  copyFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { heartbeatMs } from '../../../src/limits.ts'
import { holdDataFolder } from '../../../src/log/data-folder.ts'
import { Outage } from '../../../src/log/event-log.ts'
import { type Disk, FolderWatch, walMagicBytes } from '../../../src/log/sqlite/folder-watch.ts'
import { openForReading, openForWriting } from '../../../src/log/sqlite/sqlite-file.ts'
import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'

import { keySuspended } from '../../support/logs/sample-events.ts'
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary-folder.ts'
import { drivenSchedule } from '../../support/time/driven-schedule.ts'
import { until } from '../../support/time/until.ts'
import { commitsHere } from './commits-here.ts'

setDefaultTimeout(600_000)

let folder: TemporaryFolder
const open: { close(): void }[] = []
beforeEach(() => {
  folder = temporaryFolder()
})
afterEach(() => {
  for (const each of open.splice(0).toReversed()) each.close()
  folder.remove()
})
const path = (name: string): string => join(folder.path, name)

const watched = (disk?: Disk, wrap = (database: Database): Database => database) => {
  const held = holdDataFolder(folder.path)
  const database = openForReading(held.logPath)
  const writer = openForWriting(held.logPath)
  const told: string[] = []
  const parts = {
    folder: held,
    database: wrap(database),
    later: drivenSchedule().after,
    onLost: (why: string) => told.push(why),
  }
  const watch = new FolderWatch(disk === undefined ? parts : { ...parts, disk })
  open.push({ close: held.release }, database, writer)
  let streams = 0
  const write = (): void => {
    streams += 1
    writer.run('INSERT INTO streams (id, name) VALUES (?, ?)', [streams, `${streams}${'x'.repeat(5_000)}`])
  }
  for (let count = 0; count < 10; count += 1) write()
  return { watch, told, write, writer }
}

const dropTriggers = (database: Database): void => {
  const found = database.query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all()
  for (const { name } of found) database.run(`DROP TRIGGER "${name}"`)
}

const replace = (name: string): void => {
  copyFileSync(path(name), path('copy'))
  renameSync(path('copy'), path(name))
}

const damages: readonly (readonly [title: string, damage: () => void, says: RegExp])[] = [
  ['a deleted folder', () => rmSync(folder.path, { recursive: true }), /log\.db" was deleted or moved/],
  ['a moved folder', () => renameSync(folder.path, `${folder.path}-moved`), /log\.db" was deleted or moved/],
  ['a deleted log', () => rmSync(path('log.db')), /log\.db" was deleted or moved/],
  ['a replaced log', () => replace('log.db'), /log\.db" was replaced by another file/],
  ['a truncated log', () => truncateSync(path('log.db'), 4_096), /log\.db" was truncated: it has 4096 bytes/],
  ['an emptied log', () => truncateSync(path('log.db'), 0), /log\.db" was truncated: it has 0 bytes/],
  [
    'a deleted write-ahead log',
    () => rmSync(path('log.db-wal')),
    /log\.db-wal" was deleted or moved.* nothing is lost/,
  ],
  ['a replaced write-ahead log', () => replace('log.db-wal'), /log\.db-wal" was replaced .* nothing is lost/],
  ['a truncated write-ahead log', () => truncateSync(path('log.db-wal'), 9_000), /log\.db-wal" was truncated: it has/],
  ['a deleted shared index', () => rmSync(path('log.db-shm')), /log\.db-shm" was deleted or moved.* Nothing is lost/],
  ['a deleted lock', () => rmSync(path('log.lock')), /log\.lock" was deleted or moved.* Nothing is lost/],
  ['a replaced lock', () => replace('log.lock'), /log\.lock" was replaced by another file/],
]

describe('FolderWatch', () => {
  test.each(damages)('tells %s once, with what to do', async (_, damage, says) => {
    const { watch, told } = watched()
    await watch.look()
    expect(told).toEqual([])
    damage()
    await watch.look()
    await watch.look()
    expect(told).toEqual([expect.stringMatching(says)])
    expect(watch.lost).toBe(told[0] ?? '')
  })

  test('tells a write-ahead log that was emptied and has grown again', async () => {
    const { watch, told, write } = watched()
    truncateSync(path('log.db-wal'), 0)
    write()
    expect(statSync(path('log.db-wal')).size).toBeGreaterThan(9_000)
    await watch.look()
    expect(told).toEqual([expect.stringContaining('its beginning is missing')])
  })

  test('copies a deleted write-ahead log into the log', async () => {
    const { watch } = watched()
    rmSync(path('log.db-wal'))
    await watch.look()
    writeFileSync(path('copy.db'), readFileSync(path('log.db')))
    using copy = new Database(path('copy.db'))
    expect(copy.query('SELECT count(*) FROM streams').values()).toEqual([[10]])
  })

  test('does not copy a truncated write-ahead log into the log', async () => {
    const { watch, write } = watched()
    truncateSync(path('log.db-wal'), 0)
    write()
    const before = readFileSync(path('log.db'))
    await watch.look()
    expect(readFileSync(path('log.db')).equals(before)).toBe(true)
  })

  test('accepts growth, emptying the write-ahead log, VACUUM and a backup', async () => {
    const { watch, write, writer } = watched()
    using other = new Database(path('log.db'))
    other.run('PRAGMA busy_timeout = 5000')
    const steps = [
      () => write(),
      () => other.run('PRAGMA wal_checkpoint(TRUNCATE)'),
      () => write(),
      () => writer.run('PRAGMA wal_checkpoint(PASSIVE)'),
      () => write(),
      () => other.run(`VACUUM INTO '${path('backup.db')}'`),
      () => dropTriggers(other),
      () => other.run('DELETE FROM streams'),
      () => other.run('VACUUM'),
      () => other.run('PRAGMA wal_checkpoint(TRUNCATE)'),
      () => write(),
    ]
    for (const step of steps) {
      step()
      await watch.look()
      expect([String(step), watch.lost]).toEqual([String(step), null])
    }
  })

  test('tells a truncated log whose pages SQLite cannot count', async () => {
    for (const bytes of [0, 100, 2_048, 9_000]) {
      await openSqliteLog({ dataDir: folder.path }).close()
      const held = holdDataFolder(folder.path)
      const database = openForReading(held.logPath)
      const told: string[] = []
      const watch = new FolderWatch({
        folder: held,
        database,
        later: drivenSchedule().after,
        onLost: (why) => told.push(why),
      })
      const before = readFileSync(held.logPath)
      truncateSync(held.logPath, bytes)
      await watch.look()
      expect(told).toEqual([expect.stringContaining(`was truncated: it has ${bytes} bytes`)])
      writeFileSync(held.logPath, before)
      database.close(true)
      held.release()
    }
  })

  test('does not judge a smaller log while the disk fails', async () => {
    let isBroken = false
    const failing = (database: Database): Database =>
      new Proxy(database, {
        get: (target, name) => {
          const value = Reflect.get(target, name)
          if (typeof value !== 'function') return value
          return (...words: readonly unknown[]) => {
            if (isBroken && words[0] === 'PRAGMA page_count') {
              throw Object.assign(new Error('disk I/O error'), { name: 'SQLiteError', code: 'SQLITE_IOERR_READ' })
            }
            return Reflect.apply(value, target, words)
          }
        },
      })
    const { watch, writer } = watched(undefined, failing)
    writer.run('PRAGMA wal_checkpoint(TRUNCATE)')
    await watch.look()
    const { size } = statSync(path('log.db'))
    dropTriggers(writer)
    writer.run('DELETE FROM streams')
    writer.run('VACUUM')
    writer.run('PRAGMA wal_checkpoint(TRUNCATE)')
    expect(statSync(path('log.db')).size).toBeLessThan(size)
    isBroken = true
    await watch.look()
    expect(watch.lost).toBeNull()
    isBroken = false
    await watch.look()
    expect(watch.lost).toBeNull()
    truncateSync(path('log.db'), 2_048)
    await watch.look()
    expect(watch.lost).toContain('was truncated')
  })

  test.each(['EIO', 'EACCES', 'ESTALE', 'ETIMEDOUT'])(
    'takes a look that fails with %s for no deletion',
    async (code) => {
      let isBroken = true
      const fail = (): never => {
        throw Object.assign(new Error(code), { code, syscall: 'stat' })
      }
      const factsOf = async (file: string) => (isBroken ? fail() : stat(file))
      const { watch } = watched({ factsOf, headOf: async () => fail() })
      await watch.look()
      expect(watch.lost).toBeNull()
      rmSync(path('log.db'))
      isBroken = false
      await watch.look()
      expect(watch.lost).toContain('was deleted or moved')
    },
  )

  test('reads the head of a write-ahead log again only after a change', async () => {
    let heads = 0
    const headOf = async (file: string) => {
      heads += 1
      return new Uint8Array(await Bun.file(file).slice(0, walMagicBytes).arrayBuffer())
    }
    const { watch } = watched({ factsOf: stat, headOf })
    await watch.look()
    await watch.look()
    expect(heads).toBe(1)
    const later = new Date(Date.now() + 10_000)
    utimesSync(path('log.db-wal'), later, later)
    await watch.look()
    expect(heads).toBe(2)
  })

  test('has one look under way while the disk hangs', async () => {
    const answer = Promise.withResolvers<never>()
    let asked = 0
    const factsOf = async () => {
      asked += 1
      return answer.promise
    }
    const { watch } = watched({ factsOf, headOf: async () => new Uint8Array() })
    const looks = [watch.look(), watch.look(), watch.look()]
    expect([new Set(looks).size, asked]).toEqual([1, 4])
    answer.reject(Object.assign(new Error('EIO'), { code: 'EIO', syscall: 'stat' }))
    await Promise.all(looks)
    expect(watch.lost).toBeNull()
  })
})

describe('a log whose file was deleted', () => {
  const deleted = async () => {
    const schedule = drivenSchedule()
    const told: string[] = []
    const log = openSqliteLog({ dataDir: folder.path, later: schedule.after, onLost: (why) => told.push(why) })
    await log.append('key-one', 'none', [keySuspended()])
    rmSync(folder.path, { recursive: true })
    return { schedule, told, log }
  }

  test('refuses everything after one heartbeat', async () => {
    const { schedule, told, log } = await deleted()
    await schedule.advance(heartbeatMs - 1)
    expect(log.health().ok).toBe(true)
    await schedule.advance(1)
    await until(() => told.length > 0)
    expect(log.health()).toEqual({ ok: false, why: told[0] ?? '' })
    for (const refused of [
      log.append('key-two', 'none', [keySuspended()]),
      log.read('key-one', { limit: 1 }),
      log.readAll({ limit: 1 }),
    ]) {
      const cause = await refused.then(
        () => null,
        (thrown: unknown) => thrown,
      )
      expect(cause).toBeInstanceOf(Outage)
      expect(cause).toMatchObject({ outcome: 'not_written', reason: 'unavailable' })
    }
    await log.close()
  })

  test('does not acknowledge an append that was under way', async () => {
    const gate = Promise.withResolvers<void>()
    const schedule = drivenSchedule()
    const told: string[] = []
    const log = openSqliteLog({
      dataDir: folder.path,
      later: schedule.after,
      onLost: (why) => told.push(why),
      commits: (file) => {
        const commits = commitsHere(() => {})(file)
        const commit = commits.commit
        commits.commit = async (group) => {
          const verdict = await commit(group)
          await gate.promise
          return verdict
        }
        return commits
      },
    })
    const answer = log.append('key-one', 'none', [keySuspended()]).catch((cause: unknown) => cause)
    rmSync(folder.path, { recursive: true })
    await schedule.advance(heartbeatMs)
    await until(() => told.length > 0)
    gate.resolve()
    expect(await answer).toMatchObject({ name: 'Outage', outcome: 'unknown', message: told[0] ?? '' })
    await log.close()
  })

  test('is not closed if its write-ahead log was truncated, because that would destroy it', async () => {
    const told: string[] = []
    const later = drivenSchedule().after
    const log = openSqliteLog({ dataDir: folder.path, later, onLost: (why) => told.push(why) })
    await log.append('key-one', 'none', [keySuspended()])
    const before = readFileSync(path('log.db'))
    const { size } = statSync(path('log.db-wal'))
    truncateSync(path('log.db-wal'), 0)
    truncateSync(path('log.db-wal'), size)
    await log.close()
    expect(told).toHaveLength(1)
    expect(readFileSync(path('log.db')).equals(before)).toBe(true)
  })

  test('looks once more when it closes, and leaves the files of another log', async () => {
    const { told, log } = await deleted()
    const other = openSqliteLog({ dataDir: folder.path })
    await other.append('key-two', 'none', [keySuspended()])
    await log.close()
    expect(told).toHaveLength(1)
    for (const name of ['log.db', 'log.db-wal', 'log.db-shm', 'log.lock']) expect(existsSync(path(name))).toBe(true)
    await other.append('key-three', 'none', [keySuspended()])
    await other.close()
    const again = openSqliteLog({ dataDir: folder.path })
    expect(await again.read('key-three', { limit: 1 })).toHaveLength(1)
    await again.close()
  })
})

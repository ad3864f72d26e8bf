import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  DataFolderHeld,
  DataFolderUnwritable,
  NotACellarbookLog,
  UnsupportedLogFormat,
} from '../../../src/log/data-folder.ts'
import { formatVersion } from '../../../src/log/sqlite/schema.ts'
import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import { keySuspended, keySuspensions } from '../../support/logs/sample-events.ts'
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary-folder.ts'
import { commitsHere } from './commits-here.ts'

let folder: TemporaryFolder
beforeEach(() => {
  folder = temporaryFolder()
})
afterEach(() => folder.remove())

const openFault = (dataDir: string): unknown => {
  try {
    openSqliteLog({ dataDir })
  } catch (cause) {
    return cause
  }
  throw new Error(`"${dataDir}" could be opened`)
}
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)

describe('openSqliteLog()', () => {
  test('creates the folder and its files for their owner only', async () => {
    const dataDir = join(folder.path, 'a', 'b')
    const log = openSqliteLog({ dataDir })
    await log.append('key-one', 'none', [keySuspended()])
    expect(modeOf(dataDir)).toBe('700')
    const files = ['log.db', 'log.db-wal', 'log.db-shm', 'log.lock']
    expect(files.map((file) => modeOf(join(dataDir, file)))).toEqual(['600', '600', '600', '600'])
    await log.close()
  })

  test('refuses a folder that this or another process holds', async () => {
    const log = openSqliteLog({ dataDir: folder.path })
    expect(openFault(folder.path)).toBeInstanceOf(DataFolderHeld)
    expect(openInOtherProcess(folder.path)).toBe('DataFolderHeld')
    await log.close()
    expect(openInOtherProcess(folder.path)).toBe('opened')
    await openSqliteLog({ dataDir: folder.path }).close()
  })

  test('names the folder that is held', async () => {
    const log = openSqliteLog({ dataDir: folder.path })
    expect(String(openFault(folder.path))).toContain(`"${folder.path}": another process holds it`)
    await log.close()
  })

  test('lets other programs read while it writes', async () => {
    const log = openSqliteLog({ dataDir: folder.path })
    await log.append('key-one', 'none', keySuspensions(2))
    const auditor = new Database(join(folder.path, 'log.db'), { readonly: true })
    auditor.run('BEGIN')
    expect(auditor.query('SELECT sum(count) FROM events').values()).toEqual([[2]])
    await log.append('key-one', 1, keySuspensions(3))
    expect(auditor.query('SELECT sum(count) FROM events').values()).toEqual([[2]])
    auditor.run('COMMIT')
    expect(auditor.query('SELECT sum(count) FROM events').values()).toEqual([[5]])
    auditor.close()
    await log.close()
  })

  test('refuses a folder that cannot be written, and says where and why', () => {
    const file = join(folder.path, 'file')
    writeFileSync(file, '')
    for (const dataDir of [file, join(file, 'below'), '/proc/cellarbook']) {
      const fault = openFault(dataDir)
      expect(fault).toBeInstanceOf(DataFolderUnwritable)
      expect(String(fault)).toContain(`Cannot write to the data folder "${dataDir}"`)
    }
  })

  test('refuses a folder in which not even the lock can be written', () => {
    // A folder stands where the lock needs its journal, so SQLite cannot write the lock, as on a full disk.
    mkdirSync(join(folder.path, 'log.lock-journal'))
    const fault = openFault(folder.path)
    expect(fault).toBeInstanceOf(DataFolderUnwritable)
    expect(String(fault)).toContain(`Cannot write to the data folder "${folder.path}"`)
  })

  test('refuses a log file that is a folder', () => {
    mkdirSync(join(folder.path, 'log.db'))
    expect(openFault(folder.path)).toBeInstanceOf(DataFolderUnwritable)
  })

  test('refuses a file that is no database, and leaves it unchanged', () => {
    const path = join(folder.path, 'log.db')
    const text = 'something else altogether, '.repeat(200)
    writeFileSync(path, text)
    expect(openFault(folder.path)).toBeInstanceOf(NotACellarbookLog)
    expect(Bun.file(path).text()).resolves.toBe(text)
  })

  const others = [
    { title: 'with tables of its own', setUp: 'CREATE TABLE t (a)' },
    { title: 'that is empty but marked', setUp: 'PRAGMA application_id = 7' },
    { title: 'that is empty but has a version', setUp: 'PRAGMA user_version = 1' },
  ]
  for (const { title, setUp } of others) {
    test(`refuses another program’s database ${title}, and keeps its journal mode`, () => {
      const path = join(folder.path, 'log.db')
      change(path, setUp)
      expect(openFault(folder.path)).toBeInstanceOf(NotACellarbookLog)
      const database = new Database(path)
      expect(database.query('PRAGMA journal_mode').values()).toEqual([['delete']])
      database.close()
    })
  }

  test.each([0, 1, formatVersion - 1, formatVersion + 1])('refuses format %i', async (version) => {
    await openSqliteLog({ dataDir: folder.path }).close()
    const path = join(folder.path, 'log.db')
    change(path, `PRAGMA user_version = ${version}`)
    const fault = openFault(folder.path)
    expect(fault).toBeInstanceOf(UnsupportedLogFormat)
    expect(String(fault)).toContain(`it has format ${version}, and this version supports only format ${formatVersion}`)
    change(path, `PRAGMA user_version = ${formatVersion}`)
    await openSqliteLog({ dataDir: folder.path }).close()
  })

  test('releases the folder when it refuses the file', async () => {
    const path = join(folder.path, 'log.db')
    change(path, 'PRAGMA application_id = 7')
    expect(openFault(folder.path)).toBeInstanceOf(NotACellarbookLog)
    change(path, 'PRAGMA application_id = 0')
    await openSqliteLog({ dataDir: folder.path }).close()
  })

  test('writes with an fsync for each commit', async () => {
    const log = openSqliteLog({
      dataDir: folder.path,
      commits: commitsHere((database) => {
        expect(database.query('PRAGMA synchronous').values()).toEqual([[2]])
        expect(database.query('PRAGMA journal_mode').values()).toEqual([['wal']])
      }),
    })
    expect(await log.append('key-one', 'none', [keySuspended()])).toMatchObject({ outcome: 'written' })
    await log.close()
  })
})

const change = (path: string, statement: string): void => {
  const database = new Database(path)
  database.run(statement)
  database.close()
}

const openInOtherProcess = (dataDir: string): string => {
  const { stdout } = Bun.spawnSync([process.execPath, join(import.meta.dir, 'open-and-close.ts'), dataDir])
  return stdout.toString()
}

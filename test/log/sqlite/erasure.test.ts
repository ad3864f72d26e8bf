/** These tests cover only the log's files, as far as SQLite controls them. Copies that the disk keeps are not covered. */
import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { signInsStream } from '../../../src/domain/stream-names.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { trimEventsMax } from '../../../src/log/sqlite/sqlite-commits.ts'
import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import { keySuspended } from '../../support/logs/sample-events.ts'
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary-folder.ts'

let folder: TemporaryFolder
let log: EventLog
beforeEach(() => {
  folder = temporaryFolder()
  log = openSqliteLog({ dataDir: folder.path })
})
afterEach(async () => {
  await log.close()
  folder.remove()
})

const markOf = (index: number): string => `address-of-${index};`
/**
 * Every 50th text is longer than a page of the file. SQLite stores such a text in pages of its own, which must be erased, too.
 */
const textOf = (index: number): string => markOf(index).repeat(index % 50 === 0 ? 400 : 3)

/** Events of other streams are written in between, so that they share pages of the file with the sign-ins. */
const recordSignIns = async (count: number): Promise<void> => {
  const others = ['key-one', 'key-two', 'key-three']
  for (let index = 0; index < count; index += 1) {
    const appends = others.map((other) => log.append(other, index === 0 ? 'none' : index - 1, [keySuspended('kept')]))
    appends.push(log.append(signInsStream, index === 0 ? 'none' : index - 1, [keySuspended(textOf(index))]))
    await Promise.all(appends)
  }
}

/** The indexes of the records whose text is still in the files. */
const found = (count: number): readonly number[] => {
  const bytes = ['log.db', 'log.db-wal']
    .map((file) => join(folder.path, file))
    .map((path) => (existsSync(path) ? readFileSync(path, 'latin1') : ''))
    .join('')
  return Array.from({ length: count }, (_, index) => index).filter((index) => bytes.includes(markOf(index)))
}

describe('a purge of records', () => {
  const count = 2 * trimEventsMax
  const kept = count - 10

  test('erases them from the file and the write-ahead log', async () => {
    await recordSignIns(count)
    await log.close()
    log = openSqliteLog({ dataDir: folder.path })
    expect(found(count)).toHaveLength(count)
    await log.truncate(signInsStream, kept)
    expect(found(count)).toEqual(Array.from({ length: count - kept }, (_, index) => kept + index))
    expect(await log.read(signInsStream, { limit: 1 })).toMatchObject([{ revision: kept }])
    expect(await log.read('key-two', { direction: 'backwards', limit: 1 })).toMatchObject([{ revision: count - 1 }])
  })

  test('erases records that are only in the write-ahead log', async () => {
    await recordSignIns(20)
    await log.truncate(signInsStream, 19)
    expect(found(20)).toEqual([19])
  })

  test('succeeds while another program reads, and erases with the next purge', async () => {
    await recordSignIns(20)
    const auditor = new Database(join(folder.path, 'log.db'), { readonly: true })
    auditor.run('BEGIN')
    expect(auditor.query('SELECT count(*) FROM events').values()).toEqual([[80]])
    await log.truncate(signInsStream, 18)
    expect(await log.read(signInsStream, { limit: 1 })).toMatchObject([{ revision: 18 }])
    expect(found(20).length).toBeGreaterThan(2)
    auditor.run('COMMIT')
    auditor.close()
    await log.truncate(signInsStream, 19)
    expect(found(20)).toEqual([19])
  })
})

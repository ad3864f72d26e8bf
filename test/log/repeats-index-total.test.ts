import { Database } from 'bun:sqlite'
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { IdempotentAppend } from '../../src/domain/reading/idempotency-key.ts'
import { type AppendRow, appendChecksum, appendColumns } from '../../src/log/repeats-index/append-checksum.ts'
import { openRepeatsFile } from '../../src/log/repeats-index/repeats-file.ts'
import { repeatsMark } from '../../src/log/repeats-index/repeats-mark.ts'
import { IndexUnusable } from '../../src/log/repeats-index.ts'
import { emptyTotal, totalWith, totalWithout } from '../../src/log/rows-total.ts'
import { startMs } from '../support/logs/sample-events.ts'
import { seededNumbers } from '../support/seeded-entropy.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

// Each trial opens and closes several files, which takes long on a busy machine.
setDefaultTimeout(600_000)

const keyHash = (number: number): string => number.toString(16).padStart(64, '0')
const appendOf = (number: number, revision = number): IdempotentAppend => ({
  stream: 'readings-one',
  revision,
  recordedAt: startMs + revision,
  idempotency: { keyHash: keyHash(number), bodyHash: 'b0'.repeat(32), batch: null },
})
const foldedTo = { position: 90, stream: 'key-one', revision: 83, id: 'event 90' }
const change = (appends: readonly IdempotentAppend[], forgetBeforeMs = 0) => ({ appends, foldedTo, forgetBeforeMs })

const opened = (dataDir: string) => {
  const told: string[] = []
  const index = openRepeatsFile({ dataDir, logId: 'a log', onReplaced: (why) => told.push(why) })
  return { index, told }
}
const harm = (dataDir: string, how: (database: Database) => void): void => {
  const database = new Database(join(dataDir, 'idempotency.db'))
  how(database)
  database.close()
}
/** A closed file with six appends. */
const madeFile = async (dataDir: string): Promise<void> => {
  const { index } = opened(dataDir)
  await index.write(change([1, 3, 5, 7, 9, 11].map((number) => appendOf(number))))
  await index.close()
}

/** Writes a row with a right checksum: the copy of a row, with other values. */
const writeRow = (database: Database, from: number, to: Partial<AppendRow>): void => {
  const select = `SELECT ${appendColumns} FROM appends WHERE revision = ?`
  const row = database.query<AppendRow, [number]>(select).get(from)
  if (row === null) throw new Error(`The file has no revision ${from}`)
  const { key_hash, stream, revision, recorded_at, body_hash, batch, version } = { ...row, ...to }
  const checksum = appendChecksum({ key_hash, stream, revision, recorded_at, body_hash, batch, version })
  const values = [key_hash, stream, revision, recorded_at, body_hash, batch, version, checksum]
  database.run(`REPLACE INTO appends (${appendColumns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, values)
}

const countWhy = (count: number): string => `it has ${count} rows, but must have 6`
const damages: readonly [title: string, harm: (database: Database) => void, why: string][] = [
  ['deleted', (database) => database.run('DELETE FROM appends WHERE revision = 5'), countWhy(5)],
  ['deleted with all others', (database) => database.run('DELETE FROM appends'), countWhy(0)],
  [
    'moved away by its hash',
    (database) => database.run(`UPDATE appends SET key_hash = x'${keyHash(99)}' WHERE revision = 5`),
    'a row does not match its checksum',
  ],
  ['inserted', (database) => writeRow(database, 5, { stream: 'readings-two' }), countWhy(7)],
  ['replaced by an older one', (database) => writeRow(database, 5, { revision: 4 }), 'its rows do not match the sum'],
]

describe('check()', () => {
  test.each(damages)('deletes the index if a row was %s', async (_, how, why) => {
    const folder = temporaryFolder()
    await madeFile(folder.path)
    harm(folder.path, how)
    const { index, told } = opened(folder.path)
    expect(index.foldedTo).toEqual(foldedTo)
    await index.check()
    expect([index.foldedTo, told]).toEqual([null, [expect.stringContaining(why)]])
    await index.write(change([appendOf(5)]))
    await index.check()
    expect([index.foldedTo, told.length]).toEqual([foldedTo, 1])
    expect(index.find('readings-one', keyHash(5))).toEqual(appendOf(5))
    await index.close()
    folder.remove()
  })

  test('deletes the index if two rows of a page are out of order', async () => {
    const folder = temporaryFolder()
    await madeFile(folder.path)
    const file = join(folder.path, 'idempotency.db')
    const bytes = readFileSync(file)
    // The second page is the table of appends. The places of its first two rows are in its bytes 8 to 11.
    const place = bytes.readUInt16BE(4_096 + 8)
    bytes.copyWithin(4_096 + 8, 4_096 + 10, 4_096 + 12)
    bytes.writeUInt16BE(place, 4_096 + 10)
    writeFileSync(file, bytes)
    const { index, told } = opened(folder.path)
    await index.check()
    expect([index.foldedTo, told]).toEqual([null, [expect.stringContaining('not in order')]])
    await index.close()
    folder.remove()
  })

  test('finds a row of a running index that was deleted', async () => {
    const folder = temporaryFolder()
    const { index, told } = opened(folder.path)
    await index.write(change([appendOf(1), appendOf(2)]))
    harm(folder.path, (database) => database.run('DELETE FROM appends WHERE revision = 1'))
    await index.write(change([appendOf(3)]))
    await index.check()
    expect(told).toEqual([expect.stringContaining('it has 2 rows, but must have 3')])
    await index.close()
    folder.remove()
  })
})

describe('the row that says how far the index is folded', () => {
  const columns = ['log_id', 'position', 'stream', 'revision', 'event_id', 'append_count', 'append_sum', 'checksum']
  const changes = columns.map((column) => {
    const isText = ['log_id', 'stream', 'event_id'].includes(column)
    return [column, `UPDATE folded SET ${column} = ${isText ? `${column} || 'x'` : `${column} - 1`}`] as const
  })
  test.each([...changes, ['every column', 'DELETE FROM folded'] as const])(
    'makes the index unusable when %s was changed',
    async (_, sql) => {
      const folder = temporaryFolder()
      await madeFile(folder.path)
      expect(repeatsMark(folder.path)?.position).toBe(90)
      harm(folder.path, (database) => database.run(sql))
      expect(repeatsMark(folder.path)).toBeNull()
      const { index, told } = opened(folder.path)
      expect([index.foldedTo, told]).toEqual([null, [expect.stringContaining('row of "folded"')]])
      await index.close()
      folder.remove()
    },
  )

  test('is never written over when it was damaged meanwhile', async () => {
    const folder = temporaryFolder()
    const { index } = opened(folder.path)
    await index.write(change([appendOf(1)]))
    harm(folder.path, (database) => database.run('UPDATE folded SET append_count = 0'))
    const fault = await index.write(change([appendOf(2)])).catch((cause: unknown) => cause)
    expect(fault).toBeInstanceOf(IndexUnusable)
    await index.close()
    folder.remove()
  })
})

describe('the sum of the rows', () => {
  test('is exact at its bounds, and without a row again as before', () => {
    const most = 2 ** 53 - 1
    for (const [before, added, after] of [
      [0, most, most],
      [1, most, 0],
      [most, most, most - 1],
      [most, 1, 0],
      [most - 1, 1, most],
      [5, 0, 5],
    ] as const) {
      const grown = totalWith({ count: 3, sum: before }, added)
      expect(grown).toEqual({ count: 4, sum: after })
      expect(totalWithout(grown, added)).toEqual({ count: 3, sum: before })
    }
    expect(totalWithout(totalWith(emptyTotal, most), most)).toEqual(emptyTotal)
  })

  test('stays right over repeats, expired appends, kills and restarts', async () => {
    const next = seededNumbers(7)
    const folder = temporaryFolder()
    let dataDir = folder.path
    let { index, told } = opened(dataDir)
    for (let round = 1; round <= 20; round += 1) {
      // Small numbers come again with a newer or an older revision, and also twice in one change.
      const appends = Array.from({ length: next() % 40 }, () => appendOf(next() % 100, 10 * round + (next() % 50)))
      await index.write(change(appends, next() % 3 === 0 ? startMs + 10 * round - (next() % 100) : 0))
      const way = next() % 4
      if (way > 1) continue
      // The files of a running service are as a kill leaves them.
      if (way === 0) dataDir = copyOfFiles(dataDir, join(folder.path, `killed-${round}`))
      await index.close()
      ;({ index, told } = opened(dataDir))
      await index.check()
      expect([round, index.foldedTo, told]).toEqual([round, foldedTo, []])
    }
    await index.close()
    folder.remove()
  })
})

const copyOfFiles = (from: string, to: string): string => {
  mkdirSync(to)
  for (const name of ['idempotency.db', 'idempotency.db-wal']) copyFileSync(join(from, name), join(to, name))
  return to
}

import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkedRowsPerStep } from '../../../src/limits.ts'
import { copyLog } from '../../../src/log/copy-log.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { ensureLogCreated } from '../../../src/log/log-identity.ts'
import { markChecksum, nameChecksumOf, type Row, rowChecksum } from '../../../src/log/sqlite/reads/row-checksum.ts'
import { copyWal, pageBytes } from '../../../src/log/sqlite/sqlite-file.ts'
import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import { checkLogFile } from '../../../src/log/verify/check-log-file.ts'
import type { CheckResult } from '../../../src/log/verify/damage-kinds.ts'
import { type VerifiedLog, verifyFile } from '../../../src/log/verify/run-verify.ts'
import { harmLog, losingIndexWrite, zeroIndex } from '../../support/logs/harm.ts'
import { keySuspensions, reading, startMs } from '../../support/logs/sample-events.ts'
import { addUnknownToFile } from '../../support/logs/unknown-records.ts'
import { seededEntropy } from '../../support/seeded-entropy.ts'
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary-folder.ts'
import { commitsHere } from '../sqlite/commits-here.ts'

let folder: TemporaryFolder
let sound: string
let trials = 0

const open = (dataDir: string): EventLog => openSqliteLog({ dataDir, commits: commitsHere(() => {}) })
const verify = (dataDir: string): Promise<VerifiedLog> =>
  verifyFile(join(dataDir, 'log.db'), { marks: () => [], onProgress: () => {} })

const readings = (stream: string, count: number) => Array.from({ length: count }, () => reading(stream))

/** A log in which a truncation has left gaps, and a row with events on both sides of its mark. */
beforeAll(async () => {
  folder = temporaryFolder()
  sound = join(folder.path, 'sound')
  mkdirSync(sound, { mode: 0o700 })
  const log = open(sound)
  await log.append('key-one', 'none', keySuspensions(3))
  await log.append('readings-one', 'none', readings('readings-one', 2))
  await log.append('key-two', 'none', keySuspensions(1))
  await log.append('readings-one', 1, readings('readings-one', 4))
  await log.append('readings-two', 'none', readings('readings-two', 2))
  await log.append('key-one', 2, keySuspensions(1))
  await log.append('readings-one', 5, readings('readings-one', 1))
  await log.append('key-two', 0, keySuspensions(1))
  await log.close()
  const purged = open(sound)
  await purged.truncate('readings-one', 4)
  await purged.close()
})
afterAll(() => folder.remove())

const copyOfSound = (): string => {
  trials += 1
  const dataDir = join(folder.path, `trial-${trials}`)
  cpSync(sound, dataDir, { recursive: true })
  return dataDir
}

const after = (change: (database: Database) => void): Promise<VerifiedLog> => {
  const dataDir = copyOfSound()
  harmLog(dataDir, change)
  return verify(dataDir)
}

const filesOf = (dataDir: string) =>
  readdirSync(dataDir)
    .filter((name) => !/-(wal|shm)$/.test(name))
    .map((name) => [name, Bun.hash(readFileSync(join(dataDir, name)))])

describe('a sound log', () => {
  test('is sound, and stays as it is', async () => {
    const files = filesOf(sound)
    expect(await verify(sound)).toEqual({
      rows: 7,
      events: 13,
      streams: 4,
      first: null,
      counts: {},
      arePagesChecked: true,
    })
    expect(filesOf(sound)).toEqual(files)
  })

  test('that was copied is sound', async () => {
    const dataDir = join(folder.path, 'copied')
    const [from, to] = [open(copyOfSound()), open(dataDir)]
    const clock = { now: () => startMs }
    await ensureLogCreated(from, clock, seededEntropy())
    await copyLog({ from, to, clock, entropy: seededEntropy(), wait: async () => {}, onProgress: () => {} })
    await from.close()
    await to.close()
    expect(await verify(dataDir)).toMatchObject({ first: null })
  })

  test('without the index of texts is sound if its schema was accepted', async () => {
    const dataDir = copyOfSound()
    harmLog(dataDir, (database) => database.run('DROP INDEX texts'))
    const path = join(dataDir, 'log.db')
    const steps = checkLogFile({ path, codec: null, checksPages: false, acceptsSchema: true })
    expect(resultOf(steps)).toMatchObject({ first: null, rows: 7 })
  })

  test('of a killed service is sound, and keeps its write-ahead log', async () => {
    const running = copyOfSound()
    const log = open(running)
    await log.append('key-two', 1, keySuspensions(1))
    trials += 1
    const dataDir = join(folder.path, `trial-${trials}`)
    cpSync(running, dataDir, { recursive: true })
    await log.close()
    const files = ['log.db', 'log.db-wal'].map((name) => readFileSync(join(dataDir, name)))
    expect(await verify(dataDir)).toMatchObject({ first: null, events: 14 })
    expect(['log.db', 'log.db-wal'].map((name) => readFileSync(join(dataDir, name)))).toEqual(files)
  })

  test('is sound while rows are deleted whose stream goes on after the end', async () => {
    const dataDir = copyOfSound()
    const log = open(dataDir)
    await appendMany(log, 'readings-one', 7)
    await log.append('key-two', 1, keySuspensions(1))
    const steps = checkLogFile({ path: join(dataDir, 'log.db'), codec: null, checksPages: false })
    for (let step = steps.next(); !step.done && step.value.phase !== 'rows'; ) step = steps.next()
    await appendMany(log, 'readings-two', 2)
    const last = 7 + 2 * checkedRowsPerStep
    await log.append('readings-one', last - 1, readings('readings-one', 1))
    await log.truncate('readings-one', last)
    expect(resultOf(steps)).toMatchObject({ first: null })
    await log.close()
  })

  test('is sound while events are appended and truncated between the steps', async () => {
    const dataDir = copyOfSound()
    const log = open(dataDir)
    for (let revision = 7; revision < 7 + 3 * checkedRowsPerStep; revision += 1) {
      await log.append('readings-one', revision - 1, readings('readings-one', 1))
    }
    const steps = checkLogFile({ path: join(dataDir, 'log.db'), codec: null, checksPages: false })
    let revision = 7 + 3 * checkedRowsPerStep
    for (;;) {
      const step = steps.next()
      if (step.done) {
        expect(step.value).toMatchObject({ first: null })
        expect(step.value.rows).toBeGreaterThan(checkedRowsPerStep)
        break
      }
      await log.append('readings-one', revision - 1, readings('readings-one', 1))
      await log.truncate('readings-one', revision - 300)
      revision += 1
      expect(isWriteAheadLogFree(dataDir)).toBeTrue()
    }
    await log.close()
  })
})

const appendMany = async (log: EventLog, stream: string, from: number): Promise<void> => {
  for (let revision = from; revision < from + 2 * checkedRowsPerStep; revision += 1) {
    await log.append(stream, revision - 1, readings(stream, 1))
  }
}

const resultOf = (steps: ReturnType<typeof checkLogFile>): CheckResult => {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** True if no reader keeps SQLite from emptying its write-ahead log. */
const isWriteAheadLogFree = (dataDir: string): boolean => {
  using database = new Database(join(dataDir, 'log.db'), { readwrite: true })
  return !copyWal(database, 'TRUNCATE').isBlocked
}

type Change = { readonly title: string; readonly sql: string; readonly says: object }

const changes: readonly Change[] = [
  {
    title: 'a changed row',
    sql: 'UPDATE events SET recorded_at = recorded_at + 1 WHERE position = 6',
    says: { kind: 'row', stream: 'key-two', revision: 0, position: 6, counts: { row: 1 } },
  },
  {
    title: 'two changed rows',
    sql: 'UPDATE events SET count = count + 4 WHERE position IN (6, 11)',
    says: { kind: 'row', stream: 'key-two', revision: 0, position: 6, counts: { row: 2 } },
  },
  {
    title: 'a row missing at the end of its stream, after a truncation',
    sql: 'DELETE FROM events WHERE position = 13',
    says: { kind: 'missing', stream: null, position: 4, counts: { missing: 1 } },
  },
  {
    title: 'a row missing in its stream',
    sql: 'DELETE FROM events WHERE position = 6',
    says: { kind: 'missing', stream: 'key-two', revision: 0, position: 15, counts: { missing: 1 } },
  },
  {
    title: 'the row with the mark missing',
    sql: 'DELETE FROM events WHERE position = 7',
    says: { kind: 'missing', stream: 'readings-one', revision: 0, position: 14, counts: { missing: 1 } },
  },
  {
    title: 'a stream without rows',
    sql: 'DELETE FROM events WHERE stream = 4',
    says: { kind: 'stream', stream: 'readings-two', revision: 0, counts: { stream: 1, missing: 1 } },
  },
  {
    title: 'a row without a stream',
    sql: 'UPDATE events SET stream = 9 WHERE position = 13',
    says: { kind: 'stream', stream: null, revision: 3, position: 13, why: 'its stream 9 does not exist' },
  },
  {
    title: 'streams with swapped names',
    sql: "UPDATE streams SET name = 'x-' WHERE id = 1; UPDATE streams SET name = 'key-one' WHERE id = 3; UPDATE streams SET name = 'key-two' WHERE id = 1",
    says: { kind: 'row', stream: 'key-two', revision: 0, position: 1, counts: { row: 4 } },
  },
  {
    title: 'an id of a stream that would use up the memory',
    sql: 'UPDATE streams SET id = 1 << 40 WHERE id = 4',
    says: { kind: 'stream', stream: 'readings-two', why: 'no stream can have this name and the id 1099511627776' },
  },
  {
    title: 'a changed mark',
    sql: 'UPDATE truncations SET kept_from = 6',
    says: { kind: 'mark', stream: 'readings-one', revision: 6, counts: { mark: 1 } },
  },
  {
    title: 'a mark that hides the last event',
    sql: `UPDATE truncations SET kept_from = 7, checksum = ${markChecksum('readings-one', { stream: 2, keptFrom: 7 })}`,
    says: { kind: 'mark', why: 'the mark of its truncated events hides its last event' },
  },
  {
    title: 'a mark of a stream that is never truncated',
    sql: `INSERT INTO truncations VALUES (3, 1, ${markChecksum('key-two', { stream: 3, keptFrom: 1 })})`,
    says: { kind: 'mark', stream: 'key-two', why: 'events of this stream are never truncated' },
  },
  {
    title: 'a mark of no stream',
    sql: 'INSERT INTO truncations VALUES (9, 1, 7)',
    says: { kind: 'mark', stream: null, revision: 1, counts: { mark: 1 } },
  },
]

const toldBy = ({ first, counts }: VerifiedLog): object => ({ ...first, counts })

describe('a damaged log', () => {
  test.each([...changes])('is told: $title', async ({ sql, says }: Change) => {
    expect(toldBy(await after((database) => database.run(sql)))).toMatchObject(says)
  })

  test('is told: a row that another program has inserted', async () => {
    const place = { stream: 3, position: 16 }
    const inserted = (revision: number, count: number) =>
      after((database) => {
        const row = { ...place, revision, count, recordedAt: startMs, body: '[]' }
        const checksum = rowChecksum(row, nameChecksumOf('key-two'))
        database.run('INSERT INTO events VALUES (16, 3, ?, ?, ?, ?, ?)', [revision, count, startMs, '[]', checksum])
      })
    const gap = 'the events up to revision 4 are missing'
    expect(toldBy(await inserted(5, 1))).toMatchObject({ kind: 'missing', stream: 'key-two', revision: 2, why: gap })
    const unreadable = { kind: 'undecodable', stream: 'key-two', revision: 2, position: 16 }
    expect(toldBy(await inserted(2, 1))).toMatchObject(unreadable)
  })

  test('is told: two rows with the same revision or position', async () => {
    const grown = (position: number, stream: string, id: number) =>
      after((database) => {
        const select = 'SELECT *, recorded_at AS recordedAt FROM events WHERE position = ?'
        const row = database.query<Row, [number]>(select).get(position)
        if (row === null) throw new Error(`There is no row at position ${position}`)
        const checksum = rowChecksum({ ...row, stream: id, count: row.count + 1 }, nameChecksumOf(stream))
        database.run('UPDATE events SET count = count + 1, checksum = ? WHERE position = ?', [checksum, position])
      })
    expect(toldBy(await grown(11, 'readings-two', 4))).toMatchObject({ counts: { order: 1, undecodable: 1 } })
    expect(toldBy(await grown(6, 'key-two', 3))).toMatchObject({ counts: { order: 2, undecodable: 1 } })
  })

  test('is told: an event that this version cannot decode', async () => {
    for (const stream of ['key-two', 'signins-node']) {
      const dataDir = copyOfSound()
      addUnknownToFile(dataDir, stream, startMs)
      const revision = stream === 'key-two' ? 2 : 0
      expect((await verify(dataDir)).first).toMatchObject({ kind: 'undecodable', stream, revision, position: 16 })
    }
  })

  test('is told: a missing trigger', async () => {
    const dataDir = copyOfSound()
    using database = new Database(join(dataDir, 'log.db'), { readwrite: true })
    database.run('DROP TRIGGER events_stay')
    expect((await verify(dataDir)).first).toMatchObject({ kind: 'schema', why: 'trigger events_stay is missing' })
  })

  test('is told: a missing table', async () => {
    const dataDir = copyOfSound()
    using database = new Database(join(dataDir, 'log.db'), { readwrite: true })
    database.run('DROP TABLE events')
    expect((await verify(dataDir)).first).toMatchObject({
      kind: 'schema',
      why: 'index sqlite_autoindex_events_1 is missing',
    })
  })
})

const remove = (sql: string) => (dataDir: string) => harmLog(dataDir, (database) => database.run(sql))
const append = async (dataDir: string): Promise<void> => {
  const log = open(dataDir)
  await log.append('key-two', 1, keySuspensions(1))
  await log.append('key-three', 'none', keySuspensions(1))
  await log.close()
}

describe('an index that does not match its table', () => {
  const [revisions, names] = ['sqlite_autoindex_events_1', 'sqlite_autoindex_streams_1']
  test.each([
    ['an entry is missing', revisions, append, { stream: 'key-two', revision: 2, position: 16, counts: { index: 2 } }],
    [
      'an entry leads nowhere',
      revisions,
      remove('DELETE FROM events WHERE position = 15'),
      { stream: 'key-two', revision: 1, position: 15, counts: { index: 1 } },
    ],
    ['a text is missing', 'texts', append, { stream: 'key-two', revision: 2, position: 16, counts: { index: 2 } }],
    [
      'a text leads nowhere',
      'texts',
      remove('DELETE FROM events WHERE position = 15'),
      { stream: 'key-two', position: 15, counts: { index: 1 } },
    ],
    ['a name is missing', names, append, { stream: 'key-three', counts: { index: 1 } }],
    [
      'a name leads nowhere',
      names,
      remove("UPDATE streams SET name = 'key-three' WHERE id = 4"),
      { stream: 'key-three', counts: { index: 2, row: 1 } },
    ],
  ] as const)('is told: %s', async (_, index, change, says) => {
    const dataDir = copyOfSound()
    await losingIndexWrite(dataDir, index, () => change(dataDir))
    expect(toldBy(await verify(dataDir))).toMatchObject({ kind: 'index', ...says })
  })
})

describe('a damaged file', () => {
  test('is told for each zeroed page', async () => {
    const bytes = readFileSync(join(sound, 'log.db'))
    const missed: number[] = []
    for (let at = 0; at < bytes.length; at += pageBytes) {
      const dataDir = copyOfSound()
      writeFileSync(join(dataDir, 'log.db'), Uint8Array.from(bytes).fill(0, at, at + pageBytes))
      const { first } = await verify(dataDir)
      if (first === null) missed.push(at / pageBytes + 1)
    }
    expect(missed).toEqual([])
  })

  test('is told by SQLite if only the list of free pages is damaged', async () => {
    const dataDir = copyOfSound()
    const bytes = readFileSync(join(dataDir, 'log.db'))
    bytes.writeUInt32BE(5, 36)
    writeFileSync(join(dataDir, 'log.db'), bytes)
    const { first, rows } = await verify(dataDir)
    expect([rows, first]).toEqual([
      7,
      expect.objectContaining({ kind: 'file', why: expect.stringContaining('Freelist') }),
    ])
  })

  test('is checked further if only the index of names is damaged', async () => {
    const dataDir = copyOfSound()
    zeroIndex(dataDir, 'sqlite_autoindex_streams_1')
    expect(await verify(dataDir)).toMatchObject({ rows: 7, events: 13, first: { kind: 'file' } })
  })

  test('is told if it lost its end', async () => {
    const bytes = readFileSync(join(sound, 'log.db'))
    for (const pages of [1, 3, 6]) {
      const dataDir = copyOfSound()
      writeFileSync(join(dataDir, 'log.db'), bytes.subarray(0, bytes.length - pages * pageBytes))
      expect((await verify(dataDir)).first).not.toBeNull()
    }
  })
})

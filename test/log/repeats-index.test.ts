import { Database, SQLiteError } from 'bun:sqlite'
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FoldedTo } from '../../src/domain/log-reference.ts'
import type { IdempotentAppend } from '../../src/domain/reading/idempotency-key.ts'
import { appendChecksum, type ChecksummedAppend } from '../../src/log/repeats-index/append-checksum.ts'
import { openRepeatsFile } from '../../src/log/repeats-index/repeats-file.ts'
import { IndexBusy, IndexUnusable, type RepeatsIndex } from '../../src/log/repeats-index.ts'
import { isPassing } from '../../src/log/sqlite/sqlite-faults.ts'
import { createMemoryRepeatsIndex } from '../support/logs/memory-repeats-index.ts'
import { startMs } from '../support/logs/sample-events.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

// Each trial opens and closes several files, which takes long on a busy machine.
setDefaultTimeout(600_000)

const keyHash = (number: number): string => number.toString(16).padStart(64, '0')
const appendOf = (number: number, more: Partial<IdempotentAppend> = {}): IdempotentAppend => ({
  stream: 'readings-one',
  revision: number,
  recordedAt: startMs + number,
  idempotency: { keyHash: keyHash(number), bodyHash: 'b0'.repeat(32), batch: null },
  ...more,
})
const at = (position: number): FoldedTo => ({
  position,
  stream: 'key-one',
  revision: position - 7,
  id: `event ${position}`,
})
const change = (appends: readonly IdempotentAppend[], foldedTo: number | null = null, forgetBeforeMs = 0) => ({
  appends,
  foldedTo: foldedTo === null ? null : at(foldedTo),
  forgetBeforeMs,
})

const bounds = { readingAgeMsMax: 5, readingAheadMsMax: null, retentionMs: 7 }
const refusalsOfEachKind = [
  null,
  { kind: 'judgement' as const, rejected: 999, rules: 1, atMs: startMs, bounds },
  {
    kind: 'verdicts' as const,
    items: [{ index: 3, refusal: { kind: 'missing_field' as const, fields: ['rack' as const] } }],
  },
]

type Opened = { readonly index: RepeatsIndex; dispose(): Promise<void> }

const openInMemory = async (): Promise<Opened> => ({ index: createMemoryRepeatsIndex(), dispose: async () => {} })
const openInFile = async (): Promise<Opened> => {
  const folder = temporaryFolder()
  const index = openRepeatsFile({ dataDir: folder.path, logId: 'a log' })
  const dispose = async (): Promise<void> => {
    await index.close()
    folder.remove()
  }
  return { index, dispose }
}

for (const [name, open] of [
  ['in memory', openInMemory],
  ['in a file', openInFile],
] as const) {
  describe(`the repeats index ${name}`, () => {
    test('finds a written append with every detail, in its stream only', async () => {
      const { index, dispose } = await open()
      const batches = refusalsOfEachKind.map((refusals, at) => {
        const { idempotency, ...append } = appendOf(2 + at)
        return { ...append, idempotency: { ...idempotency, batch: { accepted: 7, refusals } } }
      })
      expect(index.foldedTo).toBeNull()
      await index.write(change([appendOf(1), ...batches], 90))
      expect(index.find('readings-one', keyHash(1))).toEqual(appendOf(1))
      for (const batch of batches) expect(index.find('readings-one', batch.idempotency.keyHash)).toEqual(batch)
      expect(index.find('readings-two', keyHash(1))).toBeNull()
      expect(index.find('readings-one', keyHash(9))).toBeNull()
      expect(index.foldedTo).toEqual(at(90))
      await dispose()
    })

    test('keeps the newest append of an idempotency key, and foldedTo', async () => {
      const { index, dispose } = await open()
      const later = appendOf(1, { revision: 8, recordedAt: startMs + 9 })
      await index.write(change([later], 5))
      await index.write(change([appendOf(1)]))
      expect(index.find('readings-one', keyHash(1))).toEqual(later)
      expect(index.foldedTo).toEqual(at(5))
      await dispose()
    })

    test('forgets appends from before the given time', async () => {
      const { index, dispose } = await open()
      await index.write(change([appendOf(1), appendOf(2)]))
      await index.write(change([], null, startMs + 2))
      expect(index.find('readings-one', keyHash(1))).toBeNull()
      expect(index.find('readings-one', keyHash(2))).toEqual(appendOf(2))
      await dispose()
    })

    test('is empty after startAnew()', async () => {
      const { index, dispose } = await open()
      await index.write(change([appendOf(1)], 90))
      await index.startAnew()
      expect(index.foldedTo).toBeNull()
      expect(index.find('readings-one', keyHash(1))).toBeNull()
      await index.write(change([appendOf(2)], 91))
      expect(index.find('readings-one', keyHash(2))).toEqual(appendOf(2))
      await dispose()
    })
  })
}

describe('the file of the repeats index', () => {
  const closed = async (path: string): Promise<void> => {
    const index = openRepeatsFile({ dataDir: path, logId: 'a log' })
    const many = Array.from({ length: 500 }, (_, number) => appendOf(number))
    await index.write(change(many, 90))
    await index.close()
  }
  const reopened = async (path: string, logId = 'a log') => {
    const told: string[] = []
    const index = openRepeatsFile({ dataDir: path, logId, onReplaced: (why) => told.push(why) })
    const known = { foldedTo: index.foldedTo, first: index.find('readings-one', keyHash(1)) }
    await index.write(change([appendOf(501)], 91))
    expect(index.find('readings-one', keyHash(501))).toEqual(appendOf(501))
    await index.close()
    return { ...known, told }
  }
  const emptyAndTold = { foldedTo: null, first: null, told: [expect.stringContaining('Cannot use')] }

  test('survives a restart, readable by its owner only', async () => {
    const folder = temporaryFolder()
    await closed(folder.path)
    expect(statSync(join(folder.path, 'idempotency.db')).mode & 0o777).toBe(0o600)
    expect(await reopened(folder.path)).toEqual({ foldedTo: at(90), first: appendOf(1), told: [] })
    folder.remove()
  })

  test('is unusable when it holds a newer append', async () => {
    const folder = temporaryFolder()
    await closed(folder.path)
    const database = new Database(join(folder.path, 'idempotency.db'))
    database.run('UPDATE appends SET version = 3')
    const select = 'SELECT key_hash, stream, revision, recorded_at, body_hash, batch, version FROM appends'
    for (const row of database.query<ChecksummedAppend, []>(select).all()) {
      database.run('UPDATE appends SET checksum = ? WHERE key_hash = ?', [appendChecksum(row), row.key_hash])
    }
    database.close()
    const index = openRepeatsFile({ dataDir: folder.path, logId: 'a log' })
    expect(() => index.find('readings-one', keyHash(1))).toThrow(IndexUnusable)
    await index.close()
    folder.remove()
  })

  const changedColumns: readonly [column: string, sql: string][] = [
    ['key_hash', `UPDATE appends SET key_hash = x'${keyHash(8)}' WHERE revision = 9`],
    ['key_hash upwards', `UPDATE appends SET key_hash = x'${keyHash(10)}' WHERE revision = 9`],
    ['stream upwards', "UPDATE appends SET stream = 'readings-onf' WHERE revision = 9"],
    ['stream', "UPDATE appends SET stream = 'readings-ond' WHERE revision = 9"],
    ['revision', 'UPDATE appends SET revision = 8 WHERE revision = 9'],
    ['recorded_at', 'UPDATE appends SET recorded_at = 9 WHERE revision = 9'],
    ['body_hash', `UPDATE appends SET body_hash = x'${'b1'.repeat(32)}' WHERE revision = 9`],
    ['batch', `UPDATE appends SET batch = '{"accepted":1,"refusals":null}' WHERE revision = 9`],
    ['version', 'UPDATE appends SET version = 1 WHERE revision = 9'],
    ['checksum', 'UPDATE appends SET checksum = checksum + 1 WHERE revision = 9'],
  ]
  test.each(changedColumns)('is unusable when %s of a row was changed', async (_, sql) => {
    const folder = temporaryFolder()
    const first = openRepeatsFile({ dataDir: folder.path, logId: 'a log' })
    await first.write(change([appendOf(5), appendOf(9)], 90))
    await first.close()
    const database = new Database(join(folder.path, 'idempotency.db'))
    database.run(sql)
    database.close()
    const told: string[] = []
    const onReplaced = (why: string): number => told.push(why)
    const index = openRepeatsFile({ dataDir: folder.path, logId: 'a log', onReplaced })
    expect(() => index.find('readings-one', keyHash(9))).toThrow(IndexUnusable)
    expect(told).toEqual([expect.stringContaining('a row does not match its checksum')])
    await index.startAnew()
    expect(index.find('readings-one', keyHash(9))).toBeNull()
    await index.close()
    folder.remove()
  })

  test('never loses an append to a zeroed sector in silence', async () => {
    const folder = temporaryFolder()
    const appends = Array.from({ length: 30 }, (_, number) => appendOf(number))
    const first = openRepeatsFile({ dataDir: folder.path, logId: 'a log' })
    await first.write(change(appends, 90))
    await first.close()
    const file = join(folder.path, 'idempotency.db')
    const sound = readFileSync(file)
    let told = 0
    for (let at = 4_096; at < sound.length; at += 512) {
      writeFileSync(file, Uint8Array.from(sound).fill(0, at, at + 512))
      const index = openRepeatsFile({ dataDir: folder.path, logId: 'a log' })
      if (index.foldedTo !== null) await index.check()
      // The index is empty if the opening or the check has found the damage.
      if (index.foldedTo === null) told += 1
      for (const append of index.foldedTo === null ? [] : appends) {
        try {
          const found = index.find('readings-one', append.idempotency.keyHash)
          if (!Bun.deepEquals(found, append)) expect([at, found]).toEqual([at, append])
        } catch (cause) {
          if (!(cause instanceof IndexUnusable)) throw cause
          told += 1
        }
      }
      await index.close()
    }
    expect(told).toBeGreaterThan(0)
    folder.remove()
  })

  test('is deleted by check() when a page hides its last rows', async () => {
    const folder = temporaryFolder()
    await closed(folder.path)
    const file = join(folder.path, 'idempotency.db')
    const pageBytes = 4_096
    const sound = readFileSync(file)
    const leafOfIndex = 0x0a
    const foldedTo = at(90)
    let hidden = 0
    for (let page = pageBytes; page < sound.length && hidden < 5; page += pageBytes) {
      // The number of rows of a page is in its bytes 3 and 4.
      if (sound[page] !== leafOfIndex || (sound[page + 4] ?? 0) < 2) continue
      hidden += 1
      const changed = Uint8Array.from(sound)
      changed[page + 4] = (sound[page + 4] ?? 0) - 1
      writeFileSync(file, changed)
      const told: string[] = []
      const onReplaced = (why: string): number => told.push(why)
      const index = openRepeatsFile({ dataDir: folder.path, logId: 'a log', onReplaced })
      expect(index.foldedTo).toEqual(foldedTo)
      await index.check()
      expect(index.foldedTo).toBeNull()
      expect(told).toEqual([expect.stringContaining('Cannot check the index of idempotency keys')])
      await index.close()
    }
    expect(hidden).toBeGreaterThan(3)
    folder.remove()
  })

  test('is kept by check() if it is sound', async () => {
    const folder = temporaryFolder()
    await closed(folder.path)
    const index = openRepeatsFile({ dataDir: folder.path, logId: 'a log' })
    await index.check()
    expect(index.foldedTo).toEqual(at(90))
    expect(index.find('readings-one', keyHash(1))).toEqual(appendOf(1))
    await index.close()
    folder.remove()
  })

  test('shrinks faster than it grows', async () => {
    const folder = temporaryFolder()
    const index = openRepeatsFile({ dataDir: folder.path, logId: 'a log' })
    const many = Array.from({ length: 4_500 }, (_, number) => appendOf(number))
    await index.write(change(many))
    const left = (): number => many.filter(({ idempotency }) => index.find('readings-one', idempotency.keyHash)).length
    for (const expected of [2_499, 498, 0]) {
      const revision = 10_000 + expected
      await index.write(change([appendOf(revision)], null, startMs + 5_000))
      expect(left()).toBe(expected)
      expect(index.find('readings-one', keyHash(revision))).not.toBeNull()
    }
    await index.close()
    folder.remove()
  })

  const damage: [title: string, harm: (file: string) => void][] = [
    ['is no database', (file) => writeFileSync(file, 'once there was a file')],
    ['ends too early', (file) => writeFileSync(file, readFileSync(file).subarray(0, 4_096))],
    ...[1, 2, 3, 5].map((version): (typeof damage)[number] => [
      `is of version ${version}`,
      (file) => {
        const database = new Database(file)
        database.run(`PRAGMA user_version = ${version}`)
        database.close()
      },
    ]),
    ['is empty', (file) => writeFileSync(file, '')],
  ]
  for (const [title, harm] of damage) {
    test(`is deleted when it ${title}`, async () => {
      const folder = temporaryFolder()
      await closed(folder.path)
      const file = join(folder.path, 'idempotency.db')
      expect(existsSync(`${file}-wal`)).toBe(false)
      harm(file)
      expect(await reopened(folder.path)).toEqual(title === 'is empty' ? { ...emptyAndTold, told: [] } : emptyAndTold)
      folder.remove()
    })
  }

  test('is deleted when it belongs to another log', async () => {
    const folder = temporaryFolder()
    await closed(folder.path)
    expect(await reopened(folder.path, 'another log')).toEqual(emptyAndTold)
    folder.remove()
  })

  test('throws IndexBusy while another program writes', async () => {
    const folder = temporaryFolder()
    await closed(folder.path)
    const index = openRepeatsFile({ dataDir: folder.path, logId: 'a log' })
    const other = new Database(join(folder.path, 'idempotency.db'))
    other.run('BEGIN IMMEDIATE')
    await expect(index.write(change([appendOf(600)]))).rejects.toThrow(IndexBusy)
    other.run('ROLLBACK')
    other.close()
    expect(index.find('readings-one', keyHash(600))).toBeNull()
    await index.write(change([appendOf(600)]))
    expect(index.find('readings-one', keyHash(600))).toEqual(appendOf(600))
    expect(index.find('readings-one', keyHash(1))).toEqual(appendOf(1))
    await index.close()
    folder.remove()
  })

  test('stays usable on a full disk', () => {
    const database = new Database(':memory:')
    database.run('PRAGMA max_page_count = 1')
    let fault: unknown = null
    try {
      database.run('CREATE TABLE one (a)')
    } catch (cause) {
      fault = cause
    }
    expect(fault).toMatchObject({ name: 'SQLiteError', code: 'SQLITE_FULL' })
    expect(fault instanceof SQLiteError && isPassing(fault)).toBe(true)
    database.close()
  })

  test('refuses every change when startAnew() fails', async () => {
    const folder = temporaryFolder()
    await closed(folder.path)
    const file = join(folder.path, 'idempotency.db')
    const index = openRepeatsFile({ dataDir: folder.path, logId: 'a log' })
    await index.write(change([appendOf(2)]))
    for (const each of [file, `${file}-wal`, `${file}-shm`]) rmSync(each, { force: true })
    mkdirSync(file)
    const failureOf = (done: Promise<void>): Promise<unknown> => done.catch((fault: unknown) => fault)
    expect(await failureOf(index.startAnew())).toBeInstanceOf(IndexUnusable)
    expect(await failureOf(index.write(change([appendOf(1)])))).toBeInstanceOf(IndexUnusable)
    rmdirSync(file)
    await index.startAnew()
    await index.write(change([appendOf(1)]))
    expect(index.find('readings-one', keyHash(1))).toEqual(appendOf(1))
    await index.close()
    folder.remove()
  })

  test('throws IndexUnusable for damaged pages until startAnew()', async () => {
    const folder = temporaryFolder()
    await closed(folder.path)
    const file = join(folder.path, 'idempotency.db')
    // Damages the second page of the file, which is the root of the table of appends.
    writeFileSync(file, readFileSync(file).fill(0xa5, 4_096, 8_192))
    const index = openRepeatsFile({ dataDir: folder.path, logId: 'a log' })
    const look = (): unknown => index.find('readings-one', keyHash(1))
    expect(index.foldedTo).toEqual(at(90))
    expect(look).toThrow(IndexUnusable)
    await expect(index.write(change([appendOf(600)]))).rejects.toThrow(IndexUnusable)
    await index.startAnew()
    expect(look()).toBeNull()
    await index.close()
    folder.remove()
  })
})

import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensureLogCreated } from '../../../src/log/log-identity.ts'
import { copyWal, pageBytes } from '../../../src/log/sqlite/sqlite-file.ts'
import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import { findMissingEnd, LogEndMissing, type MissingEnd } from '../../../src/log/tail/missing-end.ts'
import { saltsAt, saltsBytes, WitnessFile } from '../../../src/log/tail/witness-file.ts'
import { keySuspensions } from '../../support/logs/sample-events.ts'
import { timesToTry } from '../../support/long-trials.ts'
import { seededEntropy, seededNumbers } from '../../support/seeded-entropy.ts'
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary-folder.ts'
import { manualClock } from '../../support/time/manual-clock.ts'
import { type Files, folderWith, type Moment, momentsOf, openAndRead } from './killed-log.ts'

setDefaultTimeout(600_000)

const commits = 40
/** SQLite locks this byte of the file. */
const lockByte = 0x40000000
/** Lets the log's file grow without end. Each time, all pages are copied, so that the write-ahead log begins anew. */
const growingWriter = `
  import { Database } from 'bun:sqlite'
  self.onmessage = ({ data }) => {
    const database = new Database(data)
    database.run('PRAGMA busy_timeout = 10000')
    database.run('CREATE TABLE growing (bytes)')
    for (let turn = 0; ; turn += 1) {
      for (let row = 0; row < 5; row += 1) database.run('INSERT INTO growing VALUES (randomblob(9000))')
      database.run('PRAGMA wal_checkpoint(PASSIVE)')
      if (turn === 20) postMessage('begun')
    }
  }
`
let folder: TemporaryFolder
/** A new log, whose write-ahead log has everything. */
let fresh: readonly Moment[]
/** A log that was opened again: behind the new commits, its write-ahead log still has old ones. */
let reopened: readonly Moment[]

beforeAll(async () => {
  folder = temporaryFolder()
  fresh = await momentsOf(folderWith(folder.path, {}), commits)
  reopened = await momentsOf(folderWith(folder.path, lastOf(fresh).files), commits / 2)
})
afterAll(() => folder.remove())

const lastOf = (moments: readonly Moment[]): Moment => {
  const last = moments.at(-1)
  if (last === undefined) throw new Error('No moment was kept')
  return last
}
const walOf = ({ 'log.db-wal': wal }: Files): Buffer => {
  if (wal === undefined) throw new Error('The log has no write-ahead log')
  return wal
}
const pick = (files: Files | undefined, name: keyof Files): Files => {
  const bytes = files?.[name]
  return bytes === undefined ? {} : { [name]: bytes }
}
const changed = (files: Files, change: (wal: Buffer) => Buffer | undefined): string => {
  const { 'log.db-wal': _, ...others } = files
  const wal = change(Buffer.from(walOf(files)))
  return folderWith(folder.path, wal === undefined ? others : { ...others, 'log.db-wal': wal })
}

type Damage = (wal: Buffer, next: () => number) => Buffer
const trials = async (moments: () => readonly Moment[], count: number, damage: Damage): Promise<number> => {
  const next = seededNumbers(7)
  let told = 0
  for (let trial = 0; trial < count; trial += 1) {
    const { files, events } = lastOf(moments())
    const dataDir = changed(files, (wal) => damage(wal, next))
    const found = await openAndRead(dataDir)
    if (found.refusal !== null) told += 1
    else expect([trial, found.events]).toEqual([trial, [...events]])
    rmSync(dataDir, { recursive: true })
  }
  return told
}

const flipBit: Damage = (wal, next) => {
  const at = next() % wal.length
  wal[at] = (wal[at] ?? 0) ^ (1 << (next() % 8))
  return wal
}
const cut: Damage = (wal, next) => wal.subarray(0, next() % wal.length)

describe.each([
  ['of a new log', () => fresh],
  ['of a log that was opened again', () => reopened],
] as const)('the write-ahead log %s', (_, moments) => {
  const count = timesToTry(100, 400)

  test('is whole after each commit', async () => {
    for (const { files, events } of moments()) {
      expect(await openAndRead(folderWith(folder.path, files))).toEqual({ refusal: null, warnings: [], events })
    }
  })

  test('never hides a flipped bit', async () => {
    expect(await trials(moments, count, flipBit)).toBeGreaterThan(count / 5)
  })

  test('never hides a flipped bit of its header', async () => {
    const flipInHeader: Damage = (wal, next) => flipBit(wal.subarray(0, 32), next) && wal
    expect(await trials(moments, timesToTry(60, 256), flipInHeader)).toBe(timesToTry(60, 256))
  })

  test('never hides a zeroed sector', async () => {
    const sector: Damage = (wal, next) => {
      const at = 512 * (next() % Math.floor(wal.length / 512))
      return wal.fill(0, at, at + 512)
    }
    expect(await trials(moments, count, sector)).toBeGreaterThan(count / 5)
  })

  test('never hides that its end is cut off', async () => {
    expect(await trials(moments, count, cut)).toBeGreaterThan(count / 5)
  })

  test('is missed when it is deleted', async () => {
    const { refusal } = await openAndRead(changed(lastOf(moments()).files, () => undefined))
    expect(refusal).toBeInstanceOf(LogEndMissing)
  })

  test('never alarms after a power cut', async () => {
    const next = seededNumbers(11)
    for (let trial = 0; trial < count; trial += 1) {
      const at = next() % (moments().length - 1)
      const [synced, after] = [moments()[at], moments()[at + 1]]
      if (synced === undefined || after === undefined) throw new Error('No such moment')
      const witness = moments()[next() % (at + 1)]?.files['log.witness']
      const files = { ...synced.files, 'log.db-wal': torn(walOf(synced.files), walOf(after.files), next) }
      const dataDir = folderWith(folder.path, witness === undefined ? files : { ...files, 'log.witness': witness })
      const found = await openAndRead(dataDir)
      expect([trial, found.refusal, found.warnings]).toEqual([trial, null, []])
      expect([synced.events, after.events]).toContainEqual(found.events)
      rmSync(dataDir, { recursive: true })
    }
  })
})

/**
 * Takes each sector from before or from after the commit that was not synced. A new header is synced before the frames
 * behind it.
 */
const torn = (before: Buffer, after: Buffer, next: () => number): Buffer => {
  const result = Buffer.alloc(after.length)
  before.copy(result)
  for (let at = 0; at < after.length; at += 512) if (next() % 2 === 0) after.copy(result, at, at, at + 512)
  after.copy(result, 0, 0, 32)
  const length = next() % 2 === 0 ? after.length : before.length + (next() % (1 + after.length - before.length))
  return result.subarray(0, length)
}

describe('the witness', () => {
  test('tells that a commit without events is missing', async () => {
    const { files, events } = lastOf(fresh)
    const dataDir = changed(files, (wal) => wal.subarray(0, -1))
    expect(String((await openAndRead(dataDir)).refusal)).toMatch(/has \d+ whole pages, and \d+ were synced/)
    expect(fresh.at(-2)?.events.at(-1)).toBe(events.at(-1) ?? '')
  })

  test('is told and replaced when it is damaged', async () => {
    const { files, events } = lastOf(reopened)
    const witness = files['log.witness']
    if (witness === undefined) throw new Error('The log has no witness')
    for (let at = 0; at < witness.length; at += 1) {
      const damaged = Buffer.from(witness)
      damaged[at] = (damaged[at] ?? 0) ^ 4
      const dataDir = folderWith(folder.path, { ...files, 'log.witness': damaged })
      const found = await openAndRead(dataDir)
      expect([at, found.refusal, found.warnings.length, found.events]).toEqual([at, null, 1, [...events]])
    }
  })
})

describe('an older copy of one file', () => {
  const older = (): Moment => reopened.at(-8) ?? lastOf(reopened)
  const closed = async (files: Files): Promise<Files> => {
    const dataDir = folderWith(folder.path, files)
    await openAndRead(dataDir)
    return { 'log.db': readFileSync(join(dataDir, 'log.db')) }
  }

  test('of the write-ahead log is refused', async () => {
    const files = { ...lastOf(reopened).files, 'log.db-wal': walOf(older().files) }
    const { refusal } = await openAndRead(folderWith(folder.path, files))
    expect(refusal).toBeInstanceOf(LogEndMissing)
  })

  test('of the write-ahead log is refused after that has begun anew', async () => {
    const older = reopened[0]
    const files = { ...lastOf(reopened).files, 'log.db-wal': walOf(older?.files ?? {}) }
    const { refusal } = await openAndRead(folderWith(folder.path, files))
    expect(String(refusal)).toContain('its write-ahead log is an older copy')
  })

  test('of the log is refused beside a newer write-ahead log', async () => {
    const { 'log.witness': _, ...newer } = lastOf(reopened).files
    const { refusal } = await openAndRead(folderWith(folder.path, { ...newer, ...pick(fresh[0]?.files, 'log.db') }))
    expect(String(refusal)).toContain('is neither in its file nor in its write-ahead log')
  })

  test('of the log is refused and left alone when SQLite cannot read its schema', async () => {
    const { 'log.witness': _, 'log.db': whole = Buffer.alloc(0), ...newer } = lastOf(reopened).files
    const old = whole.subarray(0, pageBytes)
    const dataDir = folderWith(folder.path, { ...newer, 'log.db': old })
    const { refusal } = await openAndRead(dataDir)
    expect(String(refusal)).toContain(
      'is neither in its file nor in its write-ahead log; SQLite cannot read what is left',
    )
    expect(readFileSync(join(dataDir, 'log.db')).equals(old)).toBeTrue()
  })

  test('of a closed log is refused beside a newer witness, and says what is missing', async () => {
    const old = await closed(older().files)
    const files = { ...old, ...pick(lastOf(reopened).files, 'log.witness') }
    const { refusal } = await openAndRead(folderWith(folder.path, files))
    expect(refusal).toBeInstanceOf(LogEndMissing)
    const [from, to] = [older().events.at(-1), lastOf(reopened).events.at(-1)].map((event) =>
      Number(event?.split(' ')[0]),
    )
    expect(String(refusal)).toContain(`Positions ${Number(from) + 1} to ${to} are missing`)
    expect(String(refusal)).toContain('--accept-missing-events')
  })

  test('is accepted with its own older files, or with an older witness', async () => {
    const { files, events } = older()
    expect(await openAndRead(folderWith(folder.path, files))).toEqual({ refusal: null, warnings: [], events })
    const newer = lastOf(reopened)
    const dataDir = folderWith(folder.path, { ...newer.files, ...pick(fresh.at(3)?.files, 'log.witness') })
    expect(await openAndRead(dataDir)).toEqual({ refusal: null, warnings: [], events: newer.events })
  })
})

describe('the check beside a running log', () => {
  const saltsIn = (path: string): Buffer => readFileSync(`${path}-wal`).subarray(saltsAt, saltsAt + saltsBytes)

  test('never alarms while the write-ahead log begins anew', async () => {
    const dataDir = folderWith(folder.path, {})
    const path = join(dataDir, 'log.db')
    await openSqliteLog({ dataDir }).close()
    const writer = new Worker(`data:text/javascript,${encodeURIComponent(growingWriter)}`)
    const { promise: begun, resolve } = Promise.withResolvers<void>()
    writer.onmessage = () => resolve()
    writer.postMessage(path)
    await begun
    using reader = new Database(path)
    const witness = new WitnessFile(join(dataDir, 'log.witness'), 'a'.repeat(36))
    for (let look = 0; look < timesToTry(1_000, 5_000); look += 1) {
      const before = saltsIn(path)
      const { pages } = copyWal(reader, 'NOOP')
      if (pages >= 0 && saltsIn(path).equals(before)) witness.write({ position: 0, recordedAt: 0 }, before, pages)
      expect([look, findMissingEnd(path, {})]).toEqual([look, null])
    }
    witness.close()
    writer.terminate()
  })

  test('does not miss the page of the locks, in a log of 1 GiB', async () => {
    const dataDir = folderWith(folder.path, {})
    const path = join(dataDir, 'log.db')
    await openSqliteLog({ dataDir }).close()
    const header = readFileSync(path)
    header.writeUInt32BE(lockByte / pageBytes, 28)
    writeFileSync(path, header)
    truncateSync(path, lockByte)
    const log = openSqliteLog({ dataDir })
    await ensureLogCreated(log, manualClock(), seededEntropy())
    await log.append('key-a', 'none', keySuspensions(40))
    expect(statSync(path).size).toBe(lockByte)
    expect(findMissingEnd(path, {})).toBeNull()
    await log.close()
    expect(statSync(path).size).toBeGreaterThan(lockByte + pageBytes)
  })
})

test('a log without an id is opened beside a model of another log', async () => {
  const dataDir = folderWith(folder.path, {})
  await openSqliteLog({ dataDir }).close()
  const marks = () => [{ source: 'ask.db', logId: 'another', position: 9, event: 'revision 3 of "key-one"' }]
  expect((await openAndRead(dataDir, { marks })).refusal).toBeNull()
})

describe('a log whose end is missing', () => {
  const damaged = (): string => changed(lastOf(reopened).files, (wal) => wal.subarray(0, 20_000))

  test('keeps its evidence when it is refused', async () => {
    const dataDir = damaged()
    const before = readFileSync(join(dataDir, 'log.db-wal'))
    expect((await openAndRead(dataDir)).refusal).toBeInstanceOf(LogEndMissing)
    expect(readFileSync(join(dataDir, 'log.db-wal')).equals(before)).toBeTrue()
    expect((await openAndRead(dataDir)).refusal).toBeInstanceOf(LogEndMissing)
  })

  test('is opened when a person accepts that', async () => {
    const dataDir = damaged()
    const told: MissingEnd[] = []
    const found = await openAndRead(dataDir, { acceptMissing: (missing) => told.push(missing) })
    expect(found.refusal).toBeNull()
    expect(told).toHaveLength(1)
    expect(told[0]?.lastPosition).toBe(Number(found.events.at(-1)?.split(' ')[0]))
    expect(told[0]?.knownPosition).toBe(Number(lastOf(reopened).events.at(-1)?.split(' ')[0]))
  })
})

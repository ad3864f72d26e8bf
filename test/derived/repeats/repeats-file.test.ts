import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { cpSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type AppendRow, appendChecksum, appendColumns } from '../../../src/derived/repeats/append-row.ts'
import {
  type IdempotentAppend,
  idempotentAppendAt,
  type Judgement,
} from '../../../src/domain/reading/idempotency-key.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { type DerivedHere, derivedHere } from '../../support/derived/derived-here.ts'
import { createMemoryLog } from '../../support/logs/memory-log.ts'
import { reading } from '../../support/logs/sample-events.ts'
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary-folder.ts'
import { manualClock } from '../../support/time/manual-clock.ts'
import { until } from '../../support/time/until.ts'

setDefaultTimeout(120_000)

const stream = 'readings-one'
const bounds = { readingAgeMsMax: null, readingAheadMsMax: 1, retentionMs: 2 }
const refusals: readonly (Judgement | null)[] = [null, { rejected: 9, rules: 1, atMs: 5, bounds }]

/** The hashes are in the order of the numbers. */
const keyHash = (number: number): string => number.toString(16).padStart(4, '0').repeat(16)

let folder: TemporaryFolder
let log: EventLog
let revision: number
let opened: DerivedHere[]

beforeEach(async () => {
  folder = temporaryFolder()
  log = createMemoryLog()
  revision = -1
  opened = []
  await add([1, 3, 5, 7, 9, 11])
})
afterEach(async () => {
  for (const one of opened) await end(one)
  folder.remove()
})

const add = async (numbers: readonly number[]): Promise<void> => {
  for (const number of numbers) {
    const event = reading(stream)
    const kept = refusals[number % refusals.length] ?? null
    const batch = number === 1 ? null : { accepted: 7, refusals: kept }
    const idempotency = { keyHash: keyHash(number), bodyHash: 'b0'.repeat(32), batch }
    const metadata = { ...event.metadata, idempotency }
    await log.append(stream, revision < 0 ? 'none' : revision, [{ ...event, metadata }])
    revision += 1
  }
}

const appends = async (): Promise<readonly IdempotentAppend[]> =>
  (await log.readAll({ limit: 1_000 })).flatMap((event) => idempotentAppendAt(event) ?? [])

const lastPosition = async (): Promise<number> =>
  (await log.readAll({ direction: 'backwards', limit: 1 }))[0]?.position ?? -1

const start = (options: { readonly logId?: string; readonly path?: string } = {}): DerivedHere => {
  const { path = folder.path, ...rest } = options
  const one = derivedHere(log, { clock: manualClock(), folder: { path, remove: () => {} }, ...rest })
  opened.push(one)
  one.store.start()
  return one
}

/** Waits until the file has the whole log. */
const committed = async ({ store, repeats }: DerivedHere): Promise<void> => {
  const position = await lastPosition()
  await until(() => {
    store.hurry('idempotency', position)
    return repeats.foldedTo === position
  })
}

const end = async (one: DerivedHere): Promise<void> => {
  opened = opened.filter((each) => each !== one)
  await one.store.stop()
  one.close()
}

/** A file of a service that has ended. */
const makeFile = async (): Promise<string> => {
  const one = start()
  await committed(one)
  await end(one)
  return join(folder.path, 'idempotency.db')
}

const replaced = ({ told }: DerivedHere): readonly string[] =>
  told.flatMap((one) => (one.kind === 'replaced' && one.model === 'idempotency' ? [one.why] : []))

const expectWhole = async (one: DerivedHere): Promise<void> => {
  for (const append of await appends()) {
    expect(one.repeats.find(stream, append.idempotency.keyHash)).toEqual(append)
  }
}

const harm = (path: string, how: string | ((database: Database) => void)): void => {
  const database = new Database(path)
  if (typeof how === 'string') database.run(how)
  else how(database)
  database.close()
}

/** Writes a copy of a row with other values and a right checksum. */
const copyRow = (database: Database, from: number, to: Partial<AppendRow>): void => {
  const select = `SELECT ${appendColumns} FROM appends WHERE revision = ?`
  const row = database.query<AppendRow, [number]>(select).get(from)
  if (row === null) throw new Error(`The file has no revision ${from}`)
  const changed = { ...row, ...to }
  const { key_hash, stream, revision, recorded_at, body_hash, batch } = changed
  const values = [key_hash, stream, revision, recorded_at, body_hash, batch, appendChecksum(changed)]
  database.run(`REPLACE INTO appends (${appendColumns}) VALUES (?, ?, ?, ?, ?, ?, ?)`, values)
}

describe('idempotency.db', () => {
  test('has every append with each detail, in its stream only', async () => {
    const one = start()
    await committed(one)
    await expectWhole(one)
    expect(one.repeats.find('readings-two', keyHash(1))).toBeNull()
    expect(one.repeats.find(stream, keyHash(2))).toBeNull()
    expect(statSync(join(folder.path, 'idempotency.db')).mode & 0o777).toBe(0o600)
  })

  test('survives a restart, and goes on from there', async () => {
    await makeFile()
    await add([2])
    const one = start()
    await committed(one)
    await expectWhole(one)
    expect(replaced(one)).toEqual([])
  })

  const countWhy = (count: number): string => `it has ${count} rows, but must have 6`
  const damages: readonly [title: string, harm: string | ((database: Database) => void), why: string][] = [
    ['a row was deleted', 'DELETE FROM appends WHERE revision = 2', countWhy(5)],
    ['all rows were deleted', 'DELETE FROM appends', countWhy(0)],
    [
      'a row was moved away by its hash',
      `UPDATE appends SET key_hash = x'${keyHash(99)}' WHERE revision = 2`,
      'a row does not match its checksum',
    ],
    ['a row was inserted', (database) => copyRow(database, 2, { stream: 'readings-two' }), countWhy(7)],
    ['a row is an older one', (database) => copyRow(database, 2, { revision: 9 }), 'its rows do not match the sum'],
    ['the total was deleted', 'DELETE FROM total', 'its row of "total"'],
    ['the total was changed', 'UPDATE total SET append_count = 5', 'its row of "total"'],
    ['the head was changed', 'UPDATE head SET position = position - 1', 'its head does not match its checksum'],
    ['the head was deleted', 'DELETE FROM head', 'its row of "total"'],
    ['it has another format', 'PRAGMA user_version = 4', 'it has format 4'],
  ]
  test.each(damages)('is built again at a start if %s', async (_, how, why) => {
    harm(await makeFile(), how)
    const one = start()
    await committed(one)
    expect(replaced(one)).toEqual([expect.stringContaining(why)])
    await expectWhole(one)
  })

  test('is built again if two rows of a page are out of order', async () => {
    const file = await makeFile()
    const bytes = readFileSync(file)
    const root = new Database(file, { readonly: true })
    const page = root.query<{ rootpage: number }, []>("SELECT rootpage FROM sqlite_schema WHERE name = 'appends'").get()
    root.close()
    // The places of the first two rows of a page are in its bytes 8 to 11.
    const at = ((page?.rootpage ?? 0) - 1) * 4_096 + 8
    const place = bytes.readUInt16BE(at)
    bytes.copyWithin(at, at + 2, at + 4)
    bytes.writeUInt16BE(place, at + 2)
    writeFileSync(file, bytes)
    const one = start()
    await committed(one)
    expect(replaced(one)).toEqual([expect.stringContaining('not in order')])
    await expectWhole(one)
  })

  test.each([
    ['is no database', (file: string) => writeFileSync(file, 'once there was a file')],
    ['ends too early', (file: string) => writeFileSync(file, readFileSync(file).subarray(0, 4_096))],
    ['was deleted', (file: string) => rmSync(file)],
  ])('is built again at a start if it %s', async (_, how) => {
    how(await makeFile())
    const one = start()
    await committed(one)
    await expectWhole(one)
  })

  test('is built again for another log', async () => {
    await makeFile()
    const one = start({ logId: 'another log' })
    await committed(one)
    expect(replaced(one)).toEqual(['it was folded from another log'])
    await expectWhole(one)
  })

  const columns: readonly [column: string, sql: string][] = [
    ['key_hash', `UPDATE appends SET key_hash = x'${keyHash(8)}' WHERE revision = 4`],
    ['key_hash upwards', `UPDATE appends SET key_hash = x'${keyHash(10)}' WHERE revision = 4`],
    ['stream upwards', "UPDATE appends SET stream = 'readings-onf' WHERE revision = 4"],
    ['stream', "UPDATE appends SET stream = 'readings-ond' WHERE revision = 4"],
    ['revision', 'UPDATE appends SET revision = 8 WHERE revision = 4'],
    ['recorded_at', 'UPDATE appends SET recorded_at = 9 WHERE revision = 4'],
    ['body_hash', `UPDATE appends SET body_hash = x'${'b1'.repeat(32)}' WHERE revision = 4`],
    ['batch', `UPDATE appends SET batch = '{"accepted":1,"refusals":null}' WHERE revision = 4`],
    ['checksum', 'UPDATE appends SET checksum = checksum + 1 WHERE revision = 4'],
  ]
  test.each(columns)('is built again if a look-up finds another %s', async (_, sql) => {
    const one = start()
    await committed(one)
    harm(join(folder.path, 'idempotency.db'), sql)
    expect(one.repeats.find(stream, keyHash(9))).toBe('unknown')
    expect(one.repeats.foldedTo).toBeNull()
    await committed(one)
    expect(replaced(one)).toEqual(['a row does not match its checksum'])
    await expectWhole(one)
  })

  test('is built again if somebody puts an older copy in its place', async () => {
    const file = await makeFile()
    const copy = join(folder.path, 'copy')
    cpSync(file, copy)
    await add([2])
    const one = start()
    await committed(one)
    for (const each of [file, `${file}-wal`, `${file}-shm`]) rmSync(each, { force: true })
    cpSync(copy, file)
    expect(one.repeats.find(stream, keyHash(2))).toBe('unknown')
    await committed(one)
    await expectWhole(one)
  })

  test('never loses a row to a zeroed sector in silence', async () => {
    await add(Array.from({ length: 30 }, (_, number) => 20 + number))
    const file = await makeFile()
    const all = await appends()
    const sound = readFileSync(file)
    let told = 0
    for (let at = 4_096; at < sound.length; at += 512) {
      writeFileSync(file, Uint8Array.from(sound).fill(0, at, at + 512))
      const one = start()
      await committed(one)
      for (const append of all) {
        const found = one.repeats.find(stream, append.idempotency.keyHash)
        if (found === 'unknown') break
        if (!Bun.deepEquals(found, append)) expect([at, found]).toEqual([at, append])
      }
      told += one.told.length
      await end(one)
      rmSync(file)
    }
    expect(told).toBeGreaterThan(0)
  })
})

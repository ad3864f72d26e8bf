import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DamagedLog } from '../../../src/log/event-log.ts'
import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import { LogEndMissing, type MissingEnd } from '../../../src/log/tail/missing-end.ts'
import { timesToTry } from '../../support/long-trials.ts'
import { seededNumbers } from '../../support/seeded-entropy.ts'
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary-folder.ts'
import { type Files, folderWith, type Moment, momentsOf, openAndRead } from './killed-log.ts'

setDefaultTimeout(600_000)

const commits = 40
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
    expect(refusal).toBeInstanceOf(DamagedLog)
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

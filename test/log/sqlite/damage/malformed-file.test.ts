import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../../../src/domain/error-message.ts'
import { NotACellarbookLog } from '../../../../src/log/data-folder.ts'
import { DamagedLog, type EventLog } from '../../../../src/log/event-log.ts'
import { ensureLogCreated } from '../../../../src/log/log-identity.ts'
import { FileReads } from '../../../../src/log/sqlite/reads/file-reads.ts'
import { openSqliteLog } from '../../../../src/log/sqlite/sqlite-log.ts'
import { findMissingEnd, type Mark } from '../../../../src/log/tail/missing-end.ts'
import { WitnessWriter } from '../../../../src/log/tail/witness-writer.ts'
import { keySuspensions } from '../../../support/logs/sample-events.ts'
import { seededEntropy } from '../../../support/seeded-entropy.ts'
import { type TemporaryFolder, temporaryFolder } from '../../../support/temporary-folder.ts'
import { manualClock } from '../../../support/time/manual-clock.ts'
import { commitsHere } from '../commits-here.ts'

const remedy = 'estore a backup into an empty data folder'
const pageBytes = 2_048

let folder: TemporaryFolder
let sound: Uint8Array
let pages: ReadonlyMap<string, number>
/** A page of rows that are not the last. */
let middle: number
let logId: string

const open = (dataDir: string): EventLog => openSqliteLog({ dataDir, commits: commitsHere(() => {}) })

beforeAll(async () => {
  folder = temporaryFolder()
  const log = open(folder.path)
  logId = await ensureLogCreated(log, manualClock(), seededEntropy())
  for (const stream of ['key-one', 'key-two']) await log.append(stream, 'none', keySuspensions(50))
  for (let other = 0; other < 40; other += 1) await log.append(`key-other-${other}`, 'none', keySuspensions(5))
  await log.close()
  const file = join(folder.path, 'log.db')
  using database = new Database(file)
  const found = database.query<{ name: string; rootpage: number }, []>('SELECT name, rootpage FROM sqlite_schema').all()
  pages = new Map(found.map(({ name, rootpage }) => [name, rootpage]))
  const leaves = "SELECT pageno FROM dbstat WHERE name = 'events' AND pagetype = 'leaf' ORDER BY path"
  middle = database.query<{ pageno: number }, []>(leaves).all().at(4)?.pageno ?? 0
  sound = readFileSync(file)
})
afterAll(() => folder.remove())

/** Overwrites a page, and returns the folder of the harmed file. */
const harmed = (page: number, name: string): string => {
  const dataDir = join(folder.path, name)
  mkdirSync(dataDir, { mode: 0o700 })
  const at = (page - 1) * pageBytes
  writeFileSync(join(dataDir, 'log.db'), Uint8Array.from(sound).fill(0xa5, at, at + pageBytes), { mode: 0o600 })
  return dataDir
}

const faultOf = (work: () => unknown): unknown => {
  try {
    return work()
  } catch (cause) {
    return cause
  }
}

describe('a file that SQLite finds malformed', () => {
  test('is damage at the opening if the opening reads the page', () => {
    const fault = faultOf(() => open(harmed(pages.get('events') ?? 0, 'events')))
    expect(fault).toBeInstanceOf(DamagedLog)
    expect(messageOf(fault)).toContain(remedy)
    expect(messageOf(fault)).toMatch(/^The log is damaged: Cannot open .* malformed/)
  })

  test('is damage to a read of that page, and a trouble that refuses nothing else', async () => {
    const dataDir = harmed(pages.get('sqlite_autoindex_streams_1') ?? 0, 'names')
    const log = open(dataDir)
    const fault = await log.read('key-one', { limit: 1 }).catch((cause: unknown) => cause)
    expect(fault).toBeInstanceOf(DamagedLog)
    const what = `Cannot read "key-one" in "${join(dataDir, 'log.db')}": database disk image is malformed`
    expect(messageOf(fault)).toBe(`The log is damaged: ${what}. Check the disk, and r${remedy}`)
    expect(log.troubles?.()).toEqual([{ kind: 'damaged', why: messageOf(fault) }])
    expect(await log.readAll({ limit: 100 })).toHaveLength(100)
    await log.close()
  })

  test('stops neither commits nor the check of the end if it is in the middle', async () => {
    const dataDir = harmed(middle, 'middle')
    const log = openSqliteLog({ dataDir })
    expect(await log.append('key-three', 'none', keySuspensions(1))).toMatchObject({ outcome: 'written' })
    expect([log.health(), log.troubles?.()]).toEqual([{ ok: true }, []])
    await log.close()
    const mark: Mark = { source: 'a file', logId, position: 1_000, event: 'known' }
    expect(findMissingEnd(join(dataDir, 'log.db'), { marks: () => [mark] })).toMatchObject({ knownPosition: 1_000 })
  })

  test('is a trouble of the log when another connection has met it', async () => {
    const dataDir = harmed(middle, 'met')
    const log = openSqliteLog({ dataDir })
    const reads = new FileReads(join(dataDir, 'log.db'))
    const fault = await reads.readAll({ limit: 1_000 }).catch((cause: unknown) => cause)
    reads.close()
    if (!(fault instanceof DamagedLog)) throw new Error('The read has not met the page')
    log.noteDamage?.(fault)
    expect([log.health(), log.troubles?.()]).toEqual([{ ok: true }, [{ kind: 'damaged', why: fault.message }]])
    await log.close()
  })

  test('does not end the thread that keeps the witness', () => {
    const logPath = join(harmed(pages.get('events') ?? 0, 'witness'), 'log.db')
    using database = new Database(logPath)
    const witness = new WitnessWriter(logPath, database)
    expect(witness.fault).toContain('malformed')
    witness.written({ position: 1, recordedAt: 1 }, { pages: 0, copied: 0 })
    expect(witness.fault).toContain('malformed')
  })

  test('is told with the remedy if it is no database any more', () => {
    const fault = faultOf(() => open(harmed(1, 'header')))
    expect(fault).toBeInstanceOf(NotACellarbookLog)
    expect(messageOf(fault)).toContain(remedy)
  })
})

import { type Database, SQLiteError } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RecordedEvent } from '../../../../src/domain/events.ts'
import { DamagedLog, type EventLog, Outage } from '../../../../src/log/event-log.ts'
import { openSqliteLog } from '../../../../src/log/sqlite/sqlite-log.ts'
import { caughtUp, collect, dropped } from '../../../support/logs/collector.ts'
import { harmLog } from '../../../support/logs/harm.ts'
import { keySuspensions, reading } from '../../../support/logs/sample-events.ts'
import { type TemporaryFolder, temporaryFolder } from '../../../support/temporary-folder.ts'
import { commitsHere } from '../commits-here.ts'

const streams = ['key-one', 'readings-one', 'key-two', 'readings-two']
let folder: TemporaryFolder
let dataDir: string
let file: string
let sound: Uint8Array
let truth: Answers

const open = (): EventLog => openSqliteLog({ dataDir, commits: commitsHere(() => {}) })

let trial = 0
/** Each trial has a folder of its own, because a log that cannot be opened may keep its file open. */
const enterNewFolder = (): void => {
  trial += 1
  dataDir = join(folder.path, `trial-${trial}`)
  mkdirSync(dataDir, { mode: 0o700 })
  file = join(dataDir, 'log.db')
}

beforeAll(async () => {
  folder = temporaryFolder()
  enterNewFolder()
  const log = open()
  const readings = (stream: string) => [reading(stream), reading(stream)]
  await log.append('key-one', 'none', keySuspensions(3))
  await log.append('readings-one', 'none', readings('readings-one'))
  await log.append('key-two', 'none', keySuspensions(1))
  await log.append('key-one', 2, keySuspensions(1))
  await log.append('readings-one', 1, readings('readings-one'))
  await log.append('readings-two', 'none', readings('readings-two'))
  await log.append('key-two', 0, keySuspensions(1))
  await log.append('key-one', 3, keySuspensions(1))
  await log.append('readings-one', 3, readings('readings-one'))
  await log.append('readings-two', 1, readings('readings-two'))
  truth = await answersOf(log)
  await log.close()
  sound = readFileSync(file)
})
afterAll(() => folder.remove())

type Answers = ReadonlyMap<string, readonly RecordedEvent[] | Error>

const followed = async (log: EventLog, after: number | null): Promise<readonly RecordedEvent[]> => {
  const follower = collect(log, { after })
  await follower.until((collected) => caughtUp(collected) || dropped(collected))
  follower.subscription.unsubscribe()
  const last = follower.told.at(-1)
  if (typeof last === 'object' && 'dropped' in last) throw last.dropped
  return follower.events
}

const orError = <T>(work: Promise<T>): Promise<T | Error> =>
  work.catch((cause: unknown) => (cause instanceof Error ? cause : new Error(String(cause))))

/** What each kind of read answers: events, or the error. */
const answersOf = async (log: EventLog): Promise<Answers> => {
  const answers = new Map<string, readonly RecordedEvent[] | Error>()
  for (const direction of ['forwards', 'backwards'] as const) {
    answers.set(`all ${direction}`, await orError(log.readAll({ direction, limit: 100 })))
    for (const stream of streams) {
      answers.set(`${stream} ${direction}`, await orError(log.read(stream, { direction, limit: 100 })))
    }
  }
  for (const after of [null, 4]) answers.set(`after ${after}`, await orError(followed(log, after)))
  return answers
}

/** Opens the changed file and reads everything. An error of the opening is the answer to each read. */
const answersNow = async (): Promise<Answers> => {
  let log: EventLog
  try {
    log = open()
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause
    return new Map([...truth.keys()].map((read) => [read, cause]))
  }
  const answers = await answersOf(log)
  await log.close()
  return answers
}

const restore = (): void => {
  enterNewFolder()
  writeFileSync(file, sound, { mode: 0o600 })
}

const after = (change: (database: Database) => void): Promise<Answers> => {
  restore()
  harmLog(dataDir, change)
  return answersNow()
}

/**
 * Every read tells the truth or names the damage. Returns the names of the reads that told it. `shortened` is a stream
 * whose last row is missing: a read of this stream alone does not find that.
 */
const toldBy = (answers: Answers, shortened = ''): readonly string[] => {
  const told: string[] = []
  for (const [read, answer] of answers) {
    if (answer instanceof Error) {
      expect(answer).toBeInstanceOf(Outage)
      told.push(read)
    } else if (!read.startsWith(`${shortened} `))
      expect(Bun.deepEquals(answer, truth.get(read)) ? null : read).toBeNull()
  }
  return told
}

const damageOf = (answers: Answers, read: string): string => {
  const answer = answers.get(read)
  expect(answer).toBeInstanceOf(DamagedLog)
  return answer instanceof DamagedLog ? answer.message : ''
}

describe('an undamaged log', () => {
  test('is read without an alarm', async () => {
    expect(toldBy(await after(() => {}))).toEqual([])
    expect(truth.get('all forwards')).toHaveLength(17)
    expect(truth.get('after null')).toHaveLength(17)
  })
})

type Column = 'position' | 'stream' | 'revision' | 'count' | 'recorded_at' | 'checksum'
type NumbersOfRow = Readonly<Record<Column, number>>

const numbersAt = (database: Database, position: number): NumbersOfRow => {
  const row = database.query<NumbersOfRow, [number]>('SELECT * FROM events WHERE position = ?').get(position)
  if (row === null) throw new Error(`There is no row at position ${position}`)
  return row
}

/** A row of JSON events in the middle, a packed row in the middle, and the last row. */
const positions = [7, 8, 16]

describe('a flipped bit', () => {
  const columns: readonly Column[] = ['position', 'stream', 'revision', 'count', 'recorded_at', 'checksum']
  test.each(columns)('in %s is told', async (column) => {
    let trials = 0
    for (const position of positions) {
      for (const bit of [0n, 1n, 2n, 5n, 13n, 31n, 47n]) {
        let isChanged = true
        const answers = await after((database) => {
          const flipped = BigInt(numbersAt(database, position)[column]) ^ (1n << bit)
          try {
            database.run(`UPDATE events SET ${column} = ? WHERE position = ?`, [flipped, position])
          } catch (cause) {
            // Another row has this position, or this revision of this stream.
            if (!(cause instanceof SQLiteError && cause.code?.startsWith('SQLITE_CONSTRAINT'))) throw cause
            isChanged = false
          }
        })
        if (!isChanged) continue
        trials += 1
        expect(toldBy(answers)).toContain('all forwards')
      }
    }
    expect(trials).toBeGreaterThan(10)
  })

  test.each(positions)('in the body of the row at position %i is told', async (position) => {
    for (const share of [0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99]) {
      const answers = await after((database) => {
        const select = 'SELECT CAST(body AS BLOB) AS body, typeof(body) AS type FROM events WHERE position = ?'
        const row = database.query<{ body: Uint8Array; type: 'text' | 'blob' }, [number]>(select).get(position)
        if (row === null) throw new Error(`There is no row at position ${position}`)
        const at = Math.floor(row.body.length * share)
        row.body[at] = (row.body[at] ?? 0) ^ (1 << (at % 8))
        database.run(`UPDATE events SET body = CAST(? AS ${row.type}) WHERE position = ?`, [row.body, position])
      })
      expect(toldBy(answers)).toContain('all forwards')
    }
  })
})

const missing = (position: number): string => `DELETE FROM events WHERE position = ${position}`
const swap = (column: string, [one, two]: readonly [number, number]): string => `
  CREATE TEMP TABLE swapped AS SELECT position, ${column} FROM events WHERE position IN (${one}, ${two});
  UPDATE events SET ${column} = (SELECT ${column} FROM swapped WHERE swapped.position <> events.position)
    WHERE position IN (${one}, ${two});
`

type Change = {
  readonly title: string
  readonly sql: string
  readonly read: string
  readonly says: string
  readonly shortened?: string
}
const changes: readonly Change[] = [
  {
    title: 'bodies swapped',
    sql: swap('body', [4, 8]),
    read: 'readings-one forwards',
    says: 'revision 0 of "readings-one", position 4: the row does not match its checksum',
  },
  {
    title: 'bodies and checksums swapped',
    sql: `${swap('body', [4, 8])} DROP TABLE swapped; ${swap('checksum', [4, 8])}`,
    read: 'all backwards',
    says: 'revision 2 of "readings-one", position 8',
  },
  {
    title: 'revisions swapped',
    sql: 'UPDATE events SET revision = 90 WHERE position = 4; UPDATE events SET revision = 0 WHERE position = 8; UPDATE events SET revision = 2 WHERE position = 4',
    read: 'readings-one backwards',
    says: 'revision 2 of "readings-one", position 4: the row does not match its checksum',
  },
  {
    title: 'a row moved to another stream',
    shortened: 'key-one',
    sql: 'UPDATE events SET stream = 3, revision = 2 WHERE position = 13',
    read: 'key-two forwards',
    says: 'revision 2 of "key-two", position 13',
  },
  {
    title: 'a row moved to another position',
    sql: 'UPDATE events SET position = 40 WHERE position = 6',
    read: 'key-two backwards',
    says: 'revision 0 of "key-two", position 40',
  },
  {
    title: 'streams with swapped names',
    sql: "UPDATE streams SET name = 'x' WHERE id = 1; UPDATE streams SET name = 'key-one' WHERE id = 3; UPDATE streams SET name = 'key-two' WHERE id = 1",
    read: 'key-one forwards',
    says: 'revision 0 of "key-one", position 6',
  },
  {
    title: 'a row of no stream',
    sql: 'UPDATE events SET stream = 9 WHERE position = 10',
    read: 'after null',
    says: 'position 10: its stream 9 does not exist',
  },
  {
    title: 'a row missing in its stream',
    sql: missing(8),
    read: 'readings-one forwards',
    says: 'revision 2 of "readings-one", position 14: the events up to revision 3 are missing',
  },
  {
    title: 'a row missing in its stream, read backwards',
    sql: missing(8),
    read: 'readings-one backwards',
    says: 'revision 2 of "readings-one", position 4: the events up to revision 3 are missing',
  },
  {
    title: 'the last row of a stream missing',
    shortened: 'key-two',
    sql: missing(12),
    read: 'after null',
    says: 'the events at positions 12 to 12 are missing',
  },
  {
    title: 'the last row of a stream missing, read backwards',
    shortened: 'key-two',
    sql: missing(12),
    read: 'all backwards',
    says: 'the events at positions 12 to 12 are missing',
  },
  {
    title: 'the first row of a stream missing',
    sql: missing(6),
    read: 'key-two backwards',
    says: 'revision 0 of "key-two": the events from revision 0 on are missing',
  },
  {
    title: 'the first row of the log missing',
    sql: missing(1),
    read: 'all forwards',
    says: 'the events at positions 1 to 3 are missing',
  },
  {
    title: 'all rows of a stream missing',
    sql: 'DELETE FROM events WHERE stream = 3',
    read: 'key-two forwards',
    says: 'revision 0 of "key-two": all its events are missing',
  },
  {
    title: 'the last row of the log changed',
    sql: 'UPDATE events SET count = 3 WHERE position = 16',
    read: 'after 4',
    says: 'revision 2 of "readings-two", position 16: the row does not match its checksum',
  },
]

describe('a log that somebody has changed', () => {
  test.each([...changes])('names the damage: $title', async ({ sql, read, says, shortened }: Change) => {
    const answers = await after((database) => database.run(sql))
    toldBy(answers, shortened)
    expect(damageOf(answers, read)).toContain(says)
    expect(damageOf(answers, read)).toEndWith('restore a backup into an empty data folder')
  })

  test('names an inserted row', async () => {
    const answers = await after((database) => {
      database.run(
        'INSERT INTO events SELECT 40, 2, 6, count, recorded_at, body, checksum FROM events WHERE position = 14',
      )
    })
    expect(damageOf(answers, 'all forwards')).toContain('revision 6 of "readings-one", position 40')
  })

  test('names a changed mark of truncated events', async () => {
    restore()
    const log = open()
    await log.truncate('readings-one', 2)
    await log.close()
    harmLog(dataDir, (database) => database.run('UPDATE truncations SET kept_from = 3'))
    const answers = await answersNow()
    const says = 'revision 3 of "readings-one": the mark of its truncated events does not match its checksum'
    expect(damageOf(answers, 'readings-one forwards')).toContain(says)
  })

  test('refuses only the appends that need the damaged events', async () => {
    restore()
    harmLog(dataDir, (database) => database.run('UPDATE events SET recorded_at = 7 WHERE position = 12'))
    const log = open()
    const [damaged, sound] = await Promise.all([
      orError(log.append('key-two', 1, keySuspensions(1))),
      orError(log.append('key-one', 4, keySuspensions(1))),
    ])
    expect(damaged).toBeInstanceOf(DamagedLog)
    expect(sound).toMatchObject({ outcome: 'written' })
    expect(log.troubles?.()).toEqual([{ kind: 'damaged', why: expect.stringContaining('revision 1 of "key-two"') }])
    await log.close()
  })
})

describe('a zeroed sector', () => {
  test('never changes an answer in silence', async () => {
    const sector = 512
    let told = 0
    for (let at = 2_048; at < sound.length; at += sector) {
      restore()
      writeFileSync(file, Uint8Array.from(sound).fill(0, at, at + sector))
      if (toldBy(await answersNow()).length > 0) told += 1
    }
    expect(told).toBeGreaterThan(5)
  })
})

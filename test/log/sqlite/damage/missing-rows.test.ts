import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { NewEvent } from '../../../../src/domain/events.ts'
import { readPageEventsMax } from '../../../../src/limits.ts'
import { DamagedLog, type EventLog } from '../../../../src/log/event-log.ts'
import { pagesOfLog } from '../../../../src/log/pages-of-log.ts'
import { markChecksum } from '../../../../src/log/sqlite/reads/row-checksum.ts'
import { openSqliteLog } from '../../../../src/log/sqlite/sqlite-log.ts'
import { caughtUp, collect, dropped } from '../../../support/logs/collector.ts'
import { harmLog } from '../../../support/logs/harm.ts'
import { keySuspensions, reading } from '../../../support/logs/sample-events.ts'
import { type TemporaryFolder, temporaryFolder } from '../../../support/temporary-folder.ts'
import { commitsHere } from '../commits-here.ts'

const streams = ['cellar-a', 'operator-a', 'key-one', 'readings-one', 'readings-two']

let folder: TemporaryFolder
let dataDir: string
const soundDirs = { whole: '', truncated: '' }
type Kind = keyof typeof soundDirs
const kinds: readonly Kind[] = ['whole', 'truncated']

let trial = 0
const newDir = (): string => {
  trial += 1
  const dir = join(folder.path, `trial-${trial}`)
  mkdirSync(dir, { mode: 0o700 })
  return dir
}

const open = (dir = dataDir): EventLog => openSqliteLog({ dataDir: dir, commits: commitsHere(() => {}) })

const eventsOf = (stream: string, count: number): readonly NewEvent[] =>
  stream.startsWith('readings') ? Array.from({ length: count }, () => reading(stream)) : keySuspensions(count)

/** Three rows of each stream: revision 0, revisions 1 and 2, and revision 3. No stream ends at the end of the log. */
const fill = async (log: EventLog): Promise<void> => {
  for (const stream of streams) await log.append(stream, 'none', eventsOf(stream, 1))
  for (const stream of streams) await log.append(stream, 0, eventsOf(stream, 2))
  for (const stream of streams) await log.append(stream, 2, eventsOf(stream, 1))
  await log.append('key-two', 'none', eventsOf('key-two', 1))
}

beforeAll(async () => {
  folder = temporaryFolder()
  for (const kind of kinds) {
    soundDirs[kind] = newDir()
    const log = open(soundDirs[kind])
    await fill(log)
    // The first row is deleted, and half of the second one is hidden.
    if (kind === 'truncated') await log.truncate('readings-one', 2)
    await log.close()
  }
})
afterAll(() => folder.remove())

const restore = (kind: Kind): void => {
  dataDir = newDir()
  cpSync(soundDirs[kind], dataDir, { recursive: true })
}

const follow = async (log: EventLog, after: number | null): Promise<void> => {
  const follower = collect(log, { after })
  await follower.until((collected) => caughtUp(collected) || dropped(collected))
  follower.subscription.unsubscribe()
  const last = follower.told.at(-1)
  if (typeof last === 'object' && 'dropped' in last) throw last.dropped
}

const readPages = async (log: EventLog, limit: number): Promise<void> => {
  for await (const page of pagesOfLog(log, { after: null, limit })) expect(page.length).toBeGreaterThan(0)
}

const damageOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'no damage',
    (cause: unknown) => (cause instanceof DamagedLog ? cause.message : `no damage, but ${cause}`),
  )

/** Reads the whole log in each way. Returns the damage that each way told. */
const damageFound = async (): Promise<readonly string[]> => {
  const log = open()
  const found = [await damageOf(follow(log, null))]
  for (const limit of [1, 2, 3, 5, 7, 100]) found.push(await damageOf(readPages(log, limit)))
  await log.close()
  return found
}

const lastRowOf = (stream: string): string => `
  DELETE FROM events WHERE position =
    (SELECT max(position) FROM events WHERE stream = (SELECT id FROM streams WHERE name = '${stream}'))
`
const allRowsOf = (stream: string): string =>
  `DELETE FROM events WHERE stream = (SELECT id FROM streams WHERE name = '${stream}')`

/** Truncates "readings-one" before revision 3. Its rows stay. */
const raiseMark = (database: Database): void => {
  const stream = streams.indexOf('readings-one') + 1
  const checksum = markChecksum('readings-one', { stream, keptFrom: 3 })
  database.run('UPDATE truncations SET kept_from = 3, checksum = ?', [checksum])
}

describe.each([...kinds])('a %s log', (kind) => {
  test('is read without an alarm', async () => {
    restore(kind)
    expect(await damageFound()).toEqual(Array(7).fill('no damage'))
  })

  test.each([...streams])('names the missing last row of "%s"', async (stream) => {
    restore(kind)
    harmLog(dataDir, (database) => database.run(lastRowOf(stream)))
    for (const found of await damageFound()) {
      expect(found).toContain('The log is damaged')
      expect(found).toMatch(/missing/)
    }
  })

  test.each([...streams])('names "%s" if all its rows are missing', async (stream) => {
    restore(kind)
    harmLog(dataDir, (database) => database.run(allRowsOf(stream)))
    for (const found of await damageFound()) {
      // Without truncations, the missing positions are met first.
      if (kind === 'truncated') expect(found).toContain(`revision 0 of "${stream}": all its events are missing`)
      else expect(found).toMatch(/the events at positions \d+ to \d+ are missing/)
    }
    const log = open()
    expect(await damageOf(log.read(stream, { limit: 9 }))).toContain(`revision 0 of "${stream}": all its events`)
    await log.close()
  })

  test.each([...streams])('names the rows of "%s" if the row of that stream is missing', async (stream) => {
    restore(kind)
    harmLog(dataDir, (database) => database.run('DELETE FROM streams WHERE name = ?', [stream]))
    for (const found of await damageFound()) expect(found).toMatch(/its stream \d does not exist/)
  })

  test.each([...streams])('tells that "%s" is gone with its rows', async (stream) => {
    restore(kind)
    harmLog(dataDir, (database) => {
      database.run(allRowsOf(stream))
      database.run('DELETE FROM streams WHERE name = ?', [stream])
    })
    for (const found of await damageFound()) expect(found).toContain('The log is damaged')
  })
})

describe('a truncated log', () => {
  test('says how many events are missing, and where', async () => {
    restore('truncated')
    harmLog(dataDir, (database) => database.run(lastRowOf('key-one')))
    const why = '1 event is missing, but no purge has deleted it, between positions 4 and 18'
    expect(await damageFound()).toEqual(Array(7).fill(expect.stringContaining(why)))
  })

  test('names a mark that another program has inserted', async () => {
    restore('truncated')
    harmLog(dataDir, (database) => {
      database.run("INSERT INTO truncations SELECT id, 1, 7 FROM streams WHERE name = 'readings-two'")
      database.run(
        "DELETE FROM events WHERE revision = 0 AND stream = (SELECT id FROM streams WHERE name = 'readings-two')",
      )
    })
    for (const found of await damageFound()) expect(found).toContain('does not match its checksum')
  })

  test('names the missing last row of a stream that only has hidden rows', async () => {
    restore('truncated')
    harmLog(dataDir, (database) => {
      raiseMark(database)
      database.run(lastRowOf('readings-one'))
    })
    const log = open()
    for (const direction of ['forwards', 'backwards'] as const) {
      expect(await damageOf(log.read('readings-one', { direction, limit: 9 }))).toContain('"readings-one"')
    }
    await log.close()
  })
})

describe('a read of the whole log', () => {
  test('stays exact while a search reads single events', async () => {
    restore('truncated')
    harmLog(dataDir, (database) => database.run(lastRowOf('key-one')))
    const log = open()
    const readWhole = async (): Promise<void> => {
      for await (const _ of pagesOfLog(log, { after: null, limit: 5 })) {
        for (const from of [1, 3, 7, 9, 14]) await log.readAll({ from, limit: 1 })
      }
    }
    expect(await damageOf(readWhole())).toContain('1 event is missing')
    await log.close()
  })
})

describe('a truncation', () => {
  test.each([1, 2, 3, 5, 7])('between two pages of %i events gives no alarm', async (limit) => {
    for (let pagesBefore = 1; pagesBefore < 21 / limit; pagesBefore += 1) {
      for (const before of [1, 2, 3]) {
        restore('whole')
        const log = open()
        let pages = 0
        for await (const _ of pagesOfLog(log, { after: null, limit })) {
          pages += 1
          if (pages !== pagesBefore) continue
          await log.truncate('readings-one', before)
          await log.truncate('readings-two', 3)
        }
        await log.close()
      }
    }
  })
})

describe('a truncation of another process', () => {
  test('between two pages gives no alarm', async () => {
    restore('truncated')
    const log = open()
    // From here on, the log remembers what was truncated.
    await log.read('readings-one', { limit: 1 })
    let pages = 0
    for await (const _ of pagesOfLog(log, { after: null, limit: 6 })) {
      pages += 1
      if (pages !== 1) continue
      using database = new Database(join(dataDir, 'log.db'))
      raiseMark(database)
      database.run('DELETE FROM events WHERE revision < 3 AND stream = (SELECT stream FROM truncations)')
    }
    expect(pages).toBe(3)
    await log.close()
  })
})

describe('a log whose last page is full', () => {
  test('names the missing last row of a stream', async () => {
    dataDir = newDir()
    const log = open()
    for (const stream of ['readings-one', 'readings-two']) await log.append(stream, 'none', eventsOf(stream, 2))
    await log.append('readings-one', 1, eventsOf('readings-one', 1))
    await log.append('readings-two', 1, eventsOf('readings-two', readPageEventsMax))
    await log.truncate('readings-two', 2)
    await log.close()
    expect(await damageFound()).toEqual(Array(7).fill('no damage'))
    harmLog(dataDir, (database) => database.run(lastRowOf('readings-one')))
    expect(await damageFound()).toEqual(Array(7).fill(expect.stringContaining('1 event is missing')))
  })
})

describe('a killed process', () => {
  test('leaves a log without an alarm', async () => {
    dataDir = newDir()
    const log = open()
    await fill(log)
    await log.truncate('readings-one', 2)
    const left = newDir()
    for (const file of ['log.db', 'log.db-wal']) cpSync(join(dataDir, file), join(left, file))
    await log.append('readings-one', 3, eventsOf('readings-one', 1))
    await log.close()
    dataDir = left
    expect(await damageFound()).toEqual(Array(7).fill('no damage'))
  })
})

describe('the ends of streams that a node knows', () => {
  const known = new Map(streams.map((stream) => [stream, 3]))
  const openKnowing = (): EventLog => {
    const log = open()
    log.checkEnds?.((stream) => known.get(stream) ?? null)
    return log
  }
  const damagesOf = async (log: EventLog, stream: string): Promise<readonly string[]> => [
    await damageOf(log.read(stream, { limit: 9 })),
    await damageOf(log.read(stream, { from: 3, limit: 1 })),
    await damageOf(log.read(stream, { direction: 'backwards', limit: 1 })),
    await damageOf(log.read(stream, { direction: 'backwards', from: 3, limit: 9 })),
    await damageOf(log.append(stream, 2, eventsOf(stream, 1))),
  ]

  test.each([...kinds])('give no alarm for a sound %s log', async (kind) => {
    restore(kind)
    const log = openKnowing()
    for (const stream of streams) expect(await damagesOf(log, stream)).toEqual(Array(5).fill('no damage'))
    await log.close()
  })

  test.each([...streams])('show that the last row of "%s" is missing', async (stream) => {
    restore('truncated')
    harmLog(dataDir, (database) => database.run(lastRowOf(stream)))
    const log = openKnowing()
    const why = `revision 3 of "${stream}": the events from revision 3 to 3 are missing`
    expect(await damagesOf(log, stream)).toEqual(Array(5).fill(expect.stringContaining(why)))
    await log.close()
  })

  test.each([...streams])('show that "%s" is missing', async (stream) => {
    restore('truncated')
    harmLog(dataDir, (database) => database.run('DELETE FROM streams WHERE name = ?', [stream]))
    const log = openKnowing()
    const why = `revision 0 of "${stream}": the events from revision 0 to 3 are missing`
    expect(await damagesOf(log, stream)).toEqual(Array(5).fill(expect.stringContaining(why)))
    await log.close()
  })
})

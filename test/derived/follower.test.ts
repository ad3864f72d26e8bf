import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { modelAnewPauseMsMax, modelBehindMs, modelRetryPauseMsMax } from '../../src/derived/followed-model.ts'
import { followerFlushMsMax } from '../../src/derived/follower.ts'
import { modelPath } from '../../src/derived/model-file.ts'
import { modelRetryPauseMs } from '../../src/limits.ts'
import { type EventLog, Outage } from '../../src/log/event-log.ts'
import type { Source } from '../../src/log/source.ts'
import { type FollowedHere, followedHere, type Harm, positionsModel } from '../support/derived/followed-here.ts'
import { logSource } from '../support/derived/log-source.ts'
import { createMemoryLog } from '../support/logs/memory-log.ts'
import { freshKeyStream, keySuspended } from '../support/logs/sample-events.ts'
import { type TemporaryFolder, temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/time/until.ts'

let folder: TemporaryFolder
let log: EventLog
let running: FollowedHere[]

beforeEach(() => {
  folder = temporaryFolder()
  log = createMemoryLog()
  running = []
})
afterEach(async () => {
  for (const one of running) await one.end()
  folder.remove()
})

const addEvents = async (count: number): Promise<number> => {
  for (let added = 0; added < count; added += 1) await log.append(freshKeyStream(), 'none', [keySuspended()])
  const [last] = await log.readAll({ direction: 'backwards', limit: 1 })
  return last?.position ?? -1
}

type More = Partial<Parameters<typeof followedHere>[1]>

const follow = (harms: Readonly<Record<string, Harm>>, more: More = {}): FollowedHere => {
  const kinds = Object.entries(harms).map(([name, harm]) => positionsModel(name, harm))
  const followed = followedHere(log, { dataDir: folder.path, kinds, ...more })
  running.push(followed)
  return followed
}

/** The rows of a closed file must be the positions of the log, each once. */
const expectWhole = async (name: string, dataDir = folder.path): Promise<void> => {
  const database = new Database(modelPath(dataDir, name), { readonly: true })
  const rows = database.query<{ position: number }, []>('SELECT position FROM positions ORDER BY rowid').all()
  database.close()
  const events = await log.readAll({ limit: 1_000 })
  expect(rows.map(({ position }) => position)).toEqual(events.map(({ position }) => position))
}

const kindsTold = ({ told }: FollowedHere, kind: string): number => told.filter((one) => one.kind === kind).length

const troublesOf = ({ told }: FollowedHere, name: string): readonly (string | null)[] =>
  told
    .flatMap((one) => (one.kind === 'progress' && one.model === name ? [one.progress.trouble] : []))
    .filter((trouble, index, all) => trouble !== (all[index - 1] ?? null))

/** A source that remembers after which position each page was asked for. */
const counted = (): Source & { readonly asked: (number | null)[] } => {
  const source = logSource(log, 10)
  const asked: (number | null)[] = []
  return {
    ...source,
    after: (position) => {
      asked.push(position)
      return source.after(position)
    },
    asked,
  }
}

/** Finds this damage, or none, after so many steps. */
const checkOf = (steps: number, damage: string | null) =>
  function* (): Generator<void, string | null> {
    for (let step = 0; step < steps; step += 1) yield
    return damage
  }

describe('Follower', () => {
  test('folds the log, flushes when a flush is due, and goes on after a restart', async () => {
    await addEvents(35)
    const first = follow({ one: {} })
    await until(() => first.progress('one')?.isBehind === false)
    expect(first.progress('one')?.position).toBeNull()
    first.pass(1_000)
    await first.whole('one')
    await addEvents(3)
    await first.end()
    await expectWhole('one')
    await addEvents(12)
    const second = follow({ one: {} })
    await second.whole('one')
    await second.end()
    await expectWhole('one')
    expect(kindsTold(second, 'replaced')).toBe(0)
  })

  test('reads each page once for models at the same position', async () => {
    await addEvents(45)
    const source = counted()
    const both = follow({ one: {}, two: {} }, { source })
    await both.whole('one', 'two')
    expect(source.asked.length).toBeLessThan(15)
    await both.end()
    await expectWhole('one')
    await expectWhole('two')
  })

  test('reads an empty log from its beginning until it has an event', async () => {
    const source = counted()
    const follower = follow({ one: {} }, { source })
    await until(() => follower.progress('one')?.isBehind === false)
    const askedOfNothing = source.asked.length
    await addEvents(1)
    await follower.whole('one')
    expect(source.asked.slice(0, askedOfNothing + 1)).toEqual(Array(askedOfNothing + 1).fill(null))
    await follower.end()
    await expectWhole('one')
  })

  test('gives a model that is behind its own pages, and the others do not wait', async () => {
    await addEvents(300)
    const first = follow({ one: {}, two: {} })
    await first.whole('one', 'two')
    await first.end()
    rmSync(modelPath(folder.path, 'two'))
    let foldedByTwo = 0
    const source = counted()
    const onFold = (): void => {
      foldedByTwo += 1
    }
    const second = follow({ one: {}, two: { onFold } }, { source })
    await second.upTo('one', await addEvents(1))
    expect(foldedByTwo).toBeLessThan(100)
    expect(second.progress('two')?.isBehind ?? true).toBe(true)
    await second.whole('one', 'two')
    const pages = source.asked.length
    await second.upTo('two', await addEvents(1))
    await second.upTo('one', await addEvents(1))
    // Together again: one page for both, and one or two that find nothing new.
    expect(source.asked.length - pages).toBeLessThan(8)
    await second.end()
    await expectWhole('one')
    await expectWhole('two')
  })

  test('lets the first of several kinds that are behind catch up first', async () => {
    await addEvents(300)
    const first = follow({ one: {}, two: {}, three: {} })
    await first.whole('one', 'two', 'three')
    await first.end()
    for (const name of ['one', 'two']) rmSync(modelPath(folder.path, name))
    const order: string[] = []
    const onFold = (name: string) => (): void => {
      order.push(name)
    }
    await addEvents(1)
    const second = follow({ one: { onFold: onFold('one') }, two: { onFold: onFold('two') }, three: {} })
    await second.whole('one', 'two', 'three')
    const at = order.map((name, index) => (name === 'one' ? index : -1)).filter((index) => index >= 0)[299] ?? 0
    // They share a page before the head of `three` is found in the log.
    expect(order.slice(0, at).filter((name) => name === 'two').length).toBeLessThan(100)
    await second.end()
    await expectWhole('one')
    await expectWhole('two')
  })

  test('checks a file in steps before it is used, and the others do not wait', async () => {
    await addEvents(30)
    const kinds = (steps: number, damage: string | null) => [
      { ...positionsModel('one'), check: checkOf(steps, damage) },
      positionsModel('two'),
    ]
    const followed = (steps: number, damage: string | null): FollowedHere => {
      const one = followedHere(log, { dataDir: folder.path, kinds: kinds(steps, damage) })
      running.push(one)
      return one
    }
    const first = followed(0, null)
    await first.whole('one', 'two')
    await first.end()
    const endless = followed(Number.POSITIVE_INFINITY, null)
    await endless.upTo('two', await addEvents(5))
    expect(endless.told.filter((each) => each.kind === 'opened' && each.model === 'one')).toEqual([])
    await endless.end()
    const sound = followed(100, null)
    await sound.whole('one')
    expect(kindsTold(sound, 'replaced')).toBe(0)
    await sound.end()
    const damaged = followed(100, 'a row is missing')
    await damaged.whole('one')
    expect(damaged.told).toContainEqual({ kind: 'replaced', model: 'one', why: 'a row is missing' })
    await damaged.end()
    await expectWhole('one')
  })

  test('begins a new file inside the log if its kind says so', async () => {
    await addEvents(50)
    const [, , , , fifth] = await log.readAll({ limit: 5 })
    const asked: unknown[] = []
    const source = {
      ...logSource(log, 10),
      beginningOf: async (part: unknown) => {
        asked.push(part)
        if (asked.length === 1) throw new Outage('Cannot read: a test', 'not_written', 'unavailable')
        return fifth?.position ?? null
      },
    }
    const kinds = [{ ...positionsModel('one'), keptMs: 1_000 }]
    const followed = followedHere(log, { dataDir: folder.path, kinds, source })
    running.push(followed)
    await until(() => {
      followed.pass(modelRetryPauseMs)
      return followed.progress('one')?.isBehind === false
    })
    await followed.whole('one')
    await followed.end()
    expect(asked).toHaveLength(2)
    const database = new Database(modelPath(folder.path, 'one'), { readonly: true })
    const rows = database.query<{ count: number }, []>('SELECT count(*) AS count FROM positions').get()
    database.close()
    expect(rows?.count).toBe(45)
  })

  test.each([
    [999, 50],
    [1_000, 50],
    [1_001, 45],
  ])('begins with the whole log if it was copied %d ms ago: %d events', async (agoMs, expected) => {
    await addEvents(50)
    const [, , , , fifth] = await log.readAll({ limit: 5 })
    const source = { ...logSource(log, 10), beginningOf: async () => fifth?.position ?? null }
    const kinds = [{ ...positionsModel('one'), keptMs: 1_000 }]
    const followed = followedHere(log, { dataDir: folder.path, kinds, source, copiedMs: -agoMs })
    running.push(followed)
    await followed.whole('one')
    await followed.end()
    const database = new Database(modelPath(folder.path, 'one'), { readonly: true })
    const rows = database.query<{ count: number }, []>('SELECT count(*) AS count FROM positions').get()
    database.close()
    expect(rows?.count).toBe(expected)
  })

  test('shares pages with a model that has caught up while the log grew', async () => {
    await addEvents(200)
    const first = follow({ one: {}, two: {} })
    await first.whole('one', 'two')
    await first.end()
    rmSync(modelPath(folder.path, 'two'))
    const inner = logSource(log, 10)
    let grows = 100
    let read = 0
    const after: Source['after'] = async (position) => {
      if (grows > 0) await addEvents(1)
      grows -= 1
      const page = await inner.after(position)
      read += page.items.length
      return page
    }
    const second = follow({ one: {}, two: {} }, { source: { ...inner, after } })
    await until(() => {
      second.pass(0)
      return grows <= 0
    })
    await second.whole('one', 'two')
    // The events of the file of `two`, and each new event once or, before it has caught up, twice.
    expect(read).toBeLessThan(200 + 100 + 100)
  })

  test('ends the flush of a model that has become the first one', async () => {
    await addEvents(300)
    const first = follow({ one: {}, two: {} })
    await first.whole('one', 'two')
    await first.end()
    rmSync(modelPath(folder.path, 'two'))
    let folded = 0
    let isFlushing = false
    const two: Harm = {
      onFold: () => {
        folded += 1
        if (folded === 100) second.pass(1_000)
      },
      onStep: () => {
        if (!isFlushing) void log.append(freshKeyStream(), 'none', [keySuspended()])
        isFlushing = true
      },
    }
    const onFold = (): void => {
      if (isFlushing) throw new TypeError('a bug')
    }
    const second = follow({ one: { onFold }, two })
    await second.whole('two')
    expect(kindsTold(second, 'bug')).toBe(1)
    await second.end()
    await expectWhole('two')
  })

  test('lets an urgent model catch up alone while all are behind', async () => {
    await addEvents(300)
    let [foldedByOne, foldedByTwo, twoThen] = [0, 0, -1]
    const one = positionsModel('one', {
      onFold: () => {
        foldedByOne += 1
        if (foldedByOne === 300) twoThen = foldedByTwo
      },
    })
    const two = positionsModel('two', {
      onFold: () => {
        foldedByTwo += 1
      },
    })
    const kinds = [{ ...one, isUrgent: true, check: checkOf(5, null) }, two]
    const both = followedHere(log, { dataDir: folder.path, kinds })
    running.push(both)
    await both.whole('one', 'two')
    expect(twoThen).toBeGreaterThan(0)
    expect(twoThen).toBeLessThan(200)
    await both.end()
    await expectWhole('one')
    await expectWhole('two')
  })

  test('lets the others go on while a long flush runs', async () => {
    await addEvents(300)
    const first = follow({ one: {} })
    await first.whole('one')
    await first.end()
    let steps = 0
    const onStep = (): void => {
      steps += 1
      if (steps === 100) second.pass(followerFlushMsMax)
      if (steps > 100) grow(steps)
    }
    const grown: Promise<unknown>[] = []
    const grow = (step: number): void => {
      if (step % 20 === 0) grown.push(addEvents(1))
    }
    let [foldedByOne, stepsThen] = [0, -1]
    const onFold = (): void => {
      foldedByOne += 1
      if (foldedByOne === 5) stepsThen = steps
    }
    const second = follow({ one: { onFold }, two: { onStep } })
    await second.whole('one', 'two')
    await Promise.all(grown)
    await second.whole('one', 'two')
    expect(stepsThen).toBeLessThan(300)
    expect(stepsThen).toBeGreaterThan(100)
    await second.end()
    await expectWhole('one')
    await expectWhole('two')
  })

  test('has lost nothing and nothing twice after a kill at any step', async () => {
    const copies: string[] = []
    const onStep = (): void => {
      const copy = join(folder.path, `copy-${copies.length}`)
      mkdirSync(copy)
      for (const end of ['', '-wal']) {
        const path = `${modelPath(folder.path, 'one')}${end}`
        if (existsSync(path)) cpSync(path, modelPath(copy, 'one') + end)
      }
      copies.push(copy)
    }
    const first = follow({ one: { onStep } })
    for (const events of [4, 3, 5]) await first.upTo('one', await addEvents(events))
    expect(copies.length).toBe(12)
    for (const dataDir of copies) {
      const after = follow({ one: {} }, { dataDir })
      await after.whole('one')
      await after.end()
      await expectWhole('one', dataDir)
    }
  })

  test('keeps the file when the disk is full, and writes all of it later', async () => {
    await addEvents(20)
    let pagesMax = 1_000
    const onOpen = (database: Database): void => {
      database.run(`PRAGMA max_page_count = ${pagesMax}`)
    }
    const one = follow({ one: { onOpen }, two: {} })
    await one.whole('one', 'two')
    await one.end()
    const closed = new Database(modelPath(folder.path, 'one'), { readonly: true })
    // Not one page of the log fits in.
    pagesMax = Number(closed.query('PRAGMA page_count').values()[0]?.[0])
    closed.close()
    const full = follow({ one: { onOpen }, two: {} })
    await addEvents(200)
    await until(() => {
      full.pass(modelRetryPauseMs)
      return troublesOf(full, 'one').length > 0
    })
    for (let turn = 0; turn < 5; turn += 1) {
      const opened = kindsTold(full, 'opened')
      await until(() => {
        full.pass(modelRetryPauseMs)
        return kindsTold(full, 'opened') > opened
      })
      await full.whole('two')
    }
    expect(troublesOf(full, 'one').filter((why) => why !== null)).toEqual(['database or disk is full'])
    pagesMax = 1_000
    await until(() => {
      full.pass(modelRetryPauseMsMax)
      return full.progress('one')?.position === full.progress('two')?.position
    })
    expect(full.progress('one')?.trouble).toBeNull()
    await full.end()
    await expectWhole('one')
    await expectWhole('two')
    expect(kindsTold(full, 'replaced')).toBe(0)
  })

  test('flushes a file built again as soon as it has read the log', async () => {
    const last = await addEvents(20)
    writeFileSync(modelPath(folder.path, 'one'), 'no database'.repeat(1_000))
    const one = follow({ one: {} })
    // No time passes, and nobody asks.
    await until(() => one.progress('one')?.position === last)
    expect(one.progress('one')?.trouble).toBeNull()
    await one.end()
    await expectWhole('one')
  })

  const damages: readonly (readonly [what: string, harm: (path: string) => void, more?: More])[] = [
    ['deleted', (path) => rmSync(path)],
    ['overwritten', (path) => writeFileSync(path, readFileSync(path).fill(0x5a, 0, 64))],
    ['of another format', (path) => withFile(path, 'PRAGMA user_version = 77')],
    ['of another log', () => {}, { logId: 'another log' }],
    ['of a log that has lost its end', () => {}, { isInLog: () => false }],
    ['of a log that has purged its last event', () => {}, { isInLog: () => 'purged' }],
    ['without its tables', (path) => withFile(path, 'DROP TABLE positions')],
  ]
  test.each(damages)('builds a file again that is %s', async (what, harm, more = {}) => {
    await addEvents(25)
    const first = follow({ one: {} })
    await first.whole('one')
    await first.end()
    harm(modelPath(folder.path, 'one'))
    const second = follow({ one: {} }, more)
    await second.whole('one')
    await second.end()
    await expectWhole('one')
    expect(kindsTold(second, 'replaced')).toBe(what === 'deleted' ? 0 : 1)
  })

  test.each(['deleted', 'replaced by an older one'])(
    'builds a file again that was %s while it was open',
    async (how) => {
      await addEvents(25)
      const followed = follow({ one: {} })
      await followed.whole('one')
      cpSync(modelPath(folder.path, 'one'), join(folder.path, 'older'))
      await followed.upTo('one', await addEvents(1))
      if (how === 'deleted') rmSync(modelPath(folder.path, 'one'))
      else renameSync(join(folder.path, 'older'), modelPath(folder.path, 'one'))
      await until(() => {
        followed.pass(modelRetryPauseMs)
        return kindsTold(followed, 'replaced') === 1
      })
      await followed.whole('one')
      await followed.end()
      await expectWhole('one')
    },
  )

  test('asks again if the log cannot say whether it has the last event', async () => {
    await addEvents(25)
    const first = follow({ one: {} })
    await first.whole('one')
    await first.end()
    let asked = 0
    const second = follow({ one: {} }, { isInLog: () => ++asked > 2 || null })
    await until(() => {
      second.pass(modelRetryPauseMs)
      return second.progress('one')?.isBehind === false
    })
    expect(kindsTold(second, 'replaced')).toBe(0)
  })

  test('builds a file that a reader found damaged, and ever more rarely', async () => {
    await addEvents(5)
    const followed = follow({ one: {} })
    await followed.whole('one')
    for (let turn = 0; turn < 4; turn += 1) {
      followed.follower.receive({ kind: 'rebuild', model: 'one', why: 'damaged' })
      await until(() => {
        if (turn > 0) followed.pass(modelAnewPauseMsMax)
        return kindsTold(followed, 'opened') === turn + 2
      })
    }
    followed.follower.receive({ kind: 'rebuild', model: 'one', why: 'damaged' })
    followed.pass(modelRetryPauseMs)
    await followed.upTo('one', 0)
    expect(kindsTold(followed, 'opened')).toBe(5)
  })

  test('builds a file ever more rarely that is damaged each time before it is whole', async () => {
    await addEvents(100)
    let database: Database | null = null
    const harm: Harm = {
      onOpen: (opened) => {
        database = opened
      },
      onFold: (item) => {
        // A flush comes before the damage.
        if (item.position === 30) followed.pass(1_000)
        if (item.position > 50) database?.run('SELECT * FROM missing')
      },
    }
    const followed = follow({ one: harm, two: {} })
    await followed.whole('two')
    for (let turn = 0; turn < 40; turn += 1) {
      followed.pass(1_000)
      for (let round = 0; round < 60; round += 1) await followed.upTo('two', 0)
    }
    expect(kindsTold(followed, 'opened')).toBeLessThan(12)
    expect(kindsTold(followed, 'opened')).toBeGreaterThan(4)
  })

  test('stops only the model that has a bug', async () => {
    await addEvents(25)
    const onFold = (): void => {
      throw new TypeError('a bug')
    }
    const followed = follow({ one: { onFold }, two: {} })
    await followed.whole('two')
    expect(followed.progress('one')?.trouble).toBe('A bug has stopped it')
    expect(kindsTold(followed, 'bug')).toBe(1)
    await followed.end()
    await expectWhole('two')
  })

  test('waits for a log that cannot be read or is silent, and says so', async () => {
    await addEvents(25)
    let state: 'out' | 'silent' | 'well' = 'out'
    const inner = logSource(log, 10)
    const after: Source['after'] = async (position) => {
      if (state === 'out') throw new Outage('no answer', 'not_written', 'unavailable')
      return state === 'silent' ? { items: [], scannedTo: position, atEnd: true } : inner.after(position)
    }
    const followed = follow({ one: {} }, { source: { ...inner, after } })
    await until(() => followed.progress('one')?.trouble === 'no answer')
    state = 'well'
    followed.pass(modelRetryPauseMs)
    await followed.whole('one')
    expect(followed.progress('one')?.trouble).toBeNull()
    state = 'silent'
    followed.follower.receive({ kind: 'published', position: await addEvents(1) })
    await until(() => {
      followed.pass(modelBehindMs)
      return followed.progress('one')?.isBehind === true
    })
    state = 'well'
    await followed.whole('one')
  })
})

const withFile = (path: string, sql: string): void => {
  const database = new Database(path)
  database.run(sql)
  database.close()
}
